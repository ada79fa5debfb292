//! Measures one contender in one world.

#![allow(clippy::disallowed_methods, reason = "a bench looks at the clock")]

mod change;
mod single;
mod threads;

use std::time::Instant;

use crate::{
    contender::{Asked, Contender, Entry},
    world::{Query, World},
};

/// The number of queries.
const QUERIES: usize = 1 << 14;

/// A world, its queries, and the right answers.
pub(crate) struct Case {
    pub(crate) world: World,
    queries: Vec<Query>,
    truth: Vec<bool>,
}

/// The figures of one contender in one world. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// A check, one after the other: the median of the rounds.
    pub(crate) warm: f64,
    /// Single checks, with the time of reading the clock.
    pub(crate) single: Percentiles,
    /// Single checks beside a writer that never stops. None if the contender cannot publish a change while others
    /// check.
    pub(crate) beside_writer: Option<Percentiles>,
    /// Single checks, each after the caches were emptied.
    pub(crate) cold: Percentiles,
    /// Checks a second with one thread, and with two.
    pub(crate) rates: [f64; 2],
    /// Allocations a check.
    pub(crate) allocations: f64,
    pub(crate) bytes_per_agent: i64,
    pub(crate) load: u64,
    /// A permission that is given and published: the median. None if the contender has no way to give one.
    pub(crate) grant: Option<u64>,
}

/// The 50th, 99th and 99.9th percentile.
pub(crate) type Percentiles = [u64; 3];

impl Case {
    pub(crate) fn new(agents: usize, roots: usize) -> Case {
        let world = World::new(agents, roots);
        let queries = world.queries(QUERIES);
        let truth = queries.iter().map(|query| oracle(&world, query)).collect();
        Case { world, queries, truth }
    }

    fn asked(&self) -> Vec<Asked<'_>> {
        let asked = self.queries.iter().map(|query| Asked {
            agent: query.agent,
            id: self.world.agents[query.agent].0.as_str(),
            access: query.access,
            path: &query.path,
        });
        asked.collect()
    }
}

/// The plain loop that all contenders have to agree with.
fn oracle(world: &World, query: &Query) -> bool {
    let below = |root: &str| query.path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    world.agents[query.agent].1.iter().any(|(held, root)| query.access <= *held && below(root))
}

/// Measures a contender after its answers were compared.
pub(crate) fn measure(entry: Entry, case: &Case) -> Figures {
    let started = Instant::now();
    let mut loaded = None;
    let counted = allocation_counter::measure(|| loaded = Some((entry.load)(&case.world)));
    let load = nanoseconds(started);
    let mut contender = loaded.unwrap();
    let asked = case.asked();
    compare(&*contender, entry.name, case);
    Figures {
        warm: single::rounds(&*contender, &asked),
        single: single::percentiles(&*contender, &asked),
        beside_writer: threads::beside_writer(&*contender, &case.world, &asked),
        cold: single::cold(&*contender, &asked),
        rates: threads::rates(&*contender, &asked),
        allocations: single::allocations(&*contender, &asked),
        bytes_per_agent: counted.bytes_current / case.world.agents.len() as i64,
        load,
        grant: change::grants(&mut *contender, &case.world),
    }
}

/// Compares the answer to each query with the oracle's.
fn compare(contender: &dyn Contender, name: &str, case: &Case) {
    for (asked, truth) in case.asked().into_iter().zip(&case.truth) {
        assert_eq!(contender.check(asked), *truth, "{name} answers {asked:?} otherwise than the oracle");
    }
}

fn nanoseconds(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}

fn percentiles_of(mut times: Vec<u64>) -> Percentiles {
    times.sort_unstable();
    [500, 990, 999].map(|place| times[times.len() * place / 1_000])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_answers_like_the_oracle_and_follows_changes() {
        let case = Case::new(100, 8);
        assert!(case.truth.contains(&true) && case.truth.contains(&false));
        for entry in crate::contenders() {
            let mut contender = (entry.load)(&case.world);
            compare(&*contender, entry.name, &case);
            change::grants(&mut *contender, &case.world);
            compare(&*contender, entry.name, &case);
        }
    }
}
