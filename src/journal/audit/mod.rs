//! The reading of the audit trail: events, deciders and their means, and the check that the trail is unaltered.
//!
//! These functions take no lock on the directory, so a running engine does not hinder them. A record that the engine is
//! writing at that moment is not visible yet.

mod compare;
mod ended;
mod filter;
mod record;
mod rotate;
mod truncate;
mod verify;

use std::{path::Path, sync::Arc};

use super::{
    JournalError,
    files::{Files, segment},
    hash_chain::{Hash, Head},
    line,
    lock::{self, LastEnd, Promised},
    open,
    parallel_read::ParallelRead,
    read::{self, Fault},
    snapshot::Snapshot,
};
use crate::ports::{Disk, RealDisk};

pub use self::{
    ended::resolution,
    filter::Filter,
    record::Record,
    rotate::{Rotated, rotate},
    truncate::{Cut, cut},
    verify::{Verified, verify, verify_on},
};

/// Returns every record of the trail in `directory`, oldest first. It reads one segment at a time.
///
/// # Errors
///
/// An error if the directory cannot be read. Damage ends the records with [`JournalError::Damaged`].
pub fn records(
    directory: impl AsRef<Path>,
) -> Result<impl Iterator<Item = Result<Record, JournalError>>, JournalError> {
    Ok(Trail::open(Arc::new(RealDisk), directory.as_ref())?.records())
}

/// Returns the records after event `sequence`, oldest first. It reads only the segments that hold them, so it says
/// nothing about older records, and a record names no policy file that came into force before them.
///
/// # Errors
///
/// The errors of [`records`].
pub fn records_after(
    directory: impl AsRef<Path>,
    sequence: u64,
) -> Result<impl Iterator<Item = Result<Record, JournalError>>, JournalError> {
    let segments = Segments::of(Arc::new(RealDisk), directory.as_ref())?.after(sequence)?;
    let records = Trail::of(segments)?.records();
    let is_wanted = move |record: &Result<Record, _>| !record.as_ref().is_ok_and(|it| it.recorded.sequence <= sequence);
    Ok(records.filter(is_wanted))
}

/// Returns the end of the trail. It reads the newest snapshot and the records after it, so it takes less time than
/// [`verify`], and says nothing about older records.
///
/// # Errors
///
/// [`JournalError::NotState`] if there is no journal; [`JournalError::Damaged`], [`JournalError::Missing`] or
/// [`JournalError::OtherEnd`] if these records are wrong; [`JournalError::Disk`] for every error of the disk.
pub fn head(directory: impl AsRef<Path>) -> Result<Head, JournalError> {
    let files = Files::at(Arc::new(RealDisk), directory.as_ref())?;
    if files.list()?.segments.is_empty() {
        return Err(JournalError::NotState { directory: files.directory });
    }
    Ok(open::look(&files)?.1)
}

/// The segments of a directory, read one after the other.
#[derive(Debug)]
struct Trail {
    files: Files,
    /// The segments that are still to be used.
    segments: std::vec::IntoIter<u64>,
    /// The segments that were read before they are used.
    reading: ParallelRead,
    /// The end of the chain so far, which the next segment must continue.
    head: Head,
    /// A torn end that was never acknowledged.
    torn: Option<Fault>,
    /// The end of the last process.
    last_end: LastEnd,
    promised: Promised,
}

/// The segments of a directory, before they are read.
struct Segments {
    files: Files,
    /// The numbers of the first events.
    firsts: Vec<u64>,
    /// The end of the chain before them.
    head: Head,
    last_end: LastEnd,
}

impl Segments {
    fn of(disk: Arc<dyn Disk>, directory: &Path) -> Result<Segments, JournalError> {
        let files = Files::at(disk, directory)?;
        let last_end = lock::last_end(&files)?;
        let listing = files.list()?;
        if listing.segments.is_empty() {
            return Err(JournalError::NotState { directory: directory.to_owned() });
        }
        listing.refuse_lost_end(&files)?;
        let mut head = Head { sequence: 0, hash: Hash::START };
        // Older segments may have been moved away. Then the chain begins at the snapshot before the first segment.
        if let Some(before) =
            listing.segments.first().and_then(|first| first.checked_sub(1)).filter(|before| *before > 0)
            && listing.snapshots.contains(&before)
            && let Some(snapshot) = Snapshot::read(&files, before)?
        {
            head = snapshot.head;
        }
        Ok(Segments { files, firsts: listing.segments, head, last_end })
    }

