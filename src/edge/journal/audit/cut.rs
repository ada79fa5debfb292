//! The way out of damage without a copy: what follows it is set aside.

use std::{path::Path, sync::Arc};

use super::super::{
    JournalError,
    chain::{Hash, Head},
    files::{Files, let_go, segment},
    read,
    snapshot::Snapshot,
};
use crate::seam::RealDisk;

/// Sets aside everything from event `before` on, so that an engine can be opened on the rest. What is set aside stays in
/// the directory, under names that begin with `cut-`.
///
/// # Authority
///
/// What was revoked in the part that is set aside holds again.
///
/// # Errors
///
/// [`JournalError::InUse`]; [`JournalError::Damaged`] if something before that event is wrong; anything the disk says.
pub fn cut(directory: impl AsRef<Path>, before: u64) -> Result<Head, JournalError> {
    let files = Files { disk: Arc::new(RealDisk), directory: directory.as_ref().to_owned() };
    let (lock, _) = files.take()?;
    let listing = files.list()?;
    for sequence in listing.snapshots.iter().filter(|sequence| before <= **sequence) {
        let name = super::super::files::snapshot(*sequence);
        aside(&files, &name)?;
    }
    let mut head = start(&files, before)?;
    for first in listing.segments.into_iter().filter(|first| head.sequence < *first).collect::<Vec<_>>() {
        let name = segment(first);
        if before <= first {
            aside(&files, &name)?;
            continue;
        }
        let content = files.read(&name)?;
        let whole = read::segment(&content, head);
        if let Some(fault) = whole.fault.filter(|fault| fault.sequence < before) {
            let (file, sequence) = (files.path(&name), fault.sequence);
            return Err(JournalError::Damaged { file, line: fault.line, sequence, what: fault.what });
        }
        let kept = whole.lines.iter().take_while(|line| line.recorded.sequence < before);
        let last = kept.filter(|line| line.left == 0).last();
        let last = last.map_or(head, |end| Head { sequence: end.recorded.sequence, hash: end.hash });
        let lines = usize::try_from(last.sequence - head.sequence).unwrap_or(usize::MAX);
        let bytes: usize = content.split_inclusive(|byte| *byte == b'\n').take(lines).map(<[u8]>::len).sum();
        let rest = content.get(bytes..).unwrap_or_default();
        if !rest.is_empty() {
            files.write_whole(&format!("cut-{:020}.jsonl", last.sequence + 1), rest)?;
            files.write_whole(&name, content.get(..bytes).unwrap_or_default())?;
        }
        head = last;
    }
    let_go(lock);
    Ok(head)
}

fn start(files: &Files, before: u64) -> Result<Head, JournalError> {
    for sequence in files.list()?.snapshots.iter().rev().filter(|sequence| **sequence < before) {
        if let Some(snapshot) = Snapshot::read(files, *sequence)? {
            return Ok(snapshot.head);
        }
    }
    Ok(Head { sequence: 0, hash: Hash::START })
}

fn aside(files: &Files, name: &str) -> Result<(), JournalError> {
    let renamed = files.disk.rename(&files.path(name), &files.path(&format!("cut-{name}")));
    renamed.and_then(|()| files.disk.sync_dir(&files.directory)).map_err(files.failed(name, "setting aside"))
}
