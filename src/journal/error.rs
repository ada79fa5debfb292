//! The reasons why a journal is not opened, or not trusted.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{HeadNote, hash_chain::Head};
use crate::model::Escaped;

/// The reason why a journal is not opened, or not trusted. Each message names the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process uses the directory.
    #[error(
        "`{}` is in use by {}: end that process first, or use another state directory",
        shown(directory),
        pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
    )]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// Its process id, if it could be read.
        pid: Option<u32>,
    },
    /// A record was altered, is missing, or is in another place, although its successors were acknowledged.
    #[error(
        "`{}` is damaged at line {line}, event {sequence}: {what}. Put this file back from a copy; without one, \
         `bestow audit cut --before {sequence} --state {}` sets aside everything from there on, and takes away again \
         what it can still read there of what was revoked",
        shown(file),
        file.parent().map_or_else(|| ".".to_owned(), shown)
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The line in the file, counted from 1.
        line: u64,
        /// The number that the event there should have.
        sequence: u64,
        /// The mistake in the record.
        what: String,
    },
    /// The directory contains no journal.
    #[error(
        "`{}` is not a state directory, because it has no journal. Name the directory of the engine, as in `--state \
         /var/lib/bestow`",
        shown(directory)
    )]
    NotState {
        /// The directory.
        directory: PathBuf,
    },
    /// There is nothing to set aside from the named event on.
    #[error("`{}` has no {}", shown(directory), nothing_to_set_aside(*before, *there))]
    NoSuchEvent {
        /// The directory.
        directory: PathBuf,
        /// The named event.
        before: u64,
        /// The first and the last existing event, if there is any.
        there: Option<(u64, u64)>,
    },
    /// The records form a valid chain, but it does not contain the head that was noted down.
    #[error(
        "every record in `{}` follows from the previous record, but event {} has the head `{found}` and not `{noted}`: \
         compare this with your note. If it is correct, the trail was rewritten, or an older copy of it went on. \
         Restore the newest copy",
        shown(directory),
        noted.sequence
    )]
    OtherHead {
        /// The directory.
        directory: PathBuf,
        /// The noted head.
        noted: Head,
        /// The actual head at the same event.
        found: Head,
    },
    /// The records end before the head that was noted down.
    #[error(
        "the records in `{}` end at event {}, but the head of event {} was noted{}: the directory is an older copy, or \
         records were removed from its end. Restore the newest copy{}",
        shown(directory),
        end.sequence,
        noted.sequence,
        note.as_ref().map_or_else(String::new, |note| format!(" {note}")),
        note.as_ref().map_or("", |_| ". If `bestow audit cut` set them aside, remove the note")
    )]
    OlderCopy {
        /// The directory.
        directory: PathBuf,
        /// The noted head.
        noted: Head,
        /// The end of the records.
        end: Head,
        /// The note, if the engine compared it itself.
        note: Option<Box<HeadNote>>,
    },
    /// The head of the trail could not be noted.
    #[error("the head of the trail was not noted {note}: {}", Escaped(what))]
    NotNoted {
        /// The place of the note.
        note: HeadNote,
        /// The failure.
        what: String,
    },
    /// `LOCK` says up to where the last process acknowledged its records. The records do not contain that end.
    #[error(
        "the records in `{}` {}, but `LOCK` says that the last process acknowledged event {} with the head \
         `{promised}`: restore the directory from a copy. Without one, `bestow audit cut --before {} --state {}` goes \
         on with the records that are there",
        shown(directory),
        if found.sequence < promised.sequence {
            format!("end at event {}", found.sequence)
        } else {
            format!("have another event {}", found.sequence)
        },
        promised.sequence,
        if found.sequence < promised.sequence { found.sequence + 1 } else { found.sequence },
        shown(directory)
    )]
    OtherEnd {
        /// The directory.
        directory: PathBuf,
        /// The end that the last process noted.
        promised: Head,
        /// The end of the records, or the event with the number of the promised one.
        found: Head,
    },
    /// A file is missing.
    #[error(
        "`{}` lacks {what}: restore it from a copy{}",
        shown(directory),
        next.map_or_else(String::new, |next| format!(
            ". Without one, `bestow audit cut --before {next} --state {}` goes on without them",
            shown(directory)
        ))
    )]
    Missing {
        /// The directory.
        directory: PathBuf,
        /// The missing file or events.
        what: String,
        /// The first missing event, if everything before it is there.
        next: Option<u64>,
    },
    /// A disk operation failed.
    #[error("`{}`: {}", shown(path), Escaped(what))]
    Disk {
        /// The path.
        path: PathBuf,
        /// The attempted operation, and its error.
        what: String,
    },
}

impl JournalError {
    pub(super) fn disk(path: &Path, tried: &str, why: &io::Error) -> JournalError {
        JournalError::Disk { path: path.to_owned(), what: format!("{tried} it failed: {why}") }
    }
}

fn shown(path: &Path) -> String {
    Escaped(&path.to_string_lossy()).to_string()
}

fn nothing_to_set_aside(before: u64, there: Option<(u64, u64)>) -> String {
    match there {
        Some((first, last)) => {
            format!("event {before}: it has events {first} to {last}; name the first event to set aside")
        }
        None => format!("events, so nothing can be set aside from event {before} on"),
    }
}
