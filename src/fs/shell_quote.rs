//! Paths in commands that a person is asked to type.

use std::path::Path;

/// Quotes a path for a shell.
pub(crate) fn for_shell(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c)) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
