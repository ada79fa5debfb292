//! The plan of due runs, without any I/O. The input is tasks, their last settled times, and the current time. The
//! output is the due runs.

use std::{
    collections::{BTreeSet, HashMap},
    hash::{BuildHasher, Hash},
    time::Duration,
};

use foldhash::fast::FixedState;

use super::{CronExpression, TimeZone};
use crate::model::{CatchUp, Timestamp};

/// The delay after which a run that has not started counts as missed.
const GRACE: Duration = Duration::from_secs(60);

/// The highest count of missed runs.
const MAX_MISSED: u32 = 1000;

/// The repeated times at which something is due.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a schedule or an interval")]
pub enum Timing {
    /// The times of a schedule, in this time zone.
    At(CronExpression, TimeZone),
    /// An interval after the last time. Without a last time, it is due at once.
    Every(Duration),
}

impl Timing {
    fn first(&self, settled: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        match self {
            Timing::At(expression, zone) => expression.next(settled.unwrap_or(now).min(now), zone),
            Timing::Every(interval) => Some(settled.map_or(now, |settled| settled.min(now).after(*interval))),
        }
    }

    fn after(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Timing::At(expression, zone) => expression.next(now, zone),
            Timing::Every(interval) => Some(now.after(*interval)),
        }
    }

    /// Returns the last due moment from `due` to `now`, and the number of due moments before it.
    fn last(&self, due: Timestamp, now: Timestamp) -> (Timestamp, u32) {
        let (mut last, mut missed) = (due, 0);
        while missed < MAX_MISSED {
            let next = match self {
                Timing::At(expression, zone) => expression.next(last, zone),
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

/// The decision about something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "each must be met by who carries it out")]
pub enum Due {
    /// The decision to run for the moment `at`. The `missed` earlier runs are not run any more.
    Run {
        /// The last moment at which it was due.
        at: Timestamp,
        /// The number of due moments before that one.
        missed: u32,
    },
    /// The decision to skip, because the previous run is not over.
    StillRunning,
    /// The decision to skip, because the time was missed and missed runs are not caught up.
    Missed {
        /// The number of missed runs.
        times: u32,
    },
}

#[derive(Clone, Debug)]
struct Entry {
    timing: Timing,
    due: Timestamp,
    /// The time at which it starts: `due`, or a little later.
    start: Timestamp,
}

/// A plan of due runs, by names of any kind. Cloning copies the plan.
///
/// Each name is in the queue once. Entries that are not due therefore cost nothing.
#[derive(Clone, Debug)]
pub struct Plan<K> {
    entries: HashMap<K, Entry, FixedState>,
    queue: BTreeSet<(Timestamp, K)>,
    /// The names with a run that is not over. They may have been removed from the plan meanwhile.
    running: BTreeSet<K>,
    catch_up: CatchUp,
    jitter: Duration,
    /// The latest time of a tick.
    looked: Option<Timestamp>,
}

impl<K: Clone + Ord + Hash> Plan<K> {
    /// Creates an empty plan. Each run starts less than `jitter` after its due time. The delay is always equal for
    /// equal names and times.
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

    /// Adds `name` to the plan. Every run up to `settled` has run or was skipped.
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

    /// Changes the handling of missed runs and the jitter.
    pub fn change(&mut self, catch_up: CatchUp, jitter: Duration) {
        (self.catch_up, self.jitter) = (catch_up, jitter);
    }

    /// Returns the timing of `name`.
    pub fn timing(&self, name: &K) -> Option<&Timing> {
        self.entries.get(name).map(|entry| &entry.timing)
    }

    /// Removes `name` from the plan. A run that is not over continues, and counts as running.
    pub fn remove(&mut self, name: &K) {
        if let Some(entry) = self.entries.remove(name) {
            self.queue.remove(&(entry.start, name.clone()));
        }
    }

    /// Records that a run of `name` begins, due or not.
    pub fn begin(&mut self, name: K) {
        self.running.insert(name);
    }

    /// Returns true if a run of `name` is not over.
    pub fn is_running(&self, name: &K) -> bool {
        self.running.contains(name)
    }

    /// Records that the run of `name` is over.
    pub fn ended(&mut self, name: &K) {
        self.running.remove(name);
    }

    /// Returns the time at which [`Plan::tick`] has something to do.
    pub fn next(&self) -> Option<Timestamp> {
        self.queue.first().map(|(start, _)| *start)
    }

    /// Returns the next time at which `name` is due.
    pub fn due(&self, name: &K) -> Option<Timestamp> {
        self.entries.get(name).map(|entry| entry.due)
    }

    /// Returns everything that is due at `now`, in the order of starts. A run that begins here counts as running until
    /// [`Plan::ended`].
    ///
    /// If the clock was set back, the plan is made again for the new time. No entry then waits for a later time than it
    /// needs to.
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

    /// Returns true if the clock was set back since the last tick. The entries are then planned for later times than
    /// necessary.
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
        // An interval is never missed, because it begins at the last time.
        let by_schedule = matches!(entry.timing, Timing::At(..));
        if by_schedule && is_late && self.catch_up == CatchUp::None {
            // The last due moment may be now.
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
