//! The reasons why no engine was opened.

use std::fmt;

use crate::engine::Error;

#[cfg(feature = "config")]
use crate::config::ConfigError;
#[cfg(feature = "journal")]
use crate::journal::JournalError;

/// The reason why no engine was opened.
#[non_exhaustive]
pub enum OpenError {
    /// The file has mistakes. All of them are listed.
    #[cfg(feature = "config")]
    Config(ConfigError),
    /// The state directory cannot be used.
    #[cfg(feature = "journal")]
    Journal(JournalError),
    /// The engine rejects the policy of the file, or could not be started.
    Engine(Error),
}

/// Formats the error as `Display` does, since this is the output of a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "config")]
            OpenError::Config(why) => why.fmt(f),
            #[cfg(feature = "journal")]
            OpenError::Journal(why) => why.fmt(f),
            OpenError::Engine(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            #[cfg(feature = "config")]
            OpenError::Config(why) => Some(why),
            #[cfg(feature = "journal")]
            OpenError::Journal(why) => Some(why),
            OpenError::Engine(why) => Some(why),
        }
    }
}

#[cfg(feature = "config")]
impl From<ConfigError> for OpenError {
    fn from(why: ConfigError) -> OpenError {
        OpenError::Config(why)
    }
}

impl From<Error> for OpenError {
    fn from(why: Error) -> OpenError {
        OpenError::Engine(why)
    }
}

#[cfg(feature = "journal")]
impl From<JournalError> for OpenError {
    fn from(why: JournalError) -> OpenError {
        OpenError::Journal(why)
    }
}
