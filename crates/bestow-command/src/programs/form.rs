//! The patterns of words in records.

/// Returns true if `word` matches `pattern`, which may have a `*` at its beginning and at its end. For example,
/// `delete-*` matches any word with this prefix, and `*://*` matches an address.
pub(crate) fn has_form(word: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), Some(_)) => word.contains(end.strip_suffix('*').unwrap_or(end)),
        (Some(end), None) => word.ends_with(end),
        (None, Some(start)) => word.starts_with(start),
        (None, None) => word == pattern,
    }
}
