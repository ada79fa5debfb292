//! The queue between the engine and the writing thread.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
};

use super::hash_chain::Head;
use crate::ports::{Batch, Progress, StoreError, StoreFault};

/// The batches that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    pub(super) bell: Condvar,
    /// The end of the synced records.
    head: Mutex<Option<Head>>,
}

#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) batches: VecDeque<Arc<Batch>>,
    pub(super) progress: Option<Weak<dyn Progress>>,
    pub(super) closing: bool,
}

impl fmt::Debug for dyn Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

impl Queue {
    pub(super) fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all waiting batches, as soon as there is one; `None` once the journal closes and the queue is empty.
    pub(super) fn next(&self) -> Option<VecDeque<Arc<Batch>>> {
        let mut waiting = self.lock();
        loop {
            if !waiting.batches.is_empty() {
                return Some(std::mem::take(&mut waiting.batches));
            }
            if waiting.closing {
                return None;
            }
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn progress(&self) -> Option<Arc<dyn Progress>> {
        self.lock().progress.as_ref().and_then(Weak::upgrade)
    }

    /// Returns the end of the synced records.
    pub(super) fn head(&self) -> Option<Head> {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn synced_up_to(&self, head: Head) {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = Some(head);
    }

    pub(super) fn stored(&self, sequence: u64) {
        if let Some(progress) = self.progress() {
            progress.stored(sequence);
        }
    }

    pub(super) fn failed(&self, why: &str, fault: StoreFault) {
        if let Some(progress) = self.progress() {
            progress.failed(StoreError::new(fault, why));
        }
    }
}
