//! One line of the journal: one event with its number, its time, and the hash that chains it.

use serde::{Deserialize, Serialize};

use super::hash_chain::{Hash, Head};
use crate::{
    model::{Event, Means, Recorded, Timestamp},
    ports::Batch,
};

/// The version of the line format.
const VERSION: u8 = 1;

/// The text between the body of a line and its hash. After the hash, `AFTER_HASH` ends the line.
const BEFORE_HASH: &[u8] = b",\"h\":\"";
pub(super) const AFTER_HASH: &[u8] = b"\"}";

/// The beginning of every line.
pub(super) const BEGIN: &[u8] = b"{\"v\":";

#[derive(Serialize)]
struct Written<'a> {
    v: u8,
    sequence: u64,
    at: Timestamp,
    /// The number of the first event of the group that was written and synced together with this one.
    group: u64,
    /// The number of events of the same step that follow. Either all events of a step count, or none.
    #[serde(skip_serializing_if = "is_none")]
    left: usize,
    /// The means by which the agent acted that caused the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'a str>,
    event: &'a Event,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(left: &usize) -> bool {
    *left == 0
}

#[derive(Deserialize)]
struct Read {
    v: u8,
    sequence: u64,
    at: Timestamp,
    #[serde(default)]
    left: usize,
    #[serde(default)]
    via: Option<Means>,
    event: Event,
}

/// A line that was read.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) recorded: Recorded,
    /// The number of events of the same step that follow.
    pub(super) left: usize,
    pub(super) hash: Hash,
}

impl Line {
    /// Returns the end of the chain after this line.
    pub(super) fn head(&self) -> Head {
        Head { sequence: self.recorded.sequence, hash: self.hash }
    }
}

/// Appends the lines of `batch` to `into`, chained to `head`. Returns the new end of the chain.
pub(super) fn write(into: &mut Vec<u8>, batch: &Batch, group: u64, mut head: Hash) -> Result<Hash, serde_json::Error> {
    let after = (0..batch.events.len()).rev();
    for ((sequence, event), left) in (batch.first..).zip(&batch.events).zip(after) {
        let start = into.len();
        let via = batch.via_of(event).map(|via| &**via);
        serde_json::to_writer(&mut *into, &Written { v: VERSION, sequence, at: batch.at, group, left, via, event })?;
        into.pop();
        head = head.then(into.get(start..).unwrap_or_default());
        into.extend(BEFORE_HASH);
        head.write_hex(into);
        into.extend(AFTER_HASH);
        into.push(b'\n');
    }
    Ok(head)
}

/// The reason why a line cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoLine {
    /// The line is incomplete or altered.
    Torn,
    /// The line was written by another version.
    Version(u8),
    /// The line is complete, but this version does not know its content.
    Unreadable(String),
}

/// Reads `line`, which has no line break. Returns it with the hash that it should have after `before`.
pub(super) fn read(line: &[u8], before: Hash) -> Result<(Line, Hash), NoLine> {
    let (body, hash) = parts(line).ok_or(NoLine::Torn)?;
    let chained = before.then(body);
    // A text whose encoding is known is read faster.
    let parsed = str::from_utf8(line).map_or_else(|_| serde_json::from_slice(line), serde_json::from_str);
    let read: Read = match parsed {
        Ok(read) => read,
        Err(_) if chained != hash => return Err(NoLine::Torn),
        Err(why) => return Err(NoLine::Unreadable(why.to_string())),
    };
    if read.v != VERSION {
        return Err(NoLine::Version(read.v));
    }
    let recorded = Recorded { sequence: read.sequence, at: read.at, via: read.via, event: read.event };
    Ok((Line { recorded, left: read.left, hash }, chained))
}

fn parts(line: &[u8]) -> Option<(&[u8], Hash)> {
    let rest = line.strip_suffix(AFTER_HASH)?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    Some((rest.strip_suffix(BEFORE_HASH)?, Hash::from_hex(hash)?))
}

/// Returns the hash of the last line of a segment as that line says; `None` if the segment does not end with a line.
pub(super) fn last_hash(segment: &[u8]) -> Option<Hash> {
    let lines = segment.strip_suffix(b"\n")?;
    let begin = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
    parts(lines.get(begin..)?).map(|(_, hash)| hash)
}

/// Returns the part of a segment after the line with the number and the hash of `head`; `None` if it has no such line.
pub(super) fn after(segment: &[u8], head: Head) -> Option<&[u8]> {
    let begin = format!("{{\"v\":{VERSION},\"sequence\":{},", head.sequence);
    let mut rest = segment;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (line, after) = rest.split_at_checked(end + 1)?;
        if line.starts_with(begin.as_bytes()) {
            let (_, hash) = parts(line.strip_suffix(b"\n")?)?;
            return (hash == head.hash).then_some(after);
        }
        rest = after;
    }
    None
}

/// Returns the group of a line without checking its place in the chain; `None` if it is not a complete line.
pub(super) fn group_of(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Group {
        group: u64,
    }
    parts(line)?;
    serde_json::from_slice::<Group>(line).ok().map(|read| read.group)
}
