//! Snapshots: the state after some event, so that earlier events need not be read again.
//!
//! A snapshot is built from the previous snapshot and the steps since then, on a thread of its own. Writers do not wait
//! for it. If the state is small, it is kept for the next snapshot. Otherwise the previous snapshot and the segments
//! since then are read.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Read, Write as _},
    sync::Arc,
    thread,
};

use serde::{Deserialize, Serialize};

use super::{
    JournalError,
    files::{Files, segment, snapshot},
    hash_chain::{Hash, Head},
    read,
};
use crate::{
    kernel::{ReplayedState, State},
    model::Timestamp,
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

/// The number of bytes of a snapshot that are read at once, where the state is not needed.
const PART: usize = 64 << 10;

/// The longest title, in bytes. A longer first line is none.
const MAX_TITLE_BYTES: u64 = 1 << 10;

/// A snapshot whose title is complete.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) head: Head,
    at: Timestamp,
    /// The hash that the image must have.
    state: Hash,
}

/// A state that was read from a complete snapshot.
#[derive(Debug)]
pub(super) struct RestoredState {
    pub(super) head: Head,
    pub(super) at: Timestamp,
    pub(super) state: ReplayedState,
    /// The number of bytes of the snapshot.
    pub(super) size: u64,
}

impl Snapshot {
    /// Returns the snapshot that the first line of a file describes; `None` if that is no complete title.
    fn of_title(line: &[u8], sequence: u64) -> Option<Snapshot> {
        let title = serde_json::from_slice::<Title>(line).ok()?;
        let is_whole = title.is_written_as(line) && title.is_whole() && title.sequence == sequence;
        let (hash, state) = (Hash::from_hex(title.h.as_bytes())?, Hash::from_hex(title.state.as_bytes())?);
        is_whole.then_some(Snapshot { head: Head { sequence, hash }, at: title.at, state })
    }

    /// Opens the snapshot up to event `sequence`, and returns it with its image; `None` if the title is not complete.
    fn open(files: &Files, sequence: u64) -> io::Result<Option<(Snapshot, impl BufRead + use<>)>> {
        let mut image = BufReader::with_capacity(PART, files.disk.open(&files.path(&snapshot(sequence)))?);
        let mut title = Vec::new();
        image.by_ref().take(MAX_TITLE_BYTES).read_until(b'\n', &mut title)?;
        Ok(Snapshot::of_title(&title, sequence).map(|snapshot| (snapshot, image)))
    }

    /// Reads the snapshot up to event `sequence` in parts, without its state; `None` if it is not complete.
    pub(super) fn read(files: &Files, sequence: u64) -> Result<Option<Snapshot>, JournalError> {
        let failed = files.failed(&snapshot(sequence), "reading");
        let Some((snapshot, image)) = Snapshot::open(files, sequence).map_err(&failed)? else { return Ok(None) };
        let hash = Hash::of_rest(image).map_err(&failed)?;
        Ok((hash == snapshot.state).then_some(snapshot))
    }

    /// Reads the state after event `sequence`; `None` if the snapshot is not complete. The inner error is that of a
    /// complete snapshot in a form that this version does not know.
    pub(super) fn restore(
        files: &Files,
        sequence: u64,
    ) -> Result<Option<Result<RestoredState, serde_json::Error>>, JournalError> {
        let content = files.read(&snapshot(sequence))?;
        let title = memchr::memchr(b'\n', &content).map_or(0, |end| end + 1);
        let (title, image) = content.split_at_checked(title).unwrap_or_default();
        let Some(Snapshot { head, at, state: hash }) = Snapshot::of_title(title, sequence) else { return Ok(None) };
        let (is_whole, read) = thread::scope(|scope| {
            // Both take long for a large state.
            let hashing = thread::Builder::new().spawn_scoped(scope, || Hash::of(image));
            let read = State::from_image(image);
            let found = hashing.ok().and_then(|hashing| hashing.join().ok()).unwrap_or_else(|| Hash::of(image));
            (found == hash, read)
        });
        if !is_whole {
            return Ok(None);
        }
        let size = u64::try_from(image.len()).unwrap_or(u64::MAX);
        // The image is as large as what was read from it, and the indexes need room, too.
        drop(content);
        Ok(Some(read.map(|read| RestoredState { head, at, state: read.link(), size })))
    }

    /// Returns true if the image of the snapshot up to event `sequence` is that of `state`. Neither is held in memory.
    pub(super) fn has_image_of(files: &Files, sequence: u64, state: &ReplayedState) -> Result<bool, JournalError> {
        let failed = files.failed(&snapshot(sequence), "reading");
        let Some((_, image)) = Snapshot::open(files, sequence).map_err(&failed)? else { return Ok(false) };
        let mut comparison =
            BufWriter::with_capacity(PART, Comparison { file: image, part: Vec::new(), differs: false });
        let written = serde_json::to_writer(&mut comparison, state).map_err(io::Error::from);
        let compared = written.and_then(|()| comparison.flush());
        let (mut comparison, _) = comparison.into_parts();
        if comparison.differs {
            return Ok(false);
        }
        compared.map_err(&failed)?;
        comparison.file.fill_buf().map(<[u8]>::is_empty).map_err(&failed)
    }

    fn write(files: &Files, state: &ReplayedState, head: Head, at: Timestamp) -> Result<usize, JournalError> {
        let name = snapshot(head.sequence);
        let failed = |why: serde_json::Error| files.failed(&name, "writing")(why.into());
        let image = serde_json::to_vec(state).map_err(failed)?;
        let (h, state) = (head.hash.to_string(), Hash::of(&image).to_string());
        let title = Title::new(head.sequence, at, h, state);
        let mut content = serde_json::to_vec(&title).map_err(failed)?;
        content.push(b'\n');
        content.extend(image);
        files.write_whole(&name, &content)?;
        Ok(content.len())
    }
}

/// A writer that compares what is written with a file.
struct Comparison<R> {
    file: R,
    /// The part of the file that is compared.
    part: Vec<u8>,
    differs: bool,
}

impl<R: Read> io::Write for Comparison<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.resize(bytes.len(), 0);
        match self.file.read_exact(&mut self.part) {
            Ok(()) => self.differs |= self.part != bytes,
            Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => self.differs = true,
            Err(why) => return Err(why),
        }
        if self.differs { Err(io::Error::other("the file differs")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
    state: ReplayedState,
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
        let mut base = Base { state: ReplayedState::new(), head, at };
        for sequence in files.list()?.snapshots.iter().rev() {
            if let Some(Ok(RestoredState { head, at, state, .. })) = Snapshot::restore(files, *sequence)? {
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
