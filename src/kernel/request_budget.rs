//! The prompts of one family to people, and the latest answers. Each denial in a row lets the family ask less, for
//! longer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// The time window in which questions are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// The maximum time for which a denial is recent, unless the setting for the first denial is longer.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// The recent questions of a family, and its denials in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    since: Timestamp,
    count: u32,
    #[serde(default)]
    noes: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<Pause>,
}

/// The time after a denial in which the family may ask less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Pause {
    since: Timestamp,
    until: Timestamp,
    /// The time at which earlier denials no longer count.
    forgotten: Timestamp,
}

impl Asked {
    pub(super) fn never() -> Asked {
        Asked { since: Timestamp::from_millis(0), count: 0, noes: 0, pause: None }
    }

    /// Returns the number of recent questions: within a minute, or since the last denial if that is still recent.
    pub(super) fn lately(self, now: Timestamp) -> u32 {
        let minute = now < self.since.after(WINDOW);
        if minute || self.paused_until(now).is_some() { self.count } else { 0 }
    }

    /// Returns the maximum number of questions now. Each denial in a row halves `max` while the last one is recent.
    pub(super) fn limit(self, max: u32, now: Timestamp) -> u32 {
        let noes = self.paused_until(now).map_or(0, |_| self.noes);
        max.checked_shr(noes).unwrap_or(0)
    }

    /// Returns the time until which the last denial is recent, if it still is.
    pub(super) fn paused_until(self, now: Timestamp) -> Option<Timestamp> {
        self.pause.map(|pause| pause.until).filter(|until| now < *until)
    }

    /// Returns the number of denials in a row.
    pub(super) fn noes(self) -> u32 {
        self.noes
    }

    pub(super) fn once_more(self, now: Timestamp) -> Asked {
        match self.lately(now) {
            0 => Asked { since: now, count: 1, ..self },
            count => Asked { count: count.saturating_add(1), ..self },
        }
    }

    /// Records a denial by a person and returns the time until which it is recent. Denials at one moment come from one
    /// answer and count once.
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

    /// Resets the denials, because a person approved something or talks with the family.
    pub(super) fn said_yes(&mut self) {
        (self.noes, self.pause) = (0, None);
    }
}
