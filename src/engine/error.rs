//! No answer, or no.

use std::{fmt, io::ErrorKind, sync::Arc};

use crate::{
    command::InvalidAddition,
    kernel::Refusal,
    model::{HookName, Permission, SanitizedPath, Shown},
    seam::{ClockUnreadable, PathFailure, StoreError},
};

/// Why a call did not do what it was asked. Nothing has changed, and callers treat every variant as no.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The engine works, and says no.
    Refused(Refusal),
    /// What is at the path is not what the right was given for; somebody put something else there.
    Replaced {
        /// What the right names.
        permission: Permission,
        /// Where it was to be used.
        path: SanitizedPath,
    },
    /// What a path names could not be found out.
    Path(PathFailure),
    /// What a path names could not be opened as what was resolved.
    Open(String),
    /// The right is there; the file system says no.
    File(FileFailure),
    /// What was decided could not be stored. What would have given somebody something did not happen; what took something
    /// away is in force in this engine, but a later one may not know of it: do it again there.
    Store(StoreError),
    /// There is a hook of this name already.
    HookExists(HookName),
    /// The settings hold rules about commands that say something else than their examples.
    Commands(InvalidAddition),
    /// The time cannot be told.
    Clock(ClockUnreadable),
    /// The engine was shut down, or failed inside and can no longer be trusted. Every check says no.
    Closed,
    /// The engine needs a Tokio runtime to be made in, since it waits for deadlines.
    NoRuntime,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(refusal) => refusal.fmt(f),
            Error::Replaced { permission, path } => write!(
                f,
                "what `{}` was given for has been replaced by something else, so it does not reach {}: ask again",
                Shown(&permission.to_string()),
                Shown(path.as_str())
            ),
            Error::Path(why) => why.fmt(f),
            Error::Open(why) => f.write_str(why),
            Error::File(why) => why.fmt(f),
            Error::Store(why) => why.fmt(f),
            Error::HookExists(name) => write!(f, "there is a hook `{name}` already: choose another name"),
            Error::Commands(why) => why.fmt(f),
            Error::Clock(why) => why.fmt(f),
            Error::Closed => f.write_str("the engine is closed"),
            Error::NoRuntime => f.write_str("an engine is made inside a Tokio runtime"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Refused(refusal) => Some(refusal),
            Error::Path(why) => Some(why),
            Error::File(why) => Some(why),
            Error::Store(why) => Some(why),
            Error::Commands(why) => Some(why),
            Error::Clock(why) => Some(why),
            Error::Replaced { .. } | Error::Open(_) | Error::HookExists(_) | Error::Closed | Error::NoRuntime => None,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::Refused(refusal)
    }
}

impl From<ClockUnreadable> for Error {
    fn from(why: ClockUnreadable) -> Error {
        Error::Clock(why)
    }
}

impl From<InvalidAddition> for Error {
    fn from(why: InvalidAddition) -> Error {
        Error::Commands(why)
    }
}

impl From<PathFailure> for Error {
    fn from(why: PathFailure) -> Error {
        Error::Path(why)
    }
}

/// The file system did not do what an agent may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFailure {
    pub(super) kind: ErrorKind,
    pub(super) what: Arc<str>,
}

impl FileFailure {
    pub(super) fn new(kind: ErrorKind, path: &str) -> FileFailure {
        FileFailure { kind, what: format!("`{}`: {kind}", Shown(path)).into() }
    }

    /// What kind of failure it is, as the standard library calls it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for FileFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for FileFailure {}
