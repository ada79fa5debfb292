//! The way out of damage without a copy: what follows it is set aside, and what can be read there of what was taken away is
//! taken away again.

use std::{path::Path, sync::Arc};

use super::super::{
    JournalError,
    chain::{Hash, Head},
    files::{Files, let_go, segment, snapshot},
    line::{self, Line},
    read,
    snapshot::Snapshot,
};
use super::verify;
use crate::{
    kernel::{Lost, State},
    model::{Event, Settings, Timestamp},
    seam::{Batch, Clock as _, RealDisk, SystemClock},
};

/// What became of a trail that was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// The last event of what was kept as it was.
    pub kept: u64,
    /// What the records that were set aside had taken away, taken away again: these follow.
    pub again: Vec<Event>,
    /// How many of the records that were set aside say nothing that could be read, or something that was altered: what they
    /// took away, if they did, holds again.
    pub unread: u64,
    /// The end of the chain.
    pub head: Head,
}

/// Sets aside everything from event `before` on, so that an engine can be opened on the rest. What is set aside stays in
/// the directory, under names that begin with `cut-`. As far as it can still be read there, what was taken away stays away:
/// rights that were revoked, ended or used up, agents that went, what people no longer allow, what they denied for good (of
/// agents that are not known yet, too), and what a file narrowed of settings, modes and rules.
///
/// It is one step: until it is done, the trail is damaged as it was, and can be cut again.
///
/// # Authority
///
/// What was revoked in records that cannot be read holds again.
///
/// # Errors
///
/// [`JournalError::InUse`]; [`JournalError::Damaged`] if something before that event is wrong; [`JournalError::NoSuchEvent`]
/// if nothing is there from that event on, or it is event 0; anything the disk says.
pub fn cut(directory: impl AsRef<Path>, before: u64) -> Result<Cut, JournalError> {
    let files = Files::at(Arc::new(RealDisk), directory.as_ref())?;
    let (lock, _) = files.take()?;
    if before == 0 {
        return Err(no_such_event(directory.as_ref(), before));
    }
    let (kept, aside) = divide(&files, before)?;
    let is_newer = |sequence: &u64| before <= *sequence;
    if aside.is_empty() && !files.list()?.snapshots.iter().any(is_newer) {
        return Err(no_such_event(directory.as_ref(), before));
    }
    let again = kept.taken_again(&aside, before);
    // Snapshots go first: an engine would begin with the newest.
    for sequence in files.list()?.snapshots.into_iter().filter(is_newer) {
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
    let goes_on = head != kept.head || !aside.rest.is_empty();
    if goes_on {
        if aside.segments.contains(&kept.first) {
            let name = segment(kept.first);
            files.write_aside(&format!("cut-{name}"), &files.read(&name)?)?;
        }
        files.write_whole(&segment(kept.first), &content)?;
    }
    for first in aside.segments.into_iter().filter(|first| !(goes_on && *first == kept.first)) {
        let name = segment(first);
        files.rename_aside(&name, &format!("cut-{name}"))?;
    }
    let_go(lock);
    let again = again.steps.into_iter().flatten().collect();
    Ok(Cut { kept: kept.head.sequence, again, unread: aside.unread, head })
}

/// Says which events are there; or what is damaged, and where.
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

/// What stays as it is.
struct Kept {
    state: State,
    at: Timestamp,
    head: Head,
    /// The segment to go on with, and what of it stays.
    first: u64,
    segment: Vec<u8>,
}

/// What does not count any more.
#[derive(Default)]
struct Aside {
    /// Of the segment of which something stays.
    rest: Vec<u8>,
    /// Whole segments.
    segments: Vec<u64>,
    lost: Lost,
    unread: u64,
    /// What the next record should be chained to, if that is known.
    before: Option<Hash>,
}

/// What is said once more, a step each.
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
    /// The newest snapshot that does not know of event `before`, or nothing at all.
    fn start(files: &Files, before: u64) -> Result<Kept, JournalError> {
        for sequence in files.list()?.snapshots.iter().rev().filter(|sequence| **sequence < before) {
            if let Some(Snapshot { head, at, image }) = Snapshot::read(files, *sequence)?
                && let Ok(state) = State::from_image(&image)
            {
                return Ok(Kept { state, at, head, first: head.sequence + 1, segment: Vec::new() });
            }
        }
        let (state, at) = (State::new(Settings::default()), Timestamp::from_millis(0));
        Ok(Kept { state, at, head: Head { sequence: 0, hash: Hash::START }, first: 1, segment: Vec::new() })
    }

    /// Takes in the whole steps before event `before`, and says how many bytes of `content` those have.
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

    /// What of it `aside` had taken away.
    fn taken_again(&self, aside: &Aside, before: u64) -> Again {
        // Never before what is kept, which the clock may be if it was set back.
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

    /// Takes in records, whether they are chained to those before or not.
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
    /// Writes it behind `content`, chained to `head`.
    fn write(&self, content: &mut Vec<u8>, mut head: Head, at: Timestamp) -> Result<Head, serde_json::Error> {
        for events in self.steps.iter().filter(|events| !events.is_empty()) {
            let (first, events) = (head.sequence + 1, events.clone());
            let batch = Batch { at: self.at.max(at), first, events, only_takes: true, failures: 0 };
            let hash = line::write(content, &batch, first, head.hash)?;
            head = Head { sequence: batch.last(), hash };
        }
        Ok(head)
    }
}
