//! Errors and refusals of the engine.

use std::{io::ErrorKind, sync::Arc};

use thiserror::Error as ThisError;

use crate::{
    command::InvalidAddition,
    kernel::Refusal,
    model::{Escaped, HookName, InvalidText, Permission, SanitizedPath},
    ports::{ClockUnreadable, PathFailure, StoreError},
};

/// The reason why a call failed. The state did not change unless the variant says otherwise. Callers treat every
/// variant as a denial.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The engine works and refuses the call.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The object at the path is not the one that the permission was given for: it was replaced.
    #[error(
        "the object of the permission `{}` was replaced, so the permission does not cover {}: request it again",
        Escaped(&.permission.to_string()),
        Escaped(.path.as_str())
    )]
    Replaced {
        /// The permission that was to be used.
        permission: Permission,
        /// The path at which it was to be used.
        path: SanitizedPath,
    },
    /// A text that the caller gave is not a valid name, permission or reason.
    #[error("{0}")]
    Text(#[from] InvalidText),
    /// The path could not be resolved.
    #[error("{0}")]
    Path(#[from] PathFailure),
    /// The path could not be opened as the object that was resolved.
    #[error("{0}")]
    Open(String),
    /// The permission is held, but the file system refused the operation.
    #[error("{0}")]
    File(#[source] FileFailure),
    /// The decision could not be stored. Changes that give a permission did not happen. Changes that take one away are
    /// in force in this engine, but may be lost after a restart: repeat them there.
    #[error("{0}")]
    Store(#[source] StoreError),
    /// A hook with this name exists already.
    #[error("a hook `{0}` already exists: choose another name")]
    HookExists(HookName),
    /// The settings contain rules about commands that contradict their examples.
    #[error("{0}")]
    Commands(#[from] InvalidAddition),
    /// The time cannot be read.
    #[error("{0}")]
    Clock(#[from] ClockUnreadable),
    /// The engine was shut down, or failed inside and can no longer be trusted. Every check is denied.
    #[error("the engine is closed")]
    Closed,
    /// The engine must be created in a Tokio runtime, since it waits for deadlines.
    #[error("an engine needs a Tokio runtime: create it inside one")]
    NoRuntime,
}

/// A failed file operation that the agent is allowed to do.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("{what}")]
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
