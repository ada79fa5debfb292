//! The reasons why no engine was opened.

use std::fmt;

use crate::engine::Error;

#[cfg(feature = "config")]
use crate::config::ConfigError;
#[cfg(feature = "journal")]
use crate::journal::JournalError;

/// The reason why no engine was opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file has mistakes. All of them are listed.
    #[cfg(feature = "config")]
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The state directory cannot be used.
    #[cfg(feature = "journal")]
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// The engine rejects the policy of the file, or could not be started.
    #[error("{0}")]
    Engine(#[from] Error),
}

/// Formats the error as `Display` does, since this is the output of a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
