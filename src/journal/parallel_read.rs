//! The reading of the segments of a long trail on several threads.
//!
//! Each segment is read as if the one before it ended as its last line says. Whoever uses the segments in order finds
//! out if that is true, and reads a segment again if it is not.

use std::{
    num::NonZero,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
};

use super::{
    JournalError,
    files::{Files, segment},
    hash_chain::Head,
    line,
    read::{self, Segment},
};

/// The most threads. Each of them holds a segment with its events.
const MOST: usize = 4;

/// The fewest segments that are worth threads.
const FEWEST: usize = 3;

/// The segments that threads read, in order.
#[derive(Debug, Default)]
pub(super) struct ParallelRead {
    readers: Vec<Receiver<Result<Guess, JournalError>>>,
    next: usize,
}

/// A segment, and the end of the one before it as that one says.
#[derive(Debug)]
struct Guess {
    after: Option<Head>,
    read: Segment,
}

impl ParallelRead {
    /// Begins to read `segments`, the first of which follows `head`.
    pub(super) fn start(files: &Files, segments: &[u64], head: Head) -> Result<ParallelRead, JournalError> {
        if segments.len() < FEWEST {
            return Ok(ParallelRead::default());
        }
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
        let befores = std::iter::once(None).chain(segments.iter().copied().map(Some));
        let works: Vec<(Option<u64>, u64)> = befores.zip(segments.iter().copied()).collect();
        let readers = (0..threads).map(|number| {
            let works: Vec<_> = works.iter().skip(number).step_by(threads).copied().collect();
            let (own, (send, receive)) = (files.clone(), mpsc::sync_channel(0));
            let read = move || read_in_order(&own, &works, head, &send);
            let thread = thread::Builder::new().name("bestow-reader".to_owned()).spawn(read);
            thread.map(|_| receive).map_err(|why| JournalError::disk(&files.directory, "starting a thread for", &why))
        });
        Ok(ParallelRead { readers: readers.collect::<Result<_, _>>()?, next: 0 })
    }

    /// Returns the next segment; none if it was not read as the one that follows `head`.
    pub(super) fn next(&mut self, head: Head) -> Result<Option<Segment>, JournalError> {
        let number = self.next.checked_rem(self.readers.len());
        self.next += 1;
        let Some(reader) = number.and_then(|number| self.readers.get(number)) else { return Ok(None) };
        let Ok(guess) = reader.recv() else { return Ok(None) };
        let Guess { after, read } = guess?;
        Ok((after == Some(head)).then_some(read))
    }
}

/// Reads segments, each with the one before it, until nobody wants them any more.
fn read_in_order(
    files: &Files,
    works: &[(Option<u64>, u64)],
    head: Head,
    send: &SyncSender<Result<Guess, JournalError>>,
) {
    for (before, first) in works {
        if send.send(guess(files, *before, *first, head)).is_err() {
            return;
        }
    }
}

fn guess(files: &Files, before: Option<u64>, first: u64, head: Head) -> Result<Guess, JournalError> {
    let after = match before {
        None => Some(head),
        Some(before) => {
            let hash = line::last_hash(&files.read(&segment(before))?);
            hash.zip(first.checked_sub(1)).map(|(hash, sequence)| Head { sequence, hash })
        }
    };
    let content = files.read(&segment(first))?;
    Ok(Guess { after, read: read::segment(&content, after.unwrap_or(head)) })
}
