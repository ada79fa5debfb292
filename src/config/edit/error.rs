//! The reasons why a permanent decision is not written.

use std::{fmt, sync::Arc};

use super::super::{ConfigError, PolicyText};
use crate::model::Escaped;

/// The reason why a decision was not written into a file. The file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PersistError {
    /// The file cannot express exactly this, or it would have no effect there.
    NotSayable(String),
    /// The file is invalid, or would be.
    File(ConfigError),
    /// A file operation failed.
    Disk {
        /// The file.
        file: Arc<str>,
        /// The operation, and its error.
        what: String,
    },
}

impl PersistError {
    pub(super) fn not_sayable(why: impl fmt::Display) -> PersistError {
        PersistError::NotSayable(why.to_string())
    }

    pub(super) fn disk(text: &PolicyText, what: impl fmt::Display) -> PersistError {
        PersistError::Disk { file: Arc::clone(&text.file), what: what.to_string() }
    }
}

impl fmt::Display for PersistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PersistError::NotSayable(why) => f.write_str(why),
            PersistError::File(why) => why.fmt(f),
            PersistError::Disk { file, what } => write!(f, "`{}` was not changed: {what}", Escaped(file)),
        }
    }
}

impl std::error::Error for PersistError {}

impl From<ConfigError> for PersistError {
    fn from(why: ConfigError) -> PersistError {
        PersistError::File(why)
    }
}
