//! A state directory is taken, read back, and made ready for writing.

use std::{path::Path, sync::Arc};

use super::{
    JournalError,
    chain::{Hash, Head},
    files::{Files, Listing, segment},
    line::Line,
    read::{self, Segment},
    snapshot::Snapshot,
    write::Writer,
};
use crate::seam::{Disk, DiskFile, Stored};

/// A journal that was read back and can be written on.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) writer: Writer,
    pub(super) history: Vec<Stored>,
}

pub(super) fn open(disk: Arc<dyn Disk>, directory: &Path, limit: u64) -> Result<Opened, JournalError> {
    let files = Files { disk, directory: directory.to_owned() };
    let made = files.disk.create_dir(directory);
    made.map_err(|why| JournalError::disk(directory, "using as a state directory", &why))?;
    let (lock, was_closed) = files.take()?;
    let listing = files.list()?;
    files.clean(&listing)?;
    let mut history = Vec::new();
    let mut head = start(&files, &listing, &mut history)?;
    let mut open = None;
    for first in listing.segments.iter().copied().filter(|first| head.sequence < *first).collect::<Vec<_>>() {
        if first != head.sequence + 1 {
            return Err(missing(&files, head.sequence + 1, first));
        }
        let is_last = listing.segments.last() == Some(&first);
        let content = files.read(&segment(first))?;
        let mut read = read::segment(&content, head);
        let cut = set_aside(&files, first, is_last, &content, &mut read)?;
        head = read.head;
        history.extend(read.lines.into_iter().map(|line: Line| Stored::Event(line.recorded)));
        history.extend(cut.clone().map(|what| Stored::Cut { what }));
        if is_last {
            let whole = content.get(..read.bytes).unwrap_or_default();
            if cut.is_some() || !was_closed {
                // A disk that failed may hold less than it shows. What counts from now on is written anew.
                files.write_whole(&segment(first), whole)?;
            }
            open = Some(first);
        }
    }
    let (first, file) = append(&files, open, head)?;
    let writer = Writer::new(files, lock, file, first, head, limit)?;
    Ok(Opened { writer, history })
}

/// Where to begin: after the newest snapshot that is whole, or at the first event.
fn start(files: &Files, listing: &Listing, history: &mut Vec<Stored>) -> Result<Head, JournalError> {
    for sequence in listing.snapshots.iter().rev() {
        if let Some(Snapshot { head, at, image }) = Snapshot::read(files, *sequence)? {
            history.push(Stored::Snapshot { sequence: head.sequence, at, image });
            return Ok(head);
        }
    }
    Ok(Head { sequence: 0, hash: Hash::START })
}

fn missing(files: &Files, wanted: u64, first: u64) -> JournalError {
    let what = format!("events {wanted} to {}, or a whole snapshot that has them", first.saturating_sub(1));
    JournalError::Missing { directory: files.directory.clone(), what }
}

/// What is torn at the end goes into a file of its own; damage is refused. Says what was set aside.
fn set_aside(
    files: &Files,
    first: u64,
    is_last: bool,
    content: &[u8],
    read: &mut Segment,
) -> Result<Option<Arc<str>>, JournalError> {
    let Some(fault) = read.fault.take() else { return Ok(None) };
    if !is_last || !fault.is_torn {
        let file = files.path(&segment(first));
        return Err(JournalError::Damaged { file, line: fault.line, sequence: fault.sequence, what: fault.what });
    }
    let torn = content.get(read.bytes..).unwrap_or_default();
    let name = format!(
        "cut-{:020}-{}.jsonl",
        read.head.sequence + 1,
        &Hash::of(torn).to_string().get(..8).unwrap_or_default()
    );
    files.write_whole(&name, torn)?;
    let what = format!("{} bytes after event {}, never acknowledged, are in {name}", torn.len(), read.head.sequence);
    Ok(Some(what.into()))
}

/// The segment to go on with, or a new one.
fn append(files: &Files, open: Option<u64>, head: Head) -> Result<(u64, Box<dyn DiskFile>), JournalError> {
    match open {
        Some(first) => {
            let name = segment(first);
            let file = files.disk.append(&files.path(&name)).map_err(files.failed(&name, "opening"))?;
            Ok((first, file))
        }
        None => {
            let first = head.sequence + 1;
            let name = segment(first);
            files.begin(&name).map(|file| (first, file)).map_err(files.failed(&name, "making"))
        }
    }
}
