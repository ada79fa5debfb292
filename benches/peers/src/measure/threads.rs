//! Checks by two threads, and beside a writer.

use std::{
    hint::black_box,
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Instant,
};

use super::{Percentiles, change::Receiver, nanoseconds, single};
use crate::{
    contender::{Asked, Contender},
    world::World,
};

/// The time for which the threads check, in nanoseconds, and the number of rounds.
const LONG_ENOUGH: u64 = 100_000_000;
const ROUNDS: usize = 3;

/// Returns the checks a second with one thread and with two: the medians of rounds in turns.
pub(super) fn rates(contender: &dyn Contender, asked: &[Asked<'_>]) -> [f64; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (number, rates) in all.iter_mut().enumerate() {
            rates.push(rate(contender, asked, number + 1));
        }
    }
    all.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    })
}

fn rate(contender: &dyn Contender, asked: &[Asked<'_>], threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let one = |number: usize| {
            let barrier = &barrier;
            scope.spawn(move || {
                let (before, after) = asked.split_at(asked.len() * number / threads);
                barrier.wait();
                alone(contender, after.iter().chain(before).cycle())
            })
        };
        let all: Vec<_> = (0..threads).map(one).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

/// Returns the checks a second of this thread.
fn alone<'q>(contender: &dyn Contender, mut asked: impl Iterator<Item = &'q Asked<'q>>) -> f64 {
    let (mut count, begun) = (0, Instant::now());
    while nanoseconds(begun) < LONG_ENOUGH {
        asked.by_ref().take(32).for_each(|asked| _ = black_box(contender.check(*asked)));
        count += 32;
    }
    f64::from(count) / begun.elapsed().as_secs_f64()
}

/// Returns the percentiles of single checks while another thread gives and takes permissions without a pause. None if
/// the contender has no way to publish them.
pub(super) fn beside_writer(contender: &dyn Contender, world: &World, asked: &[Asked<'_>]) -> Option<Percentiles> {
    let receivers = Receiver::all(world);
    if !contender.publish(receivers[0].change(true)) {
        return None;
    }
    contender.publish(receivers[0].change(false));
    let (has_begun, stop) = (Barrier::new(2), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            has_begun.wait();
            for receiver in receivers.iter().cycle() {
                contender.publish(receiver.change(true));
                contender.publish(receiver.change(false));
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        has_begun.wait();
        let percentiles = single::percentiles(contender, asked);
        stop.store(true, Ordering::Relaxed);
        Some(percentiles)
    })
}
