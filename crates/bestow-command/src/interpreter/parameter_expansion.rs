//! The results of `${name#word}` and similar edits of a fully known text.

use crate::critical_paths::fits;

/// The longest text and pattern, in bytes, that are edited. Interesting values are short.
const MAX_TEXT: usize = 64;
const MAX_PATTERN: usize = 24;

/// Returns the text after the edit with the operator `sign` and the operand `word`.
pub(super) fn edited(text: &str, sign: u8, word: &str) -> Option<String> {
    let stars = word.bytes().filter(|byte| *byte == b'*').count();
    if text.len() > MAX_TEXT || word.len() > MAX_PATTERN || stars > 2 || !text.is_ascii() {
        return None;
    }
    match sign {
        b'#' => Some(without_start(text, word).to_owned()),
        b'%' => Some(without_end(text, word).to_owned()),
        b'/' => replaced(text, word),
        b':' => part(text, word),
        b',' => Some(text.to_ascii_lowercase()),
        b'^' => Some(text.to_ascii_uppercase()),
        _ => None,
    }
}

/// Removes the shortest matching start (`#`) or the longest one (`##`).
fn without_start<'t>(text: &'t str, word: &str) -> &'t str {
    let splits = (0..=text.len()).filter_map(|at| text.split_at_checked(at));
    let found = |pattern: &str, (start, rest): (&'t str, &'t str)| fits(pattern, start).then_some(rest);
    match word.strip_prefix('#') {
        Some(pattern) => splits.rev().find_map(|split| found(pattern, split)).unwrap_or(text),
        None => splits.into_iter().find_map(|split| found(word, split)).unwrap_or(text),
    }
}

/// Removes the shortest matching end (`%`) or the longest one (`%%`).
fn without_end<'t>(text: &'t str, word: &str) -> &'t str {
    let mut splits = (0..=text.len()).filter_map(|at| text.split_at_checked(at));
    let found = |pattern: &str, (rest, end): (&'t str, &'t str)| fits(pattern, end).then_some(rest);
    match word.strip_prefix('%') {
        Some(pattern) => splits.find_map(|split| found(pattern, split)).unwrap_or(text),
        None => splits.rev().find_map(|split| found(word, split)).unwrap_or(text),
    }
}

/// Replaces the first match (`/old/new`) or every match (`//old/new`). Patterns are not supported.
fn replaced(text: &str, word: &str) -> Option<String> {
    let (every, word) = word.strip_prefix('/').map_or((false, word), |word| (true, word));
    let (old, new) = word.split_once('/').unwrap_or((word, ""));
    if old.is_empty() || old.contains(['*', '?', '[']) {
        return None;
    }
    Some(if every { text.replace(old, new) } else { text.replacen(old, new, 1) })
}

/// Returns the substring of `:offset` or `:offset:length`.
fn part(text: &str, word: &str) -> Option<String> {
    let (offset, length) = word.split_once(':').map_or((word, None), |(offset, length)| (offset, Some(length)));
    let rest = text.get(offset.trim().parse().ok()?..)?;
    match length {
        Some(length) => rest.get(..length.trim().parse().ok()?).map(str::to_owned),
        None => Some(rest.to_owned()),
    }
}
