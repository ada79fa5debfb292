//! A read-only view of a state directory. It takes no lock and writes nothing.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{JournalError, files::Files, open};
use crate::ports::{Batch, Progress, RealDisk, Store, StoreError, Stored, Taken};

/// The content of a state directory. An engine that is restored from it stores nothing.
#[derive(Debug)]
pub struct ReadOnlyJournal {
    history: Mutex<Vec<Stored>>,
}

impl ReadOnlyJournal {
    /// Reads the current content of `directory`.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotState`] if it contains no journal; [`JournalError::Damaged`] with the place;
    /// [`JournalError::Missing`] if files are missing; [`JournalError::Disk`] for every other error of the disk.
    pub fn at(directory: impl AsRef<Path>) -> Result<ReadOnlyJournal, JournalError> {
        let files = Files::at(Arc::new(RealDisk), directory.as_ref())?;
        if files.list()?.segments.is_empty() {
            return Err(JournalError::NotState { directory: files.directory });
        }
        Ok(ReadOnlyJournal { history: Mutex::new(open::look(&files)?.0) })
    }
}

impl Store for ReadOnlyJournal {
    fn load(&self, take: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let history = std::mem::take(&mut *self.history.lock().unwrap_or_else(PoisonError::into_inner));
        history.into_iter().try_for_each(take)
    }

    fn report_to(&self, _: Weak<dyn Progress>) {}

    fn commit(&self, _: Arc<Batch>) -> Taken {
        Taken::Stored
    }

    fn close(&self) {}
}
