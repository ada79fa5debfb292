//! Where events are kept, so that they outlive the process.

use std::{fmt, sync::Arc, sync::Mutex, sync::PoisonError, sync::Weak};

use crate::model::{Event, Recorded, Timestamp};

/// One step of an engine: its events are stored all or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Batch {
    /// When.
    pub at: Timestamp,
    /// The number of the first event; the others follow without a gap.
    pub first: u64,
    /// What happened, in order; never empty.
    pub events: Vec<Event>,
    /// Nobody is given anything: it must be stored if it can be stored at all.
    pub only_takes: bool,
    /// How often the engine has heard of a failure. What was decided before the last one is void.
    pub failures: u64,
}

impl Batch {
    /// The number of the last event.
    pub fn last(&self) -> u64 {
        self.first + u64::try_from(self.events.len()).unwrap_or(u64::MAX).saturating_sub(1)
    }

    /// The events with their numbers.
    pub fn recorded(&self) -> impl Iterator<Item = Recorded> + '_ {
        let numbered = (self.first..).zip(&self.events);
        numbered.map(|(sequence, event)| Recorded { sequence, at: self.at, event: event.clone() })
    }
}

/// What a store gives back when an engine starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stored {
    /// Everything up to and with event number `sequence`, as the engine wrote it down.
    Snapshot {
        /// The number of the last event in it.
        sequence: u64,
        /// When that was.
        at: Timestamp,
        /// The state, as `State` writes itself.
        image: Vec<u8>,
    },
    /// One event after that.
    Event(Recorded),
    /// Something was found at the end that was never acknowledged, and was set aside.
    Cut {
        /// What, and where it is now.
        what: Arc<str>,
    },
}

/// Whether a store has stored something already, or will tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "now or later")]
pub enum Taken {
    /// It is stored.
    Stored,
    /// [`Progress`] will be told.
    Waits,
}

/// Keeps the events of one engine. What it has acknowledged it gives back after whatever happens to the process.
///
/// An engine commits in order and does not wait: it goes on deciding, and lets nothing that gives anybody anything be
/// seen before it is stored.
pub trait Store: fmt::Debug + Send + Sync {
    /// Gives back everything that is stored, oldest first. Called once, before anything is committed.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or `take` fails; then the engine does not start.
    fn load(&self, take: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError>;

    /// Tells `progress`, from now on, what became of what was committed.
    fn report_to(&self, progress: Weak<dyn Progress>);

    /// Takes a batch, and returns at once. Called under the engine's lock: nothing here may wait or call back.
    fn commit(&self, batch: Arc<Batch>) -> Taken;

    /// Finishes what was committed, and lets go of what is held (files, locks). Waits for that.
    fn close(&self);
}

/// Hears how far a store is.
pub trait Progress: Send + Sync {
    /// Everything up to and with event number `sequence` is stored.
    fn stored(&self, sequence: u64);

    /// Nothing that was not reported as stored is, or ever will be: it has to be decided anew.
    fn failed(&self, why: StoreError);
}

/// How bad a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the engine goes on after one and not after the other")]
pub enum StoreFault {
    /// Nothing was stored of it, and the store is as it was before: what comes next may work.
    Refused,
    /// The store is not trusted any more until it is opened anew.
    Broken,
}

/// Something is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    fault: StoreFault,
    what: Arc<str>,
}

impl StoreError {
    /// With what happened, in words that name the place and the way out.
    pub fn new(fault: StoreFault, what: impl Into<Arc<str>>) -> StoreError {
        StoreError { fault, what: what.into() }
    }

    /// How bad it is.
    pub fn fault(&self) -> StoreFault {
        self.fault
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for StoreError {}

/// Keeps events in memory: they outlive an engine, and not the process. For tests, and for hosts that store elsewhere.
#[derive(Debug, Default)]
pub struct MemoryStore {
    events: Mutex<Vec<Recorded>>,
}

impl MemoryStore {
    /// With nothing in it.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Everything that was stored.
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
