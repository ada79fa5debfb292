//! The reading of a segment line by line. It separates the valid part from a torn end and from damage.

use super::{
    hash_chain::{Hash, Head},
    line::{self, Line, NoLine},
};

/// A mistake in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The line, counted from 1.
    pub(super) line: u64,
    /// The event number that the line should have.
    pub(super) sequence: u64,
    pub(super) what: String,
    /// True if the line may be an incomplete last write before a process ended. Such a write was never acknowledged.
    pub(super) is_torn: bool,
}

/// The reason why a line does not continue the chain.
enum Wrong {
    /// The line is incomplete, as after a crash.
    Torn,
    /// The line is complete, but wrong.
    Damaged(String),
}

/// The valid part of a segment.
#[derive(Debug)]
pub(super) struct Segment {
    /// The events of complete steps.
    pub(super) lines: Vec<Line>,
    /// The number of bytes of these lines.
    pub(super) bytes: usize,
    /// The end of the chain after these lines.
    pub(super) head: Head,
    /// The first mistake after these lines, if there is one.
    pub(super) fault: Option<Fault>,
}

/// Reads a segment that follows `head`.
pub(super) fn segment(content: &[u8], head: Head) -> Segment {
    let mut segment = Segment { lines: Vec::new(), bytes: 0, head, fault: None };
    let mut chain = head;
    let (mut at, mut number, mut whole) = (0, 0, 0);
    let mut rest = content;
    while !rest.is_empty() {
        number += 1;
        let (line, after) = match memchr::memchr(b'\n', rest) {
            Some(end) => (rest.get(..end).unwrap_or_default(), rest.get(end + 1..).unwrap_or_default()),
            None => (rest, &[][..]),
        };
        let ended = line.len() < rest.len();
        let sequence = chain.sequence + 1;
        match next(line, ended, sequence, chain.hash) {
            Ok(line) => {
                chain = Head { sequence, hash: line.hash };
                at = content.len() - after.len();
                let is_last_of_step = line.left == 0;
                segment.lines.push(line);
                if is_last_of_step {
                    (segment.bytes, segment.head, whole) = (at, chain, segment.lines.len());
                }
            }
            Err(wrong) => {
                segment.fault = Some(fault(wrong, number, chain, rest));
                break;
            }
        }
        rest = after;
    }
    segment.lines.truncate(whole);
    if segment.fault.is_none() && segment.bytes < at {
        let what = "the rest of a step is missing".to_owned();
        segment.fault = Some(Fault { line: number, sequence: chain.sequence + 1, what, is_torn: true });
    }
    segment
}

/// Describes the mistake at the beginning of `rest`, which follows `chain`.
fn fault(wrong: Wrong, line: u64, chain: Head, rest: &[u8]) -> Fault {
    let sequence = chain.sequence + 1;
    match wrong {
        Wrong::Damaged(what) => Fault { line, sequence, what, is_torn: false },
        Wrong::Torn => {
            let is_torn = !was_synced(rest, sequence) && is_cut_short(rest, chain);
            Fault { line, sequence, what: "it is not a whole record".to_owned(), is_torn }
        }
    }
}

/// Returns true if `rest` has a record of a later group. One group is written and synced together, so such a record
/// proves that the record with this number was synced.
fn was_synced(rest: &[u8], sequence: u64) -> bool {
    let lines = rest.split(|byte| *byte == b'\n').flat_map(records_in);
    lines.filter_map(line::group_of).any(|group| sequence < group)
}

/// Returns the parts of a line that may be records. If the break between two records was altered, they are in one line.
fn records_in(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let begins = line.windows(line::BEGIN.len()).enumerate().filter(|(_, part)| *part == line::BEGIN);
    std::iter::once(line).chain(begins.filter_map(move |(begin, _)| line.get(begin..).filter(|_| 0 < begin)))
}

/// Returns true if `rest` may be what an interrupted write leaves: its beginning, or parts of it with holes between
/// them. Anything else was altered.
fn is_cut_short(rest: &[u8], chain: Head) -> bool {
    has_hole(rest) || (!rest.contains(&b'\n') && !has_more_than_a_record(rest, chain))
}

/// Returns true if a part of `rest` never reached the disk. It reads as zeros there, from the place where the write
/// began or up to the end of a sector. A single zero elsewhere is an altered byte.
fn has_hole(rest: &[u8]) -> bool {
    rest.first() == Some(&0) || rest.last() == Some(&0) || rest.windows(2).any(|pair| pair == [0, 0])
}

/// Returns true if the line begins with the whole record that follows `chain`, and goes on: its end was altered.
fn has_more_than_a_record(line: &[u8], chain: Head) -> bool {
    let ends = line.windows(line::AFTER_HASH.len()).enumerate().filter(|(_, part)| *part == line::AFTER_HASH);
    let mut begins = ends.filter_map(|(place, _)| line.get(..place + line::AFTER_HASH.len()));
    begins.any(|begin| {
        begin.len() < line.len() && line::read(begin, chain.hash).is_ok_and(|(line, hash)| line.hash == hash)
    })
}

fn next(line: &[u8], ended: bool, sequence: u64, before: Hash) -> Result<Line, Wrong> {
    let (line, chained) = line::read(line, before).map_err(|why| match why {
        NoLine::Torn => Wrong::Torn,
        NoLine::Version(version) => Wrong::Damaged(format!("it was written by another version (form {version})")),
        NoLine::Unreadable(why) => Wrong::Damaged(format!("this version cannot read it: {why}")),
    })?;
    let found = line.recorded.sequence;
    if sequence < found {
        return Err(Wrong::Damaged(format!("events {sequence} to {} are missing before it", found - 1)));
    }
    if found < sequence {
        return Err(Wrong::Damaged(format!("event {found} is at this position: it was moved or repeated")));
    }
    if line.hash != chained {
        return Err(Wrong::Damaged(
            "it was altered: its hash does not match its content and the previous record".to_owned(),
        ));
    }
    if ended { Ok(line) } else { Err(Wrong::Torn) }
}
