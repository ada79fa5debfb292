//! Events on disk: one journal that is the write-ahead log and the audit trail at once.
//!
//! A state directory holds segments (`journal-….jsonl`: one JSON object a line, each chained to the one before by its
//! hash), snapshots of the state, a lock, and a reserve that is given up when the disk is full. `docs/storage.md` says what
//! holds after which fault. Nothing here decides anything, and nothing is ever rewritten but a tail that was never
//! acknowledged.

pub mod audit;
mod chain;
mod error;
mod files;
mod followed;
mod glance;
mod line;
mod open;
mod read;
mod snapshot;
mod write;

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread::{self, JoinHandle},
};

use crate::seam::{Batch, Progress, Store, StoreError, StoreFault, Stored, Taken};

pub(super) use self::followed::follows;
pub use self::{
    chain::{Hash, Head, InvalidHead},
    error::JournalError,
    followed::followed,
    glance::Glance,
};
pub use crate::seam::{Disk, DiskFile, RealDisk};

/// How large a segment grows before the next one is begun, if nothing else is said: what has to be read when an engine
/// starts is about that much besides the state itself.
pub const SEGMENT: u64 = 8 << 20;

/// Refuses a state directory that somebody else may have written, as everything that opens one does.
///
/// # Errors
///
/// [`JournalError::Disk`] with the way out.
pub fn refuse_others(directory: impl AsRef<Path>) -> Result<(), JournalError> {
    files::Files::at(Arc::new(RealDisk), directory.as_ref()).map(drop)
}

/// The journal in a state directory: keeps the events of one engine.
///
/// One thread writes. It takes everything that waits, writes it at once, syncs once, and then reports; so writers that come
/// together share one sync.
#[derive(Debug)]
pub struct Journal {
    queue: Arc<Queue>,
    history: Mutex<Vec<Stored>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Opens the journal in `directory`, which is made if it is missing, and belongs to this process from then on.
    ///
    /// # Errors
    ///
    /// [`JournalError::InUse`] with the process that has it; [`JournalError::Damaged`] with the place; anything the disk
    /// says.
    pub fn open(directory: impl AsRef<Path>) -> Result<Journal, JournalError> {
        Journal::open_on(Arc::new(RealDisk), directory, SEGMENT)
    }

    /// The same on another disk, with segments of about `segment` bytes.
    ///
    /// # Errors
    ///
    /// As [`Journal::open`].
    pub fn open_on(disk: Arc<dyn Disk>, directory: impl AsRef<Path>, segment: u64) -> Result<Journal, JournalError> {
        let opened = open::open(disk, directory.as_ref(), segment)?;
        let queue = Arc::new(Queue::default());
        let (writer, waiting) = (opened.writer, Arc::clone(&queue));
        let thread = thread::Builder::new().name("bestow-journal".to_owned()).spawn(move || writer.run(&waiting));
        let thread = thread.map_err(|why| JournalError::disk(directory.as_ref(), "starting a thread for", &why))?;
        Ok(Journal { queue, history: Mutex::new(opened.history), thread: Mutex::new(Some(thread)) })
    }

    fn stop(&self) {
        self.queue.lock().closing = true;
        self.queue.bell.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last handle of an engine may go on the journal's own thread, which then ends by itself.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            // A panic there has been reported by the runtime already, and nothing was acknowledged since.
            let _ = thread.join();
        }
    }
}

impl Store for Journal {
    fn load(&self, take: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let history = std::mem::take(&mut *self.history.lock().unwrap_or_else(PoisonError::into_inner));
        history.into_iter().try_for_each(take)
    }

    fn report_to(&self, progress: Weak<dyn Progress>) {
        self.queue.lock().progress = Some(progress);
    }

    fn commit(&self, batch: Arc<Batch>) -> Taken {
        self.queue.lock().batches.push_back(batch);
        self.queue.bell.notify_one();
        Taken::Waits
    }

    fn close(&self) {
        self.stop();
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What waits to be written.
#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    batches: VecDeque<Arc<Batch>>,
    progress: Option<Weak<dyn Progress>>,
    closing: bool,
}

impl std::fmt::Debug for dyn Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that waits, as soon as something does; none once the journal closes and nothing is left.
    fn next(&self) -> Option<VecDeque<Arc<Batch>>> {
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

    fn stored(&self, sequence: u64) {
        if let Some(progress) = self.progress() {
            progress.stored(sequence);
        }
    }

    fn failed(&self, why: &str, fault: StoreFault) {
        if let Some(progress) = self.progress() {
            progress.failed(StoreError::new(fault, why));
        }
    }
}
