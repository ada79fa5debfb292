//! Untrusted text inside a sentence for people.

use crate::model::Escaped;

/// The maximum number of characters that are quoted.
const MAX_QUOTED: usize = 80;

/// Returns `text` between backticks, escaped and shortened.
pub(crate) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(MAX_QUOTED).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("`{}{more}`", Escaped(&start))
}
