//! Quoting of words in commands that a person is asked to type.

use std::ffi::OsStr;

use bestow_command::internal::quoted;

/// Quotes a word so that a shell reads it unchanged.
pub fn for_shell(word: impl AsRef<OsStr>) -> String {
    quoted(&word.as_ref().to_string_lossy())
}
