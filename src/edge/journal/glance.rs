//! A look at a state directory that nobody uses: nothing is taken, nothing is written.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::{JournalError, files::Files, open};
use crate::seam::{Batch, Progress, RealDisk, Store, StoreError, Stored, Taken};

/// What a state directory holds. An engine that is restored from it forgets whatever happens to it.
#[derive(Debug)]
pub struct Glance {
    history: Mutex<Vec<Stored>>,
}

impl Glance {
    /// Reads what `directory` holds now.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotState`] if it holds no journal; [`JournalError::Damaged`] with the place; anything the disk says.
    pub fn at(directory: impl AsRef<Path>) -> Result<Glance, JournalError> {
        let files = Files::at(Arc::new(RealDisk), directory.as_ref())?;
        if files.list()?.segments.is_empty() {
            return Err(JournalError::NotState { directory: files.directory });
        }
        Ok(Glance { history: Mutex::new(open::look(&files)?) })
    }
}

impl Store for Glance {
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
