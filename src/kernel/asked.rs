//! The questions of one family to people, and what people said last: each no in a row makes the family ask less, for longer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// The window in which questions are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// The longest that one no is fresh, unless the setting says more for the first.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// The questions of a family lately, and the noes to them in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    since: Timestamp,
    count: u32,
    #[serde(default)]
    noes: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<Pause>,
}

/// The time after a no in which the family asks less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Pause {
    since: Timestamp,
    until: Timestamp,
    /// When noes before are forgotten.
    forgotten: Timestamp,
}

impl Asked {
    pub(super) fn never() -> Asked {
        Asked { since: Timestamp::from_millis(0), count: 0, noes: 0, pause: None }
    }

    /// How many questions were asked lately: within a minute, or since the last no if that is still fresh.
    pub(super) fn lately(self, now: Timestamp) -> u32 {
        let minute = now < self.since.after(WINDOW);
        if minute || self.paused_until(now).is_some() { self.count } else { 0 }
    }

    /// The most that may be asked now: each no in a row halves `max` while it is fresh.
    pub(super) fn limit(self, max: u32, now: Timestamp) -> u32 {
        let noes = self.paused_until(now).map_or(0, |_| self.noes);
        max.checked_shr(noes).unwrap_or(0)
    }

    /// Until when the last no is fresh, if it is.
    pub(super) fn paused_until(self, now: Timestamp) -> Option<Timestamp> {
        self.pause.map(|pause| pause.until).filter(|until| now < *until)
    }

    /// How many noes in a row there were.
    pub(super) fn noes(self) -> u32 {
        self.noes
    }

    pub(super) fn once_more(self, now: Timestamp) -> Asked {
        match self.lately(now) {
            0 => Asked { since: now, count: 1, ..self },
            count => Asked { count: count.saturating_add(1), ..self },
        }
    }

    /// A person said no; until when that is fresh. What one answer settles is one no.
    pub(super) fn said_no(&mut self, now: Timestamp, memory: Duration) -> Timestamp {
        if let Some(pause) = self.pause.filter(|pause| pause.since == now) {
            return pause.until;
        }
        let in_a_row = self.pause.is_some_and(|pause| now < pause.forgotten);
        self.noes = if in_a_row { self.noes.saturating_add(1) } else { 1 };
        let times = 1_u32.checked_shl(self.noes.saturating_sub(1)).unwrap_or(u32::MAX);
        let length = memory.saturating_mul(times).min(memory.max(LONGEST));
        let until = now.after(length);
        (self.since, self.count) = (now, 0);
        self.pause = Some(Pause { since: now, until, forgotten: until.after(length) });
        until
    }

    /// A person said yes, or talks with the family: noes before do not count any more.
    pub(super) fn said_yes(&mut self) {
        (self.noes, self.pause) = (0, None);
    }
}
