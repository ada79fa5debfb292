//! Foreign words in a sentence for people.

use crate::model::Shown;

/// The most characters that are repeated to whoever said them.
const MAX_QUOTED: usize = 80;

/// `text` between backticks, escaped and shortened.
pub(super) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(MAX_QUOTED).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("`{}{more}`", Shown(&start))
}
