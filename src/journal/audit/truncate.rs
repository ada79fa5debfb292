//! The recovery from damage without a backup. It sets aside everything after the damage, and applies the readable
//! revocations in it again.

use std::{path::Path, sync::Arc};

use super::super::{
    JournalError,
    files::{Files, segment, snapshot},
    hash_chain::{Hash, Head},
    line::{self, Line},
    lock::{self, Lock},
    read,
    snapshot::{RestoredState, Snapshot},
};
use super::verify;
use crate::{
    kernel::{LostRevocations, State},
    model::{Event, Settings, Timestamp},
    ports::{Batch, Clock as _, RealDisk, SystemClock},
};

/// The result of cutting a trail.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// The last event that was kept unchanged.
    pub kept: u64,
    /// The new events that follow: they repeat the readable revocations and other restrictions in the records set
    /// aside.
    pub again: Vec<Event>,
    /// The number of records set aside that could not be read, or were altered. Permissions that they may have revoked
    /// are held again.
    pub unread: u64,
    /// The end of the chain.
    pub head: Head,
}

/// Sets aside everything from event `before` on, so that an engine can be opened on the rest. The records set aside
/// stay in the directory, under names that begin with `cut-`.
///
/// Restrictions that can still be read there stay in force. These are: grants that were revoked, expired or used;
/// agents that were retired; approvals that people withdrew; permanent denials by people (also for agents that do not
/// exist yet); and restrictions by a policy file of settings, modes and rules.
///
/// The operation is one step. Until it is complete, the trail is damaged as before, and can be cut again.
///
/// # Authority
///
/// Permissions that were revoked only in unreadable records are held again.
///
/// # Errors
///
/// [`JournalError::InUse`]; [`JournalError::Damaged`] if something before that event is wrong;
/// [`JournalError::NoSuchEvent`] if there is nothing from that event on, or if it is event 0; [`JournalError::Disk`]
/// for every error of the disk.
pub fn cut(directory: impl AsRef<Path>, before: u64) -> Result<Cut, JournalError> {
    let files = Files::at(Arc::new(RealDisk), directory.as_ref())?;
    let had_lock = lock::is_there(&files)?;
    let (lock, last_end) = Lock::take(&files)?;
    if before == 0 {
        return Err(no_such_event(directory.as_ref(), before));
    }
    let (kept, aside) = divide(&files, before)?;
    let is_newer = |sequence: &u64| before <= *sequence;
    let is_promised = last_end.acknowledged().is_some_and(|head| before <= head.sequence);
    let listing = files.list()?;
    let is_lost =
        is_promised || (!had_lock && before == kept.head.sequence + 1) || !listing.segments.contains(&kept.first);
    if aside.is_empty() && !is_lost && !listing.snapshots.iter().any(is_newer) {
        return Err(no_such_event(directory.as_ref(), before));
    }
    let again = kept.taken_again(&aside, before);
    // Snapshots are renamed first, since an engine would start from the newest one.
    for sequence in listing.snapshots.into_iter().filter(is_newer) {
        let name = snapshot(sequence);
        files.rename_aside(&name, &format!("cut-{name}"))?;
    }
    if !aside.rest.is_empty() {
        files.write_aside(&format!("cut-{:020}.jsonl", kept.head.sequence + 1), &aside.rest)?;
    }
    let mut content = kept.segment.clone();
    let head = again
        .write(&mut content, kept.head, kept.at)
        .map_err(|why| files.failed(&segment(kept.first), "writing what follows into")(why.into()))?;
    if aside.segments.contains(&kept.first) {
        let name = segment(kept.first);
        files.write_aside(&format!("cut-{name}"), &files.read(&name)?)?;
    }
    files.recover(&segment(kept.first), &content)?;
    for first in aside.segments.into_iter().filter(|first| *first != kept.first) {
        let name = segment(first);
        files.rename_aside(&name, &format!("cut-{name}"))?;
    }
    lock.let_go(head);
    let again = again.steps.into_iter().flatten().collect();
    Ok(Cut { kept: kept.head.sequence, again, unread: aside.unread, head })
}

/// Returns the error that names the existing events, or the damage and its place.
fn no_such_event(directory: &Path, before: u64) -> JournalError {
    verify(directory, None).map_or_else(
        |why| why,
        |there| JournalError::NoSuchEvent {
            directory: directory.to_owned(),
            before,
            there: (there.first <= there.head.sequence).then_some((there.first, there.head.sequence)),
        },
    )
}

/// The part of the trail that is kept unchanged.
struct Kept {
    state: State,
    at: Timestamp,
    head: Head,
    /// The segment to continue, and the part of it that is kept.
    first: u64,
    segment: Vec<u8>,
}

