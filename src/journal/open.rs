//! The opening of a state directory: it is locked, read back, and made ready for writing.

use std::{path::Path, sync::Arc};

use super::{
    JournalError,
    files::{Files, Listing, NoFile, segment, snapshot},
    hash_chain::{Hash, Head},
    lock::{self, LastEnd, Lock, Promised},
    parallel_read::ParallelRead,
    read,
    snapshot::{Covered, RestoredState, Snapshot},
    write::Writer,
};
use crate::{
    kernel::ReplayedState,
    model::Timestamp,
    ports::{Disk, DiskFile, Stored, StoredState},
};

/// A journal that was read back and can be continued.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) writer: Writer,
    pub(super) history: Vec<Stored>,
}

/// The content of a directory, read without changing anything.
#[derive(Debug)]
struct Found {
    /// The state at the end of the records, if there are any.
    state: Option<Stored>,
    head: Head,
    /// The segment to continue, if there is one.
    last: Option<Last>,
    covered: Covered,
}

#[derive(Debug)]
struct Last {
    first: u64,
    content: Vec<u8>,
    /// The number of bytes that count.
    whole: usize,
    /// True if the rest is torn.
    is_torn: bool,
}

impl Last {
    fn whole(&self) -> &[u8] {
        self.content.get(..self.whole).unwrap_or_default()
    }

    fn torn(&self) -> &[u8] {
        self.content.get(self.whole..).unwrap_or_default()
    }
}

pub(super) fn open(disk: Arc<dyn Disk>, directory: &Path, limit: u64) -> Result<Opened, JournalError> {
    let made = disk.create_dir(directory);
    made.map_err(|why| JournalError::disk(directory, "using as a state directory", &why))?;
    let files = Files::at(disk, directory)?;
    refuse_missing_lock(&files)?;
    let (mut lock, last_end) = Lock::take(&files)?;
    let listing = files.list()?;
    let Found { state, head, last, covered } = find(&files, &listing, last_end)?;
    let mut history: Vec<_> = state.into_iter().collect();
    lock.hold(&files, last_end)?;
    files.clean(&listing)?;
    files.hide_from_git(&listing);
    if let Some(last) = &last {
        if last.is_torn {
            history.push(Stored::Cut { what: set_aside(&files, head, last.torn())? });
        }
        if last.is_torn || !last_end.is_orderly() {
            files.rewrite(&segment(last.first), last.whole())?;
        }
    }
    let (first, file) = append(&files, last.map(|last| last.first), head)?;
    lock.note(head);
    let writer = Writer::new(files, lock, file, first, head, limit, covered)?;
    Ok(Opened { writer, history })
}

/// Refuses records without `LOCK`: nothing says if the newest of them are there. Each journal has had the file from the
/// beginning.
fn refuse_missing_lock(files: &Files) -> Result<(), JournalError> {
    // A process that begins a journal makes `LOCK` first, so the records are listed before it is looked for.
    let listing = files.list()?;
    if listing.is_empty() || lock::is_there(files)? {
        return Ok(());
    }
    Err(lock::missing(files, find(files, &listing, LastEnd::Unknown)?.head))
}

/// Reads a directory that another process may be using. A torn end is ignored: that process may be writing it.
pub(super) fn look(files: &Files) -> Result<(Vec<Stored>, Head), JournalError> {
    let before = lock::last_end(files)?;
    let mut found = find(files, &files.list()?, before);
    if found.is_err() && lock::last_end(files)? != before {
        // A process uses the directory.
        let now = lock::last_end(files)?;
        found = find(files, &files.list()?, now);
    }
    found.map(|Found { state, head, .. }| (state.into_iter().collect(), head))
}

fn find(files: &Files, listing: &Listing, last_end: LastEnd) -> Result<Found, JournalError> {
    let RestoredState { mut head, mut at, mut state, size: snapshot } = start(files, listing)?;
    let mut covered = Covered { finished: head, snapshot, loose: 0 };
    listing.refuse_lost_end(files)?;
    let mut promised = Promised::by(last_end);
    promised.compare(head);
    let mut last = None;
    let segments: Vec<_> = listing.segments.iter().copied().filter(|first| head.sequence < *first).collect();
    let finished = segments.split_last().map_or(&[][..], |(_, finished)| finished);
    let mut reading = ParallelRead::start(files, finished, head)?;
    for first in segments {
        if first != head.sequence + 1 {
            return Err(missing(files, head.sequence + 1, first));
        }
        let is_last = listing.segments.last() == Some(&first);
        let (content, read) = match if is_last { None } else { reading.next(head)? } {
            Some(read) => (Vec::new(), read),
            None => {
                let content = files.read(&segment(first))?;
                let read = read::segment(&content, head);
                (content, read)
            }
        };
        let may_be_torn = is_last && !last_end.is_orderly();
        if let Some(fault) = read.fault.as_ref().filter(|fault| !may_be_torn || !fault.is_torn) {
            let (file, what) = (files.path(&segment(first)), fault.what.clone());
            return Err(JournalError::Damaged { file, line: fault.line, sequence: fault.sequence, what });
        }
        head = read.head;
        // The events are applied at once: those of a long trail would need more memory than the state.
        for line in &read.lines {
            promised.compare(line.head());
            state.apply(&line.recorded.event);
            at = at.max(line.recorded.at);
        }
        if !is_last {
            let bytes = u64::try_from(read.bytes).unwrap_or(u64::MAX);
            (covered.finished, covered.loose) = (read.head, covered.loose.saturating_add(bytes));
        }
        last = is_last.then_some(Last { first, content, whole: read.bytes, is_torn: read.fault.is_some() });
    }
    promised.is_kept(files, head)?;
    let state = StoredState(Box::new(state.into_state()));
    let state = (0 < head.sequence).then_some(Stored::Snapshot { sequence: head.sequence, at, state });
    Ok(Found { state, head, last, covered })
}

/// Returns the starting point: the newest complete snapshot, or the empty state before the first event.
fn start(files: &Files, listing: &Listing) -> Result<RestoredState, JournalError> {
    for sequence in listing.snapshots.iter().rev() {
        if let Some(restored) = Snapshot::restore(files, *sequence)? {
            let unreadable = |why: serde_json::Error| files.failed(&snapshot(*sequence), "reading")(why.into());
            return restored.map_err(unreadable);
        }
    }
    let (head, at) = (Head { sequence: 0, hash: Hash::START }, Timestamp::from_millis(0));
    Ok(RestoredState { head, at, state: ReplayedState::new(), size: 0 })
}

fn missing(files: &Files, wanted: u64, first: u64) -> JournalError {
    let what = format!("events {wanted} to {}, or a whole snapshot that has them", first.saturating_sub(1));
    JournalError::Missing { directory: files.directory.clone(), what, next: None }
}

/// Moves the torn end into a file of its own. Returns a sentence that names the file.
fn set_aside(files: &Files, head: Head, torn: &[u8]) -> Result<Arc<str>, JournalError> {
    let (next, hash) = (head.sequence + 1, Hash::of(torn).to_string());
    let name = format!("cut-{next:020}-{}.jsonl", hash.get(..8).unwrap_or_default());
    let name = files.write_aside(&name, torn)?;
    Ok(format!("{} bytes after event {}, never acknowledged, are in {name}", torn.len(), head.sequence).into())
}

/// Opens the segment to continue, or begins a new one.
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
            let begun = files.begin(&name).map_err(NoFile::why).map_err(files.failed(&name, "making"))?;
            Ok((first, begun))
        }
    }
}
