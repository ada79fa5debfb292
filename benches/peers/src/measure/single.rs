//! Checks by one thread.

use std::{hint::black_box, time::Instant};

use super::{Percentiles, nanoseconds, percentiles_of};
use crate::contender::{Asked, Contender};

/// The time for which one contender answers queries, and the time of a round, in nanoseconds.
const LONG_ENOUGH: u64 = 400_000_000;
const ROUND: u64 = 500_000;
/// The most checks of which each is timed alone, and the fewest.
const MOST: usize = 300_000;
const FEWEST: usize = 2_000;
/// The number of cold checks.
const COLD: usize = 200;
/// The number of words that are read to empty the caches: several times the largest cache of usual machines.
const WORDS: usize = (96 << 20) / size_of::<u64>();

/// Returns the nanoseconds of a check: the median of short rounds, most of which no other program interrupts.
pub(super) fn rounds(contender: &dyn Contender, asked: &[Asked<'_>]) -> f64 {
    let round = |asked: &[Asked<'_>]| {
        let started = Instant::now();
        asked.iter().for_each(|asked| _ = black_box(contender.check(*asked)));
        nanoseconds(started)
    };
    let one = (round(&asked[..64]) / 64).max(1);
    let count = ((ROUND / one) as usize).clamp(16, asked.len());
    let (mut all, begun) = (Vec::new(), Instant::now());
    for some in asked.chunks_exact(count).cycle() {
        all.push(round(some));
        if nanoseconds(begun) > LONG_ENOUGH {
            break;
        }
    }
    all.sort_unstable();
    all[all.len() / 2] as f64 / count as f64
}

/// Returns the percentiles of checks that are timed alone.
pub(super) fn percentiles(contender: &dyn Contender, asked: &[Asked<'_>]) -> Percentiles {
    let (mut all, begun) = (Vec::with_capacity(MOST), Instant::now());
    for asked in asked.iter().cycle().take(MOST) {
        all.push(timed(contender, *asked));
        if all.len() > FEWEST && nanoseconds(begun) > 2 * LONG_ENOUGH {
            break;
        }
    }
    percentiles_of(all)
}

/// Returns the percentiles of checks for which neither the code nor the data of the contender is in a cache. The query
/// is, as in a program that has just received it.
pub(super) fn cold(contender: &dyn Contender, asked: &[Asked<'_>]) -> Percentiles {
    let words = vec![1_u64; WORDS];
    let all = asked.iter().take(COLD).map(|asked| {
        black_box(words.iter().step_by(8).sum::<u64>());
        black_box(asked.id.bytes().chain(asked.path.bytes()).fold(0, u8::wrapping_add));
        // The code of the clock is needed in any case.
        black_box(Instant::now());
        timed(contender, *asked)
    });
    percentiles_of(all.collect())
}

fn timed(contender: &dyn Contender, asked: Asked<'_>) -> u64 {
    let started = Instant::now();
    black_box(contender.check(asked));
    nanoseconds(started)
}

/// Returns the allocations of a check.
pub(super) fn allocations(contender: &dyn Contender, asked: &[Asked<'_>]) -> f64 {
    let some = &asked[..asked.len() / 16];
    let counted = allocation_counter::measure(|| some.iter().for_each(|asked| _ = black_box(contender.check(*asked))));
    counted.count_total as f64 / some.len() as f64
}