/// The records that no longer count.
#[derive(Default)]
struct Aside {
    /// The removed part of the segment that is kept in part.
    rest: Vec<u8>,
    /// The complete segments that are removed.
    segments: Vec<u64>,
    lost: LostRevocations,
    unread: u64,
    /// The hash that the next record should be chained to, if it is known.
    before: Option<Hash>,
}

/// The restrictions to repeat, one step each.
struct Again {
    steps: Vec<Vec<Event>>,
    at: Timestamp,
}

fn divide(files: &Files, before: u64) -> Result<(Kept, Aside), JournalError> {
    let (mut kept, mut aside) = (Kept::start(files, before)?, Aside::default());
    let after = kept.head.sequence;
    for first in files.list()?.segments.into_iter().filter(|first| after < *first) {
        let content = files.read(&segment(first))?;
        if before <= first || !aside.rest.is_empty() {
            aside.hear(&content);
            aside.segments.push(first);
            continue;
        }
        let whole = read::segment(&content, kept.head);
        if let Some(fault) = whole.fault.filter(|fault| fault.sequence < before) {
            let (file, sequence) = (files.path(&segment(first)), fault.sequence);
            return Err(JournalError::Damaged { file, line: fault.line, sequence, what: fault.what });
        }
        let bytes = kept.go_on(&whole.lines, before, &content);
        kept.first = first;
        kept.segment = content.get(..bytes).unwrap_or_default().to_vec();
        let rest = content.get(bytes..).unwrap_or_default();
        aside.before = Some(kept.head.hash);
        aside.hear(rest);
        aside.rest = rest.to_vec();
    }
    Ok((kept, aside))
}

impl Kept {
    /// Starts from the newest snapshot before event `before`, or from the empty state.
    fn start(files: &Files, before: u64) -> Result<Kept, JournalError> {
        for sequence in files.list()?.snapshots.iter().rev().filter(|sequence| **sequence < before) {
            if let Some(Ok(RestoredState { head, at, state, .. })) = Snapshot::restore(files, *sequence)? {
                return Ok(Kept { state: state.into_state(), at, head, first: head.sequence + 1, segment: Vec::new() });
            }
        }
        let (state, at) = (State::new(Settings::default()), Timestamp::from_millis(0));
        Ok(Kept { state, at, head: Head { sequence: 0, hash: Hash::START }, first: 1, segment: Vec::new() })
    }

    /// Applies the complete steps before event `before`. Returns the number of bytes of `content` that they have.
    fn go_on(&mut self, lines: &[Line], before: u64, content: &[u8]) -> usize {
        let early = lines.iter().take_while(|line| line.recorded.sequence < before);
        let steps = early.clone().filter(|line| line.left == 0).last().map_or(0, |last| last.recorded.sequence);
        let whole: Vec<_> = early.take_while(|line| line.recorded.sequence <= steps).collect();
        for line in &whole {
            self.state.apply(&line.recorded.event);
            self.at = self.at.max(line.recorded.at);
            self.head = Head { sequence: line.recorded.sequence, hash: line.hash };
        }
        content.split_inclusive(|byte| *byte == b'\n').take(whole.len()).map(<[u8]>::len).sum()
    }

    /// Returns the restrictions in `aside` that apply to the kept state.
    fn taken_again(&self, aside: &Aside, before: u64) -> Again {
        // The time is never before the kept records, even if the clock was set back.
        let at = SystemClock::new().now().map_or(self.at, |now| now.max(self.at));
        let reason = format!("records from event {before} on are set aside, and one of them had taken it away");
        let steps = self.state.clone().take_away_again(&aside.lost, reason.parse().ok().as_ref(), at);
        Again { steps, at }
    }
}

impl Aside {
    fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.segments.is_empty()
    }

    /// Reads records to be set aside, chained to the previous ones or not.
    fn hear(&mut self, content: &[u8]) {
        for text in content.split(|byte| *byte == b'\n').filter(|text| !text.is_empty()) {
            let read = line::read(text, self.before.unwrap_or(Hash::START));
            if let Ok((line, _)) = &read {
                self.lost.hear(&line.recorded.event);
            }
            let follows = matches!(&read, Ok((line, chained)) if self.before.is_none() || line.hash == *chained);
            self.unread += u64::from(!follows);
            self.before = read.ok().map(|(line, _)| line.hash);
        }
    }
}

impl Again {
    /// Appends the repeated restrictions to `content`, chained to `head`.
    fn write(&self, content: &mut Vec<u8>, mut head: Head, at: Timestamp) -> Result<Head, serde_json::Error> {
        for events in self.steps.iter().filter(|events| !events.is_empty()) {
            let (first, events) = (head.sequence + 1, events.clone());
            let batch = Batch { at: self.at.max(at), first, events, via: None, only_takes: true, failures: 0 };
            let hash = line::write(content, &batch, first, head.hash)?;
            head = Head { sequence: batch.last(), hash };
        }
        Ok(head)
    }
}
