//! Measures one contender in one world.

use std::{hint::black_box, time::Instant};

use bestow::grant::Access;

use crate::{
    contender::{Asked, Contender, Entry, RECEIVERS},
    world::{Query, World},
};

/// The time for which one contender answers queries, in nanoseconds, and the fewest rounds.
const LONG_ENOUGH: u128 = 400_000_000;
const ROUNDS: usize = 5;
/// The most answers of which each is timed alone.
const SAMPLES: usize = 300_000;
/// The number of grants that are timed.
const GRANTS: usize = 2 * RECEIVERS;

/// The figures of one contender in one world.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub(crate) name: &'static str,
    pub(crate) is_limit: bool,
    pub(crate) is_own: bool,
    /// Nanoseconds a check: the median of the rounds.
    pub(crate) check: f64,
    /// The 50th, 99th and 99.9th percentile of single checks, with the time of reading the clock.
    pub(crate) percentiles: [u64; 3],
    pub(crate) bytes_per_agent: i64,
    pub(crate) load_ms: f64,
    /// Nanoseconds a grant: the median. None if the contender has no way to give one.
    pub(crate) grant: Option<u64>,
}

/// Loads the contender, compares its answers with the oracle, and measures it.
pub(crate) fn measure(entry: Entry, world: &World, queries: &[Query], truth: &[bool]) -> Figures {
    let started = Instant::now();
    let mut loaded = None;
    let counted = allocation_counter::measure(|| loaded = Some((entry.load)(world)));
    let load_ms = started.elapsed().as_secs_f64() * 1e3;
    let mut contender = loaded.unwrap();
    let ids: Vec<_> = world.agents.iter().map(|(id, _)| id.as_str()).collect();
    let asked: Vec<_> = queries.iter().map(|query| asked(query, &ids)).collect();
    compare(&mut *contender, entry.name, &asked, truth);
    Figures {
        name: entry.name,
        is_limit: entry.is_limit,
        is_own: entry.is_own,
        check: rounds(&mut *contender, &asked),
        percentiles: percentiles(&mut *contender, &asked),
        bytes_per_agent: counted.bytes_current / world.agents.len() as i64,
        load_ms,
        grant: grants(&mut *contender, &ids),
    }
}

fn asked<'q>(query: &'q Query, ids: &[&'q str]) -> Asked<'q> {
    Asked { agent: query.agent, id: ids[query.agent], access: query.access, path: &query.path }
}

fn compare(contender: &mut dyn Contender, name: &str, asked: &[Asked<'_>], truth: &[bool]) {
    for (asked, truth) in asked.iter().zip(truth) {
        assert_eq!(contender.check(*asked), *truth, "{name} answers {asked:?} otherwise than the oracle");
    }
}

fn rounds(contender: &mut dyn Contender, asked: &[Asked<'_>]) -> f64 {
    // A slow contender answers a part of the queries, so that its round also ends.
    let started = Instant::now();
    asked.iter().take(64).for_each(|asked| _ = black_box(contender.check(*asked)));
    let one = (started.elapsed().as_nanos() / 64).max(1);
    let count = ((LONG_ENOUGH / one) as usize).clamp(64, asked.len());
    let (mut all, begun) = (Vec::new(), Instant::now());
    while all.len() < ROUNDS || begun.elapsed().as_nanos() < LONG_ENOUGH {
        let started = Instant::now();
        asked.iter().take(count).for_each(|asked| _ = black_box(contender.check(*asked)));
        all.push(started.elapsed().as_nanos() as f64 / count as f64);
    }
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn percentiles(contender: &mut dyn Contender, asked: &[Asked<'_>]) -> [u64; 3] {
    let (mut all, begun) = (Vec::with_capacity(SAMPLES), Instant::now());
    for asked in asked.iter().cycle().take(SAMPLES) {
        let started = Instant::now();
        black_box(contender.check(*asked));
        all.push(started.elapsed().as_nanos() as u64);
        if all.len() > 2_000 && begun.elapsed().as_nanos() > 4 * LONG_ENOUGH {
            break;
        }
    }
    all.sort_unstable();
    [500, 990, 999].map(|place| all[all.len() * place / 1_000])
}

fn grants(contender: &mut dyn Contender, ids: &[&str]) -> Option<u64> {
    let mut all = Vec::new();
    for number in 0..GRANTS {
        let agent = number % RECEIVERS.min(ids.len());
        let path = format!("/srv/given/number-{number:06}");
        let started = Instant::now();
        let is_given = contender.grant(agent, ids[agent], &path);
        let spent = started.elapsed().as_nanos() as u64;
        if !is_given {
            return None;
        }
        let asked = Asked { agent, id: ids[agent], access: Access::Read, path: &path };
        assert!(contender.check(asked), "a permission that was given is not held");
        // The first grants find cold code.
        if number >= RECEIVERS {
            all.push(spent);
        }
    }
    all.sort_unstable();
    Some(all[all.len() / 2])
}
