//! Which runs are due: pure. Tasks, when each was settled last, and a moment come in as values; what is due comes out.

use std::{
    collections::{BTreeSet, HashMap},
    hash::{BuildHasher, Hash},
    time::Duration,
};

use chrono_tz::Tz;
use foldhash::fast::FixedState;

use super::CronExpression;
use crate::model::{CatchUp, Timestamp};

/// A run that starts later than this after its time was missed.
const GRACE: Duration = Duration::from_secs(60);

/// Missed runs are counted up to here.
const MAX_MISSED: u32 = 1000;

/// When something is due, again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a schedule or an interval")]
pub enum Timing {
    /// By a schedule, where clocks show this zone.
    At(CronExpression, Tz),
    /// So long after the last time, and at once if there was none.
    Every(Duration),
}

impl Timing {
    fn first(&self, settled: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        match self {
            Timing::At(expression, zone) => expression.next(settled.unwrap_or(now).min(now), *zone),
            Timing::Every(interval) => Some(settled.map_or(now, |settled| settled.min(now).after(*interval))),
        }
    }

    fn after(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Timing::At(expression, zone) => expression.next(now, *zone),
            Timing::Every(interval) => Some(now.after(*interval)),
        }
    }

    /// The last moment from `due` to `now` at which this was due, and how many there were before it.
    fn last(&self, due: Timestamp, now: Timestamp) -> (Timestamp, u32) {
        let (mut last, mut missed) = (due, 0);
        while missed < MAX_MISSED {
            let next = match self {
                Timing::At(expression, zone) => expression.next(last, *zone),
                Timing::Every(interval) => Some(last.after(*interval)),
            };
            match next.filter(|next| last < *next && *next <= now) {
                Some(next) => (last, missed) = (next, missed + 1),
                None => break,
            }
        }
        (last, missed)
    }
}

/// What is to be done with something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "each must be met by who carries it out")]
pub enum Due {
    /// It runs, for the moment `at`; `missed` runs before are not run any more.
    Run {
        /// The last moment at which it was due.
        at: Timestamp,
        /// How many before that one.
        missed: u32,
    },
    /// It does not: the run before is not over.
    StillRunning,
    /// It does not: nobody looked in time, and missed runs are not caught up.
    Missed {
        /// How many.
        times: u32,
    },
}

#[derive(Clone, Debug)]
struct Entry {
    timing: Timing,
    due: Timestamp,
    /// When it starts: at `due`, or a little later.
    start: Timestamp,
}

/// What is planned, by names of any kind. Cloning copies it.
///
/// Every name is in the queue once, so that what is not due costs nothing.
#[derive(Clone, Debug)]
pub struct Plan<K> {
    entries: HashMap<K, Entry, FixedState>,
    queue: BTreeSet<(Timestamp, K)>,
    /// Also what was taken out of the plan meanwhile.
    running: BTreeSet<K>,
    catch_up: CatchUp,
    jitter: Duration,
    /// The moment of the last look.
    looked: Option<Timestamp>,
}

impl<K: Clone + Ord + Hash> Plan<K> {
    /// Nothing. Each start is later than its time by less than `jitter`, always the same for the same name and time.
    pub fn new(catch_up: CatchUp, jitter: Duration) -> Plan<K> {
        Plan {
            entries: HashMap::default(),
            queue: BTreeSet::new(),
            running: BTreeSet::new(),
            catch_up,
            jitter,
            looked: None,
        }
    }

    /// Plans `name`, of which everything up to `settled` has run, or been skipped.
    pub fn set(&mut self, name: K, timing: Timing, settled: Option<Timestamp>, now: Timestamp) {
        self.remove(&name);
        if let Some(due) = timing.first(settled, now) {
            self.put(name, timing, due);
        }
    }

    fn put(&mut self, name: K, timing: Timing, due: Timestamp) {
        let start = due.after(self.delay(&name, due));
        self.queue.insert((start, name.clone()));
        self.entries.insert(name, Entry { timing, due, start });
    }

