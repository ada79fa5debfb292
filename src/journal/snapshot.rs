//! Snapshots: the state after some event, so that earlier events need not be read again.
//!
//! A snapshot is built from the previous snapshot and the segments since then, on a thread of its own. Writers do not
//! wait for it, and its content is derived from the journal alone.

use serde::{Deserialize, Serialize};

use super::{
    JournalError,
    files::{Files, segment, snapshot},
    hash_chain::{Hash, Head},
    read,
};
use crate::{
    kernel::State,
    model::{Settings, Timestamp},
};

/// The first line of a snapshot. The state follows it.
#[derive(Serialize, Deserialize)]
struct Title {
    v: u8,
    sequence: u64,
    at: Timestamp,
    /// The hash of the chain at that event.
    h: String,
    /// The hash of the state.
    state: String,
    /// The hash of the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

/// The version of the form. In the first version, the title had no hash.
const VERSION: u8 = 2;

impl Title {
    fn new(sequence: u64, at: Timestamp, h: String, state: String) -> Title {
        let title = Title { v: VERSION, sequence, at, h, state, title: None };
        Title { title: Some(title.hash()), ..title }
    }

    fn hash(&self) -> String {
        let Title { v, sequence, at, h, state, title: _ } = self;
        Hash::of(format!("{v} {sequence} {at} {h} {state}").as_bytes()).to_string()
    }

    /// Returns true if no field was altered.
    fn is_whole(&self) -> bool {
        match self.v {
            1 => self.title.is_none(),
            VERSION => self.title.as_ref() == Some(&self.hash()),
            _ => false,
        }
    }
}

/// A snapshot that was read.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) head: Head,
    pub(super) at: Timestamp,
    pub(super) image: Vec<u8>,
}

impl Snapshot {
    /// Reads the snapshot up to event `sequence`; `None` if it is not complete.
    pub(super) fn read(files: &Files, sequence: u64) -> Result<Option<Snapshot>, JournalError> {
        let mut image = files.read(&snapshot(sequence))?;
        let Some(end) = memchr::memchr(b'\n', &image) else { return Ok(None) };
        // The image may be most of the memory of an engine that starts, so it is not copied.
        let title: Vec<u8> = image.drain(..=end).collect();
        let Ok(title) = serde_json::from_slice::<Title>(&title) else { return Ok(None) };
        let hash = Hash::from_hex(title.h.as_bytes());
        let is_whole = title.is_whole() && title.sequence == sequence && title.state == Hash::of(&image).to_string();
        let Some(hash) = hash.filter(|_| is_whole) else { return Ok(None) };
        Ok(Some(Snapshot { head: Head { sequence, hash }, at: title.at, image }))
    }

    fn write(files: &Files, state: &State, head: Head, at: Timestamp) -> Result<usize, JournalError> {
        let name = snapshot(head.sequence);
        let failed = |why: serde_json::Error| files.failed(&name, "writing")(why.into());
        let image = state.to_image().map_err(failed)?;
        let (h, state) = (head.hash.to_string(), Hash::of(&image).to_string());
        let title = Title::new(head.sequence, at, h, state);
        let mut content = serde_json::to_vec(&title).map_err(failed)?;
        content.push(b'\n');
        content.extend(image);
        files.write_whole(&name, &content)?;
        Ok(content.len())
    }
}

/// Writes a new snapshot of the finished segments, which are those before `open`. Keeps the previous snapshot, and the
/// one before the first segment if older segments were moved away. Removes all other snapshots. Returns the size of the
/// new snapshot; `None` if there was nothing new.
pub(super) fn compact(files: &Files, open: u64) -> Result<Option<usize>, JournalError> {
    let listing = files.list()?;
    let mut state = State::new(Settings::default());
    let (mut head, mut at) = (Head { sequence: 0, hash: Hash::START }, Timestamp::from_millis(0));
    for sequence in listing.snapshots.iter().rev() {
        let snapshot =
            Snapshot::read(files, *sequence)?.and_then(|read| Some((State::from_image(&read.image).ok()?, read)));
        if let Some((known, snapshot)) = snapshot {
            (state, head, at) = (known, snapshot.head, snapshot.at);
            break;
        }
    }
    let before = head;
    while head.sequence + 1 < open {
        let first = head.sequence + 1;
        let read = read::segment(&files.read(&segment(first))?, head);
        if let Some(fault) = read.fault {
            let file = files.path(&segment(first));
            return Err(JournalError::Damaged { file, line: fault.line, sequence: fault.sequence, what: fault.what });
        }
        for line in &read.lines {
            state.apply(&line.recorded.event);
            at = at.max(line.recorded.at);
        }
        if read.head == head {
            break;
        }
        head = read.head;
    }
    if head == before {
        return Ok(None);
    }
    let size = Snapshot::write(files, &state, head, at)?;
    let is_needed = |old: &u64| listing.segments.first() == Some(&(old + 1));
    for old in listing.snapshots.iter().rev().skip(1).filter(|old| !is_needed(old)) {
        let name = snapshot(*old);
        files.disk.remove(&files.path(&name)).map_err(files.failed(&name, "removing"))?;
    }
    Ok(Some(size))
}
