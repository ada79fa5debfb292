//! Errors and refusals of the engine.

use std::{fmt, io::ErrorKind, sync::Arc};

use crate::{
    command::InvalidAddition,
    kernel::Refusal,
    model::{Escaped, HookName, Permission, SanitizedPath},
    ports::{ClockUnreadable, PathFailure, StoreError},
};

/// The reason why a call failed. The state did not change unless the variant says otherwise. Callers treat every
/// variant as a denial.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The engine works and refuses the call.
    Refused(Refusal),
    /// The object at the path is not the one that the permission was given for: it was replaced.
    Replaced {
        /// The permission that was to be used.
        permission: Permission,
        /// The path at which it was to be used.
        path: SanitizedPath,
    },
    /// The path could not be resolved.
    Path(PathFailure),
    /// The path could not be opened as the object that was resolved.
    Open(String),
    /// The permission is held, but the file system refused the operation.
    File(FileFailure),
    /// The decision could not be stored. Changes that give a permission did not happen. Changes that take one away are
    /// in force in this engine, but may be lost after a restart: repeat them there.
    Store(StoreError),
    /// A hook with this name exists already.
    HookExists(HookName),
    /// The settings contain rules about commands that contradict their examples.
    Commands(InvalidAddition),
    /// The time cannot be read.
    Clock(ClockUnreadable),
    /// The engine was shut down, or failed inside and can no longer be trusted. Every check is denied.
    Closed,
    /// The engine must be created in a Tokio runtime, since it waits for deadlines.
    NoRuntime,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(refusal) => refusal.fmt(f),
            Error::Replaced { permission, path } => write!(
                f,
                "what `{}` was given for has been replaced by something else, so it does not reach {}: ask again",
                Escaped(&permission.to_string()),
                Escaped(path.as_str())
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

/// A failed file operation that the agent is allowed to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFailure {
    pub(super) kind: ErrorKind,
    pub(super) what: Arc<str>,
}

impl FileFailure {
    pub(super) fn new(kind: ErrorKind, path: &str) -> FileFailure {
        FileFailure { kind, what: format!("`{}`: {kind}", Escaped(path)).into() }
    }

    /// Returns the kind of the failure, as in the standard library.
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
