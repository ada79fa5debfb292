//! The check that the trail is unaltered.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
    thread,
};

use super::{
    super::{
        JournalError,
        files::{Files, snapshot},
        hash_chain::Head,
        line::Line,
        lock,
        snapshot::Snapshot,
    },
    Trail,
};
use crate::{
    kernel::ReplayedState,
    ports::{Disk, RealDisk},
};

/// A trail in which every record follows from the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The first existing event. Older ones may have been moved away.
    pub first: u64,
    /// The end of the chain. Keep a copy of it elsewhere.
    pub head: Head,
    /// A description of the torn end, which was never acknowledged.
    pub torn: Option<String>,
    /// True if the directory says up to where its records were acknowledged, so that a missing end is found. An archive
    /// does not.
    pub has_noted_end: bool,
}

/// Reads the whole trail, and finds the first record that was altered, is missing, or is in another place. With
/// `expected`, a head that was noted earlier, it also detects that the trail was shortened or rewritten as a whole.
/// Each snapshot must match the records.
///
/// # Errors
///
/// [`JournalError::Damaged`] or [`JournalError::Missing`] with the place; [`JournalError::OlderCopy`] or
/// [`JournalError::OtherHead`] if the records are valid, but do not contain the head `expected`;
/// [`JournalError::NotState`] if there is no journal; [`JournalError::Disk`] for every error of the disk.
pub fn verify(directory: impl AsRef<Path>, expected: Option<Head>) -> Result<Verified, JournalError> {
    verify_on(Arc::new(RealDisk), directory, expected)
}

/// Verifies a trail on the given disk.
///
/// # Errors
///
/// The errors of [`verify`].
pub fn verify_on(
    disk: Arc<dyn Disk>,
    directory: impl AsRef<Path>,
    expected: Option<Head>,
) -> Result<Verified, JournalError> {
    let mut trail = Trail::open(disk, directory.as_ref())?;
    let mut told = Told::new(&trail)?;
    let before = trail.head.sequence;
    let mut other = None;
    if let Some(expected) = expected.filter(|expected| 0 < expected.sequence && expected.sequence <= before) {
        refuse_moved(&trail, expected)?;
    }
    while let Some(lines) = trail.next_segment()? {
        for line in &lines {
            if let Some(expected) = expected.filter(|expected| expected.sequence == line.recorded.sequence) {
                let found = Head { sequence: expected.sequence, hash: line.hash };
                other = (expected.hash != line.hash).then_some((expected, found));
            }
            told.hear(line, &trail)?;
        }
    }
    // Altered records are reported first. A head that was noted wrongly is no reason to cut the trail.
    if let Some((noted, found)) = other {
        return Err(JournalError::OtherHead { directory: directory.as_ref().to_owned(), noted, found });
    }
    if let Some(expected) = expected.filter(|expected| trail.head.sequence < expected.sequence) {
        let (directory, end) = (directory.as_ref().to_owned(), trail.head);
        return Err(JournalError::OlderCopy { directory, noted: expected, end, note: None });
    }
    let torn = trail.torn.map(|fault| format!("after event {}: {}", trail.head.sequence, fault.what));
    let has_noted_end = lock::is_there(&trail.files)?;
    if !has_noted_end && trail.files.list()?.has_other_files {
        return Err(lock::missing(&trail.files, trail.head));
    }
    Ok(Verified { first: before + 1, head: trail.head, torn, has_noted_end })
}

/// Refuses a head that was moved away with its record, unless the trail begins right after it.
fn refuse_moved(trail: &Trail, noted: Head) -> Result<(), JournalError> {
    let (directory, found) = (trail.files.directory.clone(), trail.head);
    if noted == found {
        return Ok(());
    }
    if noted.sequence == found.sequence {
        return Err(JournalError::OtherHead { directory, noted, found });
    }
    let what = format!(
        "event {}, whose head was noted (if `bestow audit rotate` moved it, `bestow audit verify --state ARCHIVE \
         --expect {noted}` verifies it there, and the note can be replaced)",
        noted.sequence
    );
    Err(JournalError::Missing { directory, what, next: None })
}

/// The state that results from the records so far. It is compared with the snapshots.
struct Told {
    /// The state; `None` if the first records were moved away and no snapshot tells what they led to.
    state: Option<ReplayedState>,
    snapshots: Snapshots,
}

/// The snapshots in order, each read by another thread before it is compared. Only their heads are kept: an image may
/// be as large as the state.
struct Snapshots {
    sequences: VecDeque<u64>,
    read: Receiver<Result<Option<Head>, JournalError>>,
}

impl Snapshots {
    fn after(before: u64, trail: &Trail) -> Result<Snapshots, JournalError> {
        let sequences: VecDeque<_> =
            trail.files.list()?.snapshots.into_iter().filter(|sequence| before < *sequence).collect();
        let (wanted, files, (send, read)) = (sequences.clone(), trail.files.clone(), mpsc::sync_channel(0));
        let reading = move || {
            for sequence in wanted {
                let read = Snapshot::read(&files, sequence);
                if send.send(read.map(|read| read.map(|snapshot| snapshot.head))).is_err() {
                    return;
                }
            }
        };
        if !sequences.is_empty() {
            let thread = thread::Builder::new().name("bestow-audit".to_owned()).spawn(reading);
            thread.map_err(|why| JournalError::disk(&trail.files.directory, "starting a thread for", &why))?;
        }
        Ok(Snapshots { sequences, read })
    }

    /// Returns the snapshot after event `sequence`, if there is one; the inner none is one that is not whole.
    #[expect(clippy::option_option, reason = "no snapshot, and one that is not whole")]
    fn at(&mut self, sequence: u64) -> Result<Option<Option<Head>>, JournalError> {
        if self.sequences.front() != Some(&sequence) {
            return Ok(None);
        }
        self.sequences.pop_front();
        self.read.recv().map_or(Ok(Some(None)), |read| read.map(Some))
    }
}

impl Told {
    fn new(trail: &Trail) -> Result<Told, JournalError> {
        let snapshots = Snapshots::after(trail.head.sequence, trail)?;
        let state = match trail.head.sequence {
            0 => Some(ReplayedState::new()),
            before => Snapshot::restore(&trail.files, before)?.and_then(Result::ok).map(|restored| restored.state),
        };
        Ok(Told { state, snapshots })
    }

    fn hear(&mut self, line: &Line, trail: &Trail) -> Result<(), JournalError> {
        let Some(state) = &mut self.state else { return Ok(()) };
        state.apply(&line.recorded.event);
        let sequence = line.recorded.sequence;
        let Some(read) = self.snapshots.at(sequence)? else { return Ok(()) };
        if read.is_some_and(|head| head.hash == line.hash) && is_of(&trail.files, sequence, state)? {
            return Ok(());
        }
        let file = trail.files.path(&snapshot(sequence));
        let what = "the snapshot differs from the records: remove it, and the engine creates it again".to_owned();
        Err(JournalError::Damaged { file, line: 1, sequence, what })
    }
}

/// Returns true if the snapshot up to event `sequence` has this state.
fn is_of(files: &Files, sequence: u64, state: &ReplayedState) -> Result<bool, JournalError> {
    // Equal states have equal images, unless an older version wrote one. This is quicker than reading the image.
    if Snapshot::has_image_of(files, sequence, state)? {
        return Ok(true);
    }
    let restored = Snapshot::restore(files, sequence)?.and_then(Result::ok);
    Ok(restored.is_some_and(|restored| restored.state == *state))
}
