//! The mark that replaces a secret.

/// The beginning of the mark that replaces a secret. The length of the secret in characters follows: `[redacted 17]`.
pub(super) const MARK_START: &str = "[redacted";

/// The mark for a text that is hidden completely.
pub(super) const MARK: &str = "[redacted]";

/// Returns true if a text contains a redaction mark. Its author then saw only a redacted text.
pub(crate) fn has_mark(text: &str) -> bool {
    text.match_indices(MARK_START).any(|(at, _)| text.get(at..).is_some_and(|rest| mark_at(rest.as_bytes()).is_some()))
}

/// Returns the mark that replaces `secret`.
pub(super) fn mark(secret: &str) -> String {
    format!("{MARK_START} {}]", secret.chars().count())
}

/// Returns the length of the mark at the beginning of `text`, if there is one.
pub(super) fn mark_at(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(MARK_START.as_bytes())?;
    let number = rest.strip_prefix(b" ").map_or(0, |rest| 1 + rest.iter().take_while(|b| b.is_ascii_digit()).count());
    (rest.get(number) == Some(&b']')).then_some(MARK_START.len() + number + 1)
}
