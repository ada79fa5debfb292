//! The revocations of the last seconds. The person who revoked can undo each of them once.

use std::{collections::VecDeque, sync::Mutex, time::Duration};

use bestow::{control::GrantOrDecisionId, grant::Revocation};
use tokio::time::Instant;

/// The time in which a revocation can be undone. A person is offered half of it.
const REMEMBERED: Duration = Duration::from_secs(10);

/// The revocations that are remembered at once.
const MOST: usize = 256;

/// The revocations that can be undone now.
#[derive(Debug, Default)]
pub(crate) struct Revocations {
    recent: Mutex<VecDeque<Remembered>>,
}

/// A revocation that can be undone.
#[derive(Debug)]
pub(crate) struct Remembered {
    at: Instant,
    held: GrantOrDecisionId,
    pub(crate) revocation: Revocation,
}

impl Revocations {
    /// Remembers a revocation that happened now.
    pub(crate) fn remember(&self, held: GrantOrDecisionId, revocation: Revocation) {
        self.put_back(Remembered { at: Instant::now(), held, revocation });
    }

    /// Remembers a revocation again that could not be undone.
    pub(crate) fn put_back(&self, remembered: Remembered) {
        let Ok(mut recent) = self.recent.lock() else { return };
        recent.retain(Remembered::is_recent);
        if recent.len() == MOST {
            recent.pop_front();
        }
        recent.push_back(remembered);
    }

    /// Takes a revocation, so that it is undone once.
    pub(crate) fn take(&self, held: GrantOrDecisionId) -> Option<Remembered> {
        let mut recent = self.recent.lock().ok()?;
        recent.retain(Remembered::is_recent);
        let place = recent.iter().position(|remembered| remembered.held == held)?;
        recent.remove(place)
    }
}

impl Remembered {
    fn is_recent(&self) -> bool {
        self.at.elapsed() < REMEMBERED
    }
}
