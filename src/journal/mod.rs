//! Events on disk: one journal that is both the write-ahead log and the audit trail.
//!
//! A state directory contains segments (`journal-….jsonl`: one JSON object per line, each chained to the previous one
//! by its hash), snapshots of the state, a lock, and a reserve that is removed when the disk is full. `docs/storage.md`
//! describes the guarantees after each fault. The journal decides nothing. It never rewrites anything but a tail that
//! was not acknowledged.

pub mod audit;
mod error;
mod files;
mod hash_chain;
mod head_note;
mod head_notes;
mod head_place;
mod line;
mod lock;
mod open;
mod parallel_read;
mod policy_pointer;
mod queue;
mod read;
mod read_only;
mod room;
mod snapshot;
mod write;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread::{self, JoinHandle},
};

use crate::ports::{Batch, Progress, Store, StoreError, Stored, Taken};

pub(super) use self::policy_pointer::follows;
pub use self::{
    error::JournalError,
    hash_chain::{Hash, Head, InvalidHead},
    head_note::HeadNote,
    head_notes::HeadNotes,
    lock::wait_until_free,
    policy_pointer::followed,
    read_only::ReadOnlyJournal,
};
use self::{head_notes::Noter, queue::Queue};
pub use crate::ports::{Disk, DiskFile, RealDisk};

/// The default size at which the next segment begins. An engine that starts reads about this much in addition to the
/// state itself.
pub const SEGMENT: u64 = 8 << 20;

/// Refuses a state directory that another user may have written. Every function that opens one does this check.
///
/// # Errors
///
/// [`JournalError::Disk`] with the remedy.
pub fn refuse_others(directory: impl AsRef<Path>) -> Result<(), JournalError> {
    files::Files::at(Arc::new(RealDisk), directory.as_ref()).map(drop)
}

/// The journal in a state directory: it stores the events of one engine.
///
/// One thread writes. It takes all waiting batches, writes them at once, syncs once, and then reports. So concurrent
/// writers share one sync.
#[derive(Debug)]
pub struct Journal {
    queue: Arc<Queue>,
    history: Mutex<Vec<Stored>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    noter: Mutex<Option<Noter>>,
}

impl Journal {
    /// Opens the journal in `directory`, which is created if it is missing. From then on it belongs to this process.
    ///
    /// # Errors
    ///
    /// [`JournalError::InUse`] with the process that uses it; [`JournalError::Damaged`] with the place;
    /// [`JournalError::Missing`] if files are missing; [`JournalError::Disk`] for every other error of the disk.
    pub fn open(directory: impl AsRef<Path>) -> Result<Journal, JournalError> {
        Journal::open_on(Arc::new(RealDisk), directory, SEGMENT)
    }

    /// Opens the journal on the given disk, with segments of about `segment` bytes.
    ///
    /// # Errors
    ///
    /// The errors of [`Journal::open`].
    pub fn open_on(disk: Arc<dyn Disk>, directory: impl AsRef<Path>, segment: u64) -> Result<Journal, JournalError> {
        let opened = open::open(disk, directory.as_ref(), segment)?;
        let queue = Arc::new(Queue::default());
        queue.synced_up_to(opened.writer.head());
        let (writer, waiting) = (opened.writer, Arc::clone(&queue));
        let thread = thread::Builder::new().name("bestow-journal".to_owned()).spawn(move || writer.run(&waiting));
        let thread = thread.map_err(|why| JournalError::disk(directory.as_ref(), "starting a thread for", &why))?;
        let (history, noter) = (Mutex::new(opened.history), Mutex::default());
        Ok(Journal { queue, history, thread: Mutex::new(Some(thread)), noter })
    }

    /// Opens the journal in `directory` like [`Journal::open`], and notes its head from then on. A directory that does
    /// not contain each noted head is refused before anything in it changes.
    ///
    /// # Errors
    ///
    /// [`JournalError::OlderCopy`] or [`JournalError::OtherHead`]; [`JournalError::NotNoted`] if a note is in the
    /// directory itself; the errors of [`Journal::open`].
    pub fn open_noting(directory: impl AsRef<Path>, notes: HeadNotes) -> Result<Journal, JournalError> {
        let directory = directory.as_ref();
        for note in notes.places() {
            note.refuse_inside(directory)?;
            note.compare(directory)?;
        }
        let journal = Journal::open(directory)?;
        let noter = Noter::start(notes, Arc::clone(&journal.queue));
        let noter = noter.map_err(|why| JournalError::disk(directory, "starting a thread for", &why))?;
        *journal.noter.lock().unwrap_or_else(PoisonError::into_inner) = Some(noter);
        Ok(journal)
    }

    fn stop(&self) {
        self.queue.lock().closing = true;
        self.queue.bell.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last handle of an engine may be dropped on the journal's own thread. That thread then ends by itself.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            // The runtime has already reported a panic of that thread, and nothing was acknowledged since.
            let _ = thread.join();
        }
        // After the last write, so that the last note is the end.
        let noter = self.noter.lock().unwrap_or_else(PoisonError::into_inner).take();
        noter.into_iter().for_each(Noter::end);
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
