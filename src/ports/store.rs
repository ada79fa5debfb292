//! Stores: they keep events beyond the lifetime of the process.

use std::{fmt, sync::Arc, sync::Mutex, sync::PoisonError, sync::Weak};

use crate::{
    kernel::State,
    model::{Event, Means, Recorded, Timestamp},
};

/// One step of an engine. Its events are stored completely or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// The time of the step.
    pub at: Timestamp,
    /// The number of the first event. The others follow without a gap.
    pub first: u64,
    /// The events, in order. There is at least one.
    pub events: Vec<Event>,
    /// The means by which the agent acted that made the step, if they are known ([`Agent::through`]).
    ///
    /// [`Agent::through`]: crate::Agent::through
    pub via: Option<Means>,
    /// True if the step gives no permission. The store must then store it if that is possible at all.
    pub only_takes: bool,
    /// The number of failures that the engine knows of. Steps that were decided before the last failure are void.
    pub failures: u64,
}

impl Batch {
    /// Returns the number of the last event.
    pub fn last(&self) -> u64 {
        self.first + u64::try_from(self.events.len()).unwrap_or(u64::MAX).saturating_sub(1)
    }

    /// Returns the means by which an event of this step was caused. A summary of earlier events has none.
    pub(crate) fn via_of(&self, event: &Event) -> Option<&Means> {
        self.via.as_ref().filter(|_| !matches!(event, Event::FactsMerged { .. }))
    }

    /// Iterates over the events with their numbers.
    pub fn recorded(&self) -> impl Iterator<Item = Recorded> + '_ {
        let numbered = (self.first..).zip(&self.events);
        numbered.map(|(sequence, event)| Recorded {
            sequence,
            at: self.at,
            via: self.via_of(event).cloned(),
            event: event.clone(),
        })
    }
}

/// An item that a store returns when an engine starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stored {
    /// The state up to and including event number `sequence`, which the store has built from its records.
    Snapshot {
        /// The number of the last event in it.
        sequence: u64,
        /// The time of the latest event in it.
        at: Timestamp,
        /// The state.
        state: StoredState,
    },
    /// One event, after the snapshot if there is one.
    Event(Recorded),
    /// Unacknowledged data at the end of the store, which was set aside.
    Cut {
        /// A description of the data, and its new location.
        what: Arc<str>,
    },
}

/// The state that a store of this library has built from its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredState(pub(crate) Box<State>);

/// The state of a committed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "now or later")]
pub enum Taken {
    /// The batch is stored.
    Stored,
    /// The batch is pending. The store will call [`Progress`].
    Waits,
}

/// A store for the events of one engine. It returns all acknowledged events after any failure of the process.
///
/// An engine commits in order and does not wait. It goes on deciding. It publishes nothing that gives a permission
/// before that is stored.
pub trait Store: fmt::Debug + Send + Sync {
    /// Passes everything that is stored to `take`, oldest first. The engine calls it once, before the first commit.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or if `take` fails. The engine then does not start.
    fn load(&self, take: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError>;

    /// Sets the receiver of reports about committed batches.
    fn report_to(&self, progress: Weak<dyn Progress>);

    /// Accepts a batch, and returns at once. The engine calls it under its lock, so it must not wait or call back.
    fn commit(&self, batch: Arc<Batch>) -> Taken;

    /// Finishes the committed batches, and releases files and locks. It waits until that is done.
    fn close(&self);
}

/// A receiver of the progress of a store.
pub trait Progress: Send + Sync {
    /// Reports that all events up to and including number `sequence` are stored.
    fn stored(&self, sequence: u64);

    /// Reports a failure. An event that was not reported as stored is not stored and never will be. It must be decided
    /// anew.
    fn failed(&self, why: StoreError);
}

/// The severity of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the engine goes on after one and not after the other")]
pub enum StoreFault {
    /// The batch was not stored, and the store is unchanged. Later batches may succeed.
    Refused,
    /// The store is not trusted any more until it is opened anew.
    Broken,
}

/// The error for a batch that is not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    fault: StoreFault,
    what: Arc<str>,
}

impl StoreError {
    /// Creates an error. The text `what` describes the failure, its place and its remedy.
    pub fn new(fault: StoreFault, what: impl Into<Arc<str>>) -> StoreError {
        StoreError { fault, what: what.into() }
    }

    /// Returns the severity.
    pub fn fault(&self) -> StoreFault {
        self.fault
    }
}

/// A store in memory. Its events outlive an engine, but not the process. It is for tests, and for hosts that store
/// events elsewhere.
#[derive(Debug, Default)]
pub struct MemoryStore {
    events: Mutex<Vec<Recorded>>,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Returns all stored events.
    pub fn events(&self) -> Vec<Recorded> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Store for MemoryStore {
    fn load(&self, take: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.events().into_iter().try_for_each(|event| take(Stored::Event(event)))
    }

    fn report_to(&self, _: Weak<dyn Progress>) {}

    fn commit(&self, batch: Arc<Batch>) -> Taken {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).extend(batch.recorded());
        Taken::Stored
    }

    fn close(&self) {}
}
