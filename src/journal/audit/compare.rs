//! The quick comparison of a trail with a head that was noted elsewhere.

use std::{fs::File, io, path::Path, sync::Arc};

use super::super::{
    JournalError,
    files::{Files, segment},
    hash_chain::{Hash, Head},
    line, read,
};
use super::verify;
use crate::ports::RealDisk;

/// Refuses a trail that does not contain the head `noted`: a whole older copy, or another trail. It reads the records
/// from that head on. Where that is not enough, it verifies the whole trail.
pub(in super::super) fn refuse_without(directory: &Path, noted: Head) -> Result<(), JournalError> {
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
pub(in super::super) fn sync_last(directory: &Path) -> Result<(), JournalError> {
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
