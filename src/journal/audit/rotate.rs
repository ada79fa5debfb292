//! The rotation of the trail: old segments move into an archive, and both parts stay verifiable.

use std::{io, os::unix::fs::MetadataExt, path::Path, sync::Arc};

use super::super::{
    JournalError,
    files::{Files, Listing, segment},
    hash_chain::{Hash, Head},
    read,
    snapshot::Snapshot,
};
use crate::ports::{Disk as _, RealDisk};

/// The part of a trail that was moved into an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rotated {
    /// The first event that was moved.
    pub first: u64,
    /// The number of segments that were moved.
    pub segments: usize,
    /// The end of the archived records. The records in the state directory follow it.
    pub head: Head,
}

/// Moves the segments before the last but one snapshot into the directory `archive`, which is created if it is missing.
/// Later segments can follow into the same archive. Each segment is verified, and is removed only after the archive has
/// all of them. Returns none if there is nothing to move yet.
///
/// An engine may run on the directory. A rotation that was interrupted is repeated.
///
/// # Authority
///
/// The archive is an ordinary directory: the engine does not keep its agents from it. Choose one that no agent may
/// write, and note the head elsewhere.
///
/// # Errors
///
/// [`JournalError::Damaged`] or [`JournalError::Missing`] if a segment does not follow from the one before it;
/// [`JournalError::Disk`] for every error of the disk, and if the archive has another file of the same name.
pub fn rotate(directory: impl AsRef<Path>, archive: impl AsRef<Path>) -> Result<Option<Rotated>, JournalError> {
    let (disk, archive) = (Arc::new(RealDisk), archive.as_ref());
    let files = Files::at(disk.clone(), directory.as_ref())?;
    let listing = files.list()?;
    let Some(kept) = last_but_one(&files, &listing)? else { return Ok(None) };
    let old: Vec<u64> = listing.segments.iter().copied().filter(|first| *first <= kept.sequence).collect();
    let Some(first) = old.first().copied() else { return Ok(None) };
    let refused = |why: io::Error| JournalError::disk(archive, "using as an archive", &why);
    disk.create_dir(archive).map_err(refused)?;
    let archived = Files::at(disk, archive)?;
    if is_one_directory(&files, &archived).map_err(refused)? {
        return Err(refused(io::Error::other("it is the state directory: name another one")));
    }
    let mut head = end_before(first, &files, &archived)?;
    for first in &old {
        head = copy(*first, head, &files, &archived)?;
    }
    if head != kept {
        let what = format!("events {} to {}, as its snapshots say", head.sequence + 1, kept.sequence);
        return Err(JournalError::Missing { directory: files.directory, what, next: None });
    }
    for first in &old {
        let name = segment(*first);
        files.disk.remove(&files.path(&name)).map_err(files.failed(&name, "removing"))?;
    }
    files.disk.sync_dir(&files.directory).map_err(refused)?;
    Ok(Some(Rotated { first, segments: old.len(), head }))
}

/// Returns the end of the last snapshot but one. If the last one is damaged, an engine starts from it and the segments
/// after it.
fn last_but_one(files: &Files, listing: &Listing) -> Result<Option<Head>, JournalError> {
    let mut whole = 0;
    for sequence in listing.snapshots.iter().rev() {
        if let Some(snapshot) = Snapshot::read(files, *sequence)? {
            whole += 1;
            if whole == 2 {
                return Ok(Some(snapshot.head));
            }
        }
    }
    Ok(None)
}

fn is_one_directory(one: &Files, other: &Files) -> io::Result<bool> {
    let identity = |files: &Files| std::fs::metadata(&files.directory).map(|about| (about.dev(), about.ino()));
    Ok(identity(one)? == identity(other)?)
}

/// Returns the end of the records before event `first`: the beginning, a snapshot, or the end of the archive.
fn end_before(first: u64, files: &Files, archived: &Files) -> Result<Head, JournalError> {
    let start = Head { sequence: 0, hash: Hash::START };
    let before = first.saturating_sub(1);
    if before == 0 {
        return Ok(start);
    }
    if files.list()?.snapshots.contains(&before)
        && let Some(snapshot) = Snapshot::read(files, before)?
    {
        return Ok(snapshot.head);
    }
    let mut head = start;
    for earlier in archived.list()?.segments.into_iter().filter(|earlier| *earlier < first) {
        head = followed(earlier, head, archived)?.1;
    }
    if head.sequence == before {
        return Ok(head);
    }
    let what = format!("events {} to {before}, and so does the archive", head.sequence + 1);
    Err(JournalError::Missing { directory: files.directory.clone(), what, next: None })
}

/// Copies a segment that follows `head` into the archive, unless it is there already. Returns its end.
fn copy(first: u64, head: Head, files: &Files, archived: &Files) -> Result<Head, JournalError> {
    let name = segment(first);
    let (content, end) = followed(first, head, files)?;
    if !archived.list()?.segments.contains(&first) {
        archived.write_whole(&name, &content)?;
    } else if archived.read(&name)? != content {
        let differs = io::Error::new(io::ErrorKind::AlreadyExists, "another file has this name: name another archive");
        return Err(archived.failed(&name, "archiving")(differs));
    }
    Ok(end)
}

/// Reads a segment that follows `head`. Returns its content and its end.
fn followed(first: u64, head: Head, files: &Files) -> Result<(Vec<u8>, Head), JournalError> {
    let name = segment(first);
    let content = files.read(&name)?;
    let read = read::segment(&content, head);
    if let Some(fault) = read.fault {
        let (file, sequence) = (files.path(&name), fault.sequence);
        return Err(JournalError::Damaged { file, line: fault.line, sequence, what: fault.what });
    }
    Ok((content, read.head))
}
