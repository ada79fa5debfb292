//! Snapshots: the state after some event, so that earlier events need not be read again.
//!
//! A snapshot is built from the previous snapshot and the steps since then, on a thread of its own. Writers do not wait
//! for it. If the state is small, it is kept for the next snapshot. Otherwise the previous snapshot and the segments
//! since then are read.

use std::sync::Arc;

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
    ports::Batch,
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

    /// Returns true if `line` is this title as it was written. Several texts can have one meaning.
    fn is_written_as(&self, line: &[u8]) -> bool {
        let written = serde_json::to_vec(self).ok();
        line.strip_suffix(b"\n").is_some_and(|line| written.as_deref() == Some(line))
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
        let told: Vec<u8> = image.drain(..=end).collect();
        let Ok(title) = serde_json::from_slice::<Title>(&told) else { return Ok(None) };
        if !title.is_written_as(&told) {
            return Ok(None);
        }
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

/// The segments that no snapshot covers. Their size decides when the next snapshot is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Covered {
    /// The end of the finished segments.
    pub(super) finished: Head,
    /// The size of the newest snapshot.
    pub(super) snapshot: u64,
    /// The number of bytes in finished segments that it does not cover.
    pub(super) loose: u64,
}

/// The state at the end of the last snapshot. The next one needs only the batches since then, and not their segments.
#[derive(Debug)]
pub(super) struct Base {
    state: State,
    head: Head,
    at: Timestamp,
}

impl Base {
    /// Returns the state at `head`, if `batches` are all steps after this one up to there.
    fn after(mut self, batches: &[Arc<Batch>], head: Head) -> Option<Base> {
        for batch in batches {
            if batch.first != self.head.sequence + 1 {
                return None;
            }
            batch.events.iter().for_each(|event| self.state.apply(event));
            (self.head.sequence, self.at) = (batch.last(), self.at.max(batch.at));
        }
        (self.head.sequence == head.sequence).then_some(Base { head, ..self })
    }

    /// Reads the newest complete snapshot, and the finished segments after it, which are those before `open`. Returns
    /// none if there is nothing after it.
    fn read(files: &Files, open: u64) -> Result<Option<Base>, JournalError> {
        let (head, at) = (Head { sequence: 0, hash: Hash::START }, Timestamp::from_millis(0));
        let mut base = Base { state: State::new(Settings::default()), head, at };
        for sequence in files.list()?.snapshots.iter().rev() {
            if let Some(Snapshot { head, at, image }) = Snapshot::read(files, *sequence)?
                && let Ok(state) = State::from_image(image)
            {
                base = Base { state, head, at };
                break;
            }
        }
        let before = base.head;
        while base.head.sequence + 1 < open {
            let first = base.head.sequence + 1;
            let read = read::segment(&files.read(&segment(first))?, base.head);
            if let Some(fault) = read.fault {
                let (file, sequence) = (files.path(&segment(first)), fault.sequence);
                return Err(JournalError::Damaged { file, line: fault.line, sequence, what: fault.what });
            }
            for line in &read.lines {
                base.state.apply(&line.recorded.event);
                base.at = base.at.max(line.recorded.at);
            }
            if read.head == base.head {
                break;
            }
            base.head = read.head;
        }
        Ok((base.head != before).then_some(base))
    }
}

/// Writes a new snapshot up to `end`, the end of the finished segments. Keeps the previous snapshot, and the one before
/// the first segment if older segments were moved away. Removes all other snapshots. `base` and `batches` replace the
/// reading of segments, if they lead to `end`. Returns the size of the new snapshot, and the base of the next one; none
/// if there was nothing new.
pub(super) fn compact(
    files: &Files,
    end: Head,
    base: Option<Base>,
    batches: &[Arc<Batch>],
) -> Result<Option<(usize, Base)>, JournalError> {
    let known = base.and_then(|base| base.after(batches, end));
    let Some(base) = known.map_or_else(|| Base::read(files, end.sequence + 1), |base| Ok(Some(base)))? else {
        return Ok(None);
    };
    let size = Snapshot::write(files, &base.state, base.head, base.at)?;
    let listing = files.list()?;
    let is_needed = |old: &u64| listing.segments.first() == Some(&(old + 1));
    for old in listing.snapshots.iter().rev().skip(2).filter(|old| !is_needed(old)) {
        let name = snapshot(*old);
        files.disk.remove(&files.path(&name)).map_err(files.failed(&name, "removing"))?;
    }
    Ok(Some((size, base)))
}
