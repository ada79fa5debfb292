//! The reasons why a permanent decision is not written.

use std::{fmt, sync::Arc};

use super::super::{ConfigError, PolicyText};
use crate::model::Escaped;

/// The reason why a decision was not written into a file. The file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PersistError {
    /// The file cannot express exactly this, or it would have no effect there.
    #[error("{0}")]
    NotSayable(String),
    /// The file is invalid, or would be.
    #[error("{0}")]
    File(ConfigError),
    /// A file operation failed.
    #[error("`{}` was not changed: {}", Escaped(.file), .what)]
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

impl From<ConfigError> for PersistError {
    fn from(why: ConfigError) -> PersistError {
        PersistError::File(why)
    }
}
