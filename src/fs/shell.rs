//! Paths in what a person is told to type.

use std::path::Path;

/// A path as a shell takes it.
pub(crate) fn for_shell(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c)) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
