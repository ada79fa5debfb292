//! The result of a command, and the wait until it is stored.

use tokio::sync::oneshot;

use crate::{
    model::Event,
    ports::{StoreError, StoreFault},
};

use super::Error;

/// The result of a command. The command is decided; a caller that needs the acknowledgement waits until it is stored.
#[derive(Debug)]
pub(super) struct CommitHandle {
    pub(super) outcome: Result<Vec<Event>, Error>,
    /// The receiver of the acknowledgement. It is none if every step is stored already.
    pub(super) stored: Option<oneshot::Receiver<Result<(), StoreError>>>,
    /// Earlier steps could not be stored.
    pub(super) in_doubt: bool,
}

impl CommitHandle {
    pub(super) fn of(outcome: Result<CommitHandle, Error>) -> CommitHandle {
        outcome.unwrap_or_else(|why| CommitHandle { outcome: Err(why), stored: None, in_doubt: false })
    }

    /// Returns without waiting, for steps that give no permission and that are not reported as done.
    pub(super) fn at_once(self) -> Result<Vec<Event>, Error> {
        self.outcome
    }

    /// Returns the decided events, stored or not.
    #[cfg(feature = "sandbox")]
    pub(super) fn events(&self) -> &[Event] {
        self.outcome.as_deref().unwrap_or_default()
    }

    /// Waits until the events are stored, if the engine stores events.
    ///
    /// # Cancellation
    ///
    /// Dropping the future only gives up waiting. The command is decided, and will be stored.
    pub(super) async fn acknowledged(self) -> Result<Vec<Event>, Error> {
        match self.stored {
            None => self.outcome,
            Some(stored) => known(self.outcome, stored.await.unwrap_or_else(|_| Err(gone()))),
        }
    }

    /// Waits like `acknowledged`, on a thread that may block.
    pub(super) fn wait(self) -> Result<Vec<Event>, Error> {
        match self.stored {
            None => self.outcome,
            Some(stored) => known(self.outcome, stored.blocking_recv().unwrap_or_else(|_| Err(gone()))),
        }
    }

    /// Returns without waiting if the events only record evaluations: no permission was given, taken or consumed. Such
    /// events may reach the disk later, unless the disk is known to fail. All other events are waited for.
    pub(super) fn noted(self) -> Result<Vec<Event>, Error> {
        let is_fact = |events: &Vec<Event>| events.iter().all(|event| matches!(event, Event::Evaluated { .. }));
        let only_facts = self.outcome.as_ref().is_ok_and(is_fact);
        if only_facts && !self.in_doubt { self.outcome } else { self.wait() }
    }
}

/// Combines the outcome with the result of storing. A refusal stays a refusal even if it was not stored.
fn known(outcome: Result<Vec<Event>, Error>, stored: Result<(), StoreError>) -> Result<Vec<Event>, Error> {
    outcome.and_then(|events| stored.map(|()| events).map_err(Error::Store))
}

/// The store error for an engine that ended before the store answered.
fn gone() -> StoreError {
    StoreError::new(
        StoreFault::Broken,
        "the engine ended before it confirmed this change, so the change may or may not be stored",
    )
}