    /// From now on missed runs are treated so, and starts spread so.
    pub fn change(&mut self, catch_up: CatchUp, jitter: Duration) {
        (self.catch_up, self.jitter) = (catch_up, jitter);
    }

    /// When `name` is due, again and again.
    pub fn timing(&self, name: &K) -> Option<&Timing> {
        self.entries.get(name).map(|entry| &entry.timing)
    }

    /// Takes `name` out of the plan. A run that is not over goes on, and counts as running.
    pub fn remove(&mut self, name: &K) {
        if let Some(entry) = self.entries.remove(name) {
            self.queue.remove(&(entry.start, name.clone()));
        }
    }

    /// A run of `name` begins, due or not.
    pub fn begin(&mut self, name: K) {
        self.running.insert(name);
    }

    /// Whether a run of `name` is not over.
    pub fn is_running(&self, name: &K) -> bool {
        self.running.contains(name)
    }

    /// The run of `name` is over.
    pub fn ended(&mut self, name: &K) {
        self.running.remove(name);
    }

    /// When [`Plan::tick`] has something to do.
    pub fn next(&self) -> Option<Timestamp> {
        self.queue.first().map(|(start, _)| *start)
    }

    /// When `name` is due next.
    pub fn due(&self, name: &K) -> Option<Timestamp> {
        self.entries.get(name).map(|entry| entry.due)
    }

    /// Everything that is due at `now`, in the order of starts. What runs is running until [`Plan::ended`].
    ///
    /// A clock that was set back brings nothing that was planned for later than it would be now: it is planned anew.
    pub fn tick(&mut self, now: Timestamp) -> Vec<(K, Due)> {
        if self.is_ahead_of(now) {
            self.plan_anew(now);
            self.looked = None;
        }
        self.looked = self.looked.max(Some(now));
        let mut all = Vec::new();
        while let Some((start, _)) = self.queue.first()
            && *start <= now
            && let Some((_, name)) = self.queue.pop_first()
        {
            let Some(entry) = self.entries.remove(&name) else { continue };
            let due = self.verdict(&name, &entry, now);
            if matches!(due, Due::Run { .. }) {
                self.running.insert(name.clone());
            }
            all.push((name.clone(), due));
            if let Some(next) = entry.timing.after(now) {
                self.put(name, entry.timing, next);
            }
        }
        all
    }

    /// Returns true if the clock was set back since the last look: what is planned is planned for later than it would be now.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.looked.is_some_and(|looked| now.after(GRACE) < looked)
    }

    fn plan_anew(&mut self, now: Timestamp) {
        self.queue.clear();
        for (name, entry) in std::mem::take(&mut self.entries) {
            if let Some(due) = entry.timing.after(now) {
                self.put(name, entry.timing, due.min(entry.due));
            }
        }
    }

    fn verdict(&self, name: &K, entry: &Entry, now: Timestamp) -> Due {
        if self.running.contains(name) {
            return Due::StillRunning;
        }
        let (at, missed) = entry.timing.last(entry.due, now);
        let is_late = GRACE < entry.start.until(now);
        // An interval is not missed: it begins with the last time.
        let by_schedule = matches!(entry.timing, Timing::At(..));
        if by_schedule && is_late && self.catch_up == CatchUp::None {
            // The last of them may be one that is due right now.
            let is_now = at.until(now) <= GRACE && 0 < missed;
            return if is_now { Due::Run { at, missed: 0 } } else { Due::Missed { times: missed + 1 } };
        }
        Due::Run { at, missed: if by_schedule { missed } else { 0 } }
    }

    fn delay(&self, name: &K, due: Timestamp) -> Duration {
        let millis = u64::try_from(self.jitter.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            return Duration::ZERO;
        }
        Duration::from_millis(FixedState::with_seed(0).hash_one((name, due.as_millis())) % millis)
    }
}

#[cfg(test)]
mod tests;
