//! One line: one event, with its place, its time, and the hash that chains it.

use serde::{Deserialize, Serialize};

use super::chain::Hash;
use crate::{
    model::{Event, Recorded, Timestamp},
    seam::Batch,
};

/// The form of a line. Another number is another form.
const VERSION: u8 = 1;

/// What stands between the rest of a line and its hash; the hash, a quotation mark and a brace end it.
const BEFORE_HASH: &[u8] = b",\"h\":\"";
const AFTER_HASH: &[u8] = b"\"}";

#[derive(Serialize)]
struct Written<'a> {
    v: u8,
    sequence: u64,
    at: Timestamp,
    /// The first event of what was written, and synced, together with this one.
    group: u64,
    /// How many events of the same step follow; all of them count, or none.
    #[serde(skip_serializing_if = "is_none")]
    left: usize,
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
    event: Event,
}

/// A line as it was read.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) recorded: Recorded,
    /// How many events of the same step follow.
    pub(super) left: usize,
    pub(super) hash: Hash,
}

/// Writes the lines of `batch` behind `into`, chained to `head`, and says what the chain ends with then.
pub(super) fn write(into: &mut Vec<u8>, batch: &Batch, group: u64, mut head: Hash) -> Result<Hash, serde_json::Error> {
    let after = (0..batch.events.len()).rev();
    for ((sequence, event), left) in (batch.first..).zip(&batch.events).zip(after) {
        let start = into.len();
        serde_json::to_writer(&mut *into, &Written { v: VERSION, sequence, at: batch.at, group, left, event })?;
        into.pop();
        head = head.then(into.get(start..).unwrap_or_default());
        into.extend(BEFORE_HASH);
        head.write_hex(into);
        into.extend(AFTER_HASH);
        into.push(b'\n');
    }
    Ok(head)
}

/// Why a line is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoLine {
    /// It is no line at all.
    Torn,
    /// It was written by another version.
    Version(u8),
    /// It is whole and says something that this version does not know.
    Unreadable(String),
}

/// What `line`, without its end, says; and the hash it would have after `before`.
pub(super) fn read(line: &[u8], before: Hash) -> Result<(Line, Hash), NoLine> {
    let (body, hash) = parts(line).ok_or(NoLine::Torn)?;
    let chained = before.then(body);
    let read: Read = match serde_json::from_slice(line) {
        Ok(read) => read,
        Err(_) if chained != hash => return Err(NoLine::Torn),
        Err(why) => return Err(NoLine::Unreadable(why.to_string())),
    };
    if read.v != VERSION {
        return Err(NoLine::Version(read.v));
    }
    let recorded = Recorded { sequence: read.sequence, at: read.at, event: read.event };
    Ok((Line { recorded, left: read.left, hash }, chained))
}

fn parts(line: &[u8]) -> Option<(&[u8], Hash)> {
    let rest = line.strip_suffix(AFTER_HASH)?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    Some((rest.strip_suffix(BEFORE_HASH)?, Hash::from_hex(hash)?))
}

/// The group of a line that may follow anything, if it is a line.
pub(super) fn group_of(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Group {
        group: u64,
    }
    parts(line)?;
    serde_json::from_slice::<Group>(line).ok().map(|read| read.group)
}
