//! A segment, read line by line: where it is whole, where it is torn, and where it is damaged.

use super::{
    chain::{Hash, Head},
    line::{self, Line, NoLine},
};

/// Something wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// From 1.
    pub(super) line: u64,
    /// The number that should be there.
    pub(super) sequence: u64,
    pub(super) what: String,
    /// Whether this may be the end of what was being written when a process ended: nobody was told of that.
    pub(super) is_torn: bool,
}

/// Why a line does not follow the one before.
enum Wrong {
    /// It is not whole, as after a crash.
    Torn,
    /// It is whole, and wrong.
    Damaged(String),
}

/// A segment as far as it is whole.
#[derive(Debug)]
pub(super) struct Segment {
    /// The events of whole steps.
    pub(super) lines: Vec<Line>,
    /// How many bytes those have.
    pub(super) bytes: usize,
    /// What the chain ends with there.
    pub(super) head: Head,
    /// What follows, if something does.
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
        let (line, after) = match rest.iter().position(|byte| *byte == b'\n') {
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
                segment.fault = Some(fault(wrong, number, sequence, after));
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

fn fault(wrong: Wrong, line: u64, sequence: u64, after: &[u8]) -> Fault {
    match wrong {
        Wrong::Damaged(what) => Fault { line, sequence, what, is_torn: false },
        Wrong::Torn => {
            // What was written together was synced together: a line of a later group means that this one was.
            let mut later = after.split(|byte| *byte == b'\n').filter_map(line::group_of);
            let is_torn = !later.any(|group| sequence < group);
            Fault { line, sequence, what: "it is not a whole record".to_owned(), is_torn }
        }
    }
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
        return Err(Wrong::Damaged(format!("event {found} stands there: it was moved or repeated")));
    }
    if line.hash != chained {
        return Err(Wrong::Damaged(
            "it was altered: its hash does not follow from it and the record before".to_owned(),
        ));
    }
    if ended { Ok(line) } else { Err(Wrong::Torn) }
}