    /// Leaves only the segments with the events after `sequence`. The segment before them says how it ended.
    fn after(mut self, sequence: u64) -> Result<Segments, JournalError> {
        let begin = self.firsts.iter().rposition(|first| *first <= sequence.saturating_add(1)).unwrap_or_default();
        let wanted = self.firsts.split_off(begin);
        if let (Some(before), Some(first)) = (self.firsts.last(), wanted.first()) {
            let end = line::last_hash(&self.files.read(&segment(*before))?);
            let end = end.map(|hash| Head { sequence: first.saturating_sub(1), hash });
            self.head = end.unwrap_or(self.head);
        }
        Ok(Segments { firsts: wanted, ..self })
    }
}

impl Trail {
    fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<Trail, JournalError> {
        Trail::of(Segments::of(disk, directory)?)
    }

    fn of(segments: Segments) -> Result<Trail, JournalError> {
        let Segments { files, firsts, head, last_end } = segments;
        let reading = ParallelRead::start(&files, &firsts, head)?;
        let promised = Promised::by(last_end);
        Ok(Trail { files, segments: firsts.into_iter(), reading, head, torn: None, last_end, promised })
    }

    /// Returns the records, up to the first damage.
    fn records(mut self) -> impl Iterator<Item = Result<Record, JournalError>> {
        let (mut policy, mut waiting) = (None, Vec::new().into_iter());
        std::iter::from_fn(move || {
            loop {
                if let Some(line) = waiting.next() {
                    return Some(Ok(Record::new(line, &mut policy)));
                }
                match self.next_segment() {
                    Ok(Some(lines)) => waiting = lines.into_iter(),
                    Ok(None) => return None,
                    Err(why) => return Some(Err(why)),
                }
            }
        })
    }

    fn next_segment(&mut self) -> Result<Option<Vec<line::Line>>, JournalError> {
        let Some(first) = self.segments.next() else {
            self.refuse_other_end()?;
            return Ok(None);
        };
        let wanted = self.head.sequence + 1;
        if first != wanted {
            let what = if wanted < first {
                format!("events {wanted} to {}", first - 1)
            } else {
                format!("the end of the segment before `{}`", segment(first))
            };
            return Err(JournalError::Missing { directory: self.files.directory.clone(), what, next: None });
        }
        let read = match self.reading.next(self.head)? {
            Some(read) => read,
            None => read::segment(&self.files.read(&segment(first))?, self.head),
        };
        self.head = read.head;
        if let Some(fault) = read.fault {
            let may_be_torn = self.segments.len() == 0 && !(self.last_end.is_orderly() && self.is_unused()?);
            if !fault.is_torn || !may_be_torn {
                return Err(self.damaged(first, fault));
            }
            self.torn = Some(fault);
        }
        read.lines.iter().for_each(|line| self.promised.compare(line.head()));
        Ok(Some(read.lines))
    }

    /// Returns true if no process has begun to use the directory since the trail was opened.
    fn is_unused(&self) -> Result<bool, JournalError> {
        Ok(lock::last_end(&self.files)? == self.last_end)
    }

    /// Refuses a trail that ends elsewhere than the last process said.
    fn refuse_other_end(&self) -> Result<(), JournalError> {
        let kept = self.promised.is_kept(&self.files, self.head);
        if kept.is_err() && self.last_end.is_orderly() && !self.is_unused()? { Ok(()) } else { kept }
    }

    fn damaged(&self, first: u64, fault: Fault) -> JournalError {
        let file = self.files.path(&segment(first));
        JournalError::Damaged { file, line: fault.line, sequence: fault.sequence, what: fault.what }
    }
}
