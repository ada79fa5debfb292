//! The comparison of a trail with a head that was noted elsewhere, and the next note.

use std::{fs::File, io, path::Path, sync::Arc};

use super::super::{
    HeadNote, JournalError,
    files::{Files, segment},
    hash_chain::{Hash, Head},
    line, read,
};
use super::verify;
use crate::ports::RealDisk;

impl HeadNote {
    /// Notes the current head of the trail in `directory`, and returns it. An engine may run on the directory. A note
    /// that the trail does not contain stays as it is.
    ///
    /// # Errors
    ///
    /// [`JournalError::OlderCopy`] or [`JournalError::OtherHead`] if the trail does not contain the earlier note;
    /// [`JournalError::NotNoted`]; the errors of [`head`](super::head).
    pub fn note(&self, directory: impl AsRef<Path>) -> Result<Head, JournalError> {
        let directory = directory.as_ref();
        self.refuse_inside(directory)?;
        // The head is read first: an engine may note a later one meanwhile, and the trail contains that one, too.
        let head = super::head(directory)?;
        self.compare(directory)?;
        // A running engine may not have synced its last records yet, and a power cut must not take what is noted.
        sync_last(directory)?;
        self.write(head)?;
        Ok(head)
    }

    /// Refuses a trail that does not contain the noted head.
    ///
    /// # Errors
    ///
    /// [`JournalError::OlderCopy`] or [`JournalError::OtherHead`]; the errors of [`HeadNote::read`] and of
    /// [`verify`].
    pub fn compare(&self, directory: impl AsRef<Path>) -> Result<(), JournalError> {
        match self.read()? {
            Some(noted) => refuse_without(directory.as_ref(), noted).map_err(|why| self.named_in(why)),
            None => Ok(()),
        }
    }

    /// Names this note in an error about its head.
    fn named_in(&self, mut why: JournalError) -> JournalError {
        if let JournalError::OlderCopy { note, .. } = &mut why {
            note.get_or_insert_with(|| Box::new(self.clone()));
        }
        why
    }
}

/// Refuses a trail that does not contain the head `noted`: a whole older copy, or another trail. It reads the records
/// from that head on. Where that is not enough, it verifies the whole trail.
fn refuse_without(directory: &Path, noted: Head) -> Result<(), JournalError> {
    let start = Head { sequence: 0, hash: Hash::START };
    if noted == start {
        return Ok(());
    }
    let older = || JournalError::OlderCopy { directory: directory.to_owned(), noted, end: start, note: None };
    if std::fs::symlink_metadata(directory).is_err_and(|why| why.kind() == io::ErrorKind::NotFound) {
        return Err(older());
    }
    let files = Files::at(Arc::new(RealDisk), directory)?;
    if files.list()?.segments.is_empty() {
        return Err(older());
    }
    if goes_on_from(&files, noted)? { Ok(()) } else { verify(directory, Some(noted)).map(drop) }
}

/// Syncs the last segment.
fn sync_last(directory: &Path) -> Result<(), JournalError> {
    let files = Files::at(Arc::new(RealDisk), directory)?;
    let Some(last) = files.list()?.segments.last().map(|first| segment(*first)) else { return Ok(()) };
    let synced = File::open(files.path(&last)).and_then(|file| file.sync_data());
    synced.and_then(|()| files.disk.sync_dir(directory)).map_err(files.failed(&last, "syncing"))
}

/// Returns true if the records contain `noted`, and all later ones follow from it. The last segment may be torn.
fn goes_on_from(files: &Files, noted: Head) -> Result<bool, JournalError> {
    let listing = files.list()?;
    let has = listing.segments.partition_point(|first| *first <= noted.sequence);
    let Some(first) = has.checked_sub(1).and_then(|place| listing.segments.get(place)) else { return Ok(false) };
    let content = files.read(&segment(*first))?;
    let Some(rest) = line::after(&content, noted) else { return Ok(false) };
    let later = listing.segments.get(has..).unwrap_or_default();
    let mut read = read::segment(rest, noted);
    for first in later {
        if read.fault.is_some() || *first != read.head.sequence + 1 {
            return Ok(false);
        }
        read = read::segment(&files.read(&segment(*first))?, read.head);
    }
    Ok(true)
}
