//! The revocations of the last seconds. The credential that revoked can undo each of them once.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bestow::{control::GrantOrDecisionId, grant::Revocation};
use tokio::time::Instant;

use crate::credentials::CredentialId;

/// The time in which a revocation can be undone. A person is offered half of it.
const REMEMBERED: Duration = Duration::from_secs(10);

/// The revocations of one credential that are remembered at once.
const MOST: usize = 256;

/// The revocations that can be undone now. Each credential reaches its own alone: for all others they do not exist, and
/// stay where they are.
#[derive(Debug, Default)]
pub(crate) struct Revocations(Mutex<HashMap<CredentialId, VecDeque<Remembered>>>);

/// A revocation that can be undone.
#[derive(Debug)]
pub(crate) struct Remembered {
    at: Instant,
    held: GrantOrDecisionId,
    pub(crate) revocation: Revocation,
}

impl Revocations {
    /// Remembers a revocation by a credential that happened now.
    pub(crate) fn remember(&self, by: &CredentialId, held: GrantOrDecisionId, revocation: Revocation) {
        self.put_back(by, Remembered { at: Instant::now(), held, revocation });
    }

    /// Remembers a revocation again that could not be undone.
    pub(crate) fn put_back(&self, by: &CredentialId, remembered: Remembered) {
        let mut recent = self.recent();
        let own = recent.entry(by.clone()).or_default();
        if own.len() == MOST {
            own.pop_front();
        }
        own.push_back(remembered);
    }

    /// Takes a revocation by a credential, so that it is undone once.
    pub(crate) fn take(&self, by: &CredentialId, held: GrantOrDecisionId) -> Option<Remembered> {
        let mut recent = self.recent();
        let own = recent.get_mut(by)?;
        let place = own.iter().position(|remembered| remembered.held == held)?;
        own.remove(place)
    }

    /// Returns the revocations whose time is not over.
    fn recent(&self) -> MutexGuard<'_, HashMap<CredentialId, VecDeque<Remembered>>> {
        // Each change is whole, so a panic elsewhere leaves no half of one.
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|_, own| {
            own.retain(Remembered::is_recent);
            !own.is_empty()
        });
        recent
    }
}

impl Remembered {
    fn is_recent(&self) -> bool {
        self.at.elapsed() < REMEMBERED
    }
}
