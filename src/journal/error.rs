//! The reasons why a journal is not opened, or not trusted.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use super::hash_chain::Head;
use crate::model::Escaped;

/// The reason why a journal is not opened, or not trusted. Each message names the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process uses the directory.
    InUse {
        /// The directory.
        directory: PathBuf,
        /// Its process id, if it could be read.
        pid: Option<u32>,
    },
    /// A record was altered, is missing, or is in another place, although its successors were acknowledged.
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
    NotState {
        /// The directory.
        directory: PathBuf,
    },
    /// There is nothing to set aside from the named event on.
    NoSuchEvent {
        /// The directory.
        directory: PathBuf,
        /// The named event.
        before: u64,
        /// The first and the last existing event, if there is any.
        there: Option<(u64, u64)>,
    },
    /// The records form a valid chain, but it does not contain the head that was noted down.
    OtherHead {
        /// The directory.
        directory: PathBuf,
        /// The noted head.
        noted: Head,
        /// The actual head at the same event.
        found: Head,
    },
    /// A file is missing.
    Missing {
        /// The directory.
        directory: PathBuf,
        /// The missing file or events.
        what: String,
    },
    /// A disk operation failed.
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

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalError::InUse { directory, pid } => {
                write!(f, "`{}` is in use by ", shown(directory))?;
                match pid {
                    Some(pid) => write!(f, "process {pid}")?,
                    None => f.write_str("another process")?,
                }
                f.write_str(": end that process first, or use another state directory")
            }
            JournalError::Damaged { file, line, sequence, what } => write!(
                f,
                "`{}` is damaged at line {line}, event {sequence}: {what}. Put this file back from a copy; without \
                 one, `bestow audit cut --before {sequence} --state {}` sets aside everything from there on, and \
                 takes away again what it can still read there of what was revoked",
                shown(file),
                file.parent().map_or_else(|| ".".to_owned(), shown)
            ),
            JournalError::NotState { directory } => write!(
                f,
                "`{}` is not a state directory, because it has no journal. Name the directory of the engine, as in \
                 `--state /var/lib/bestow`",
                shown(directory)
            ),
            JournalError::NoSuchEvent { directory, before, there: Some((first, last)) } => write!(
                f,
                "`{}` has no event {before}: it has events {first} to {last}; name the first event to set aside",
                shown(directory)
            ),
            JournalError::NoSuchEvent { directory, before, there: None } => {
                write!(f, "`{}` has no events, so nothing can be set aside from event {before} on", shown(directory))
            }
            JournalError::OtherHead { directory, noted, found } => write!(
                f,
                "every record in `{}` follows from the previous record, but event {} has the head `{found}` and not \
                 `{noted}`: compare this with your note. If your note is correct, the whole trail was rewritten: \
                 restore it from a copy",
                shown(directory),
                noted.sequence
            ),
            JournalError::Missing { directory, what } => {
                write!(f, "`{}` lacks {what}: restore it from a copy", shown(directory))
            }
            JournalError::Disk { path, what } => write!(f, "`{}`: {}", shown(path), Escaped(what)),
        }
    }
}

impl std::error::Error for JournalError {}
