//! Parts of a text, and the kinds of its bytes.

use std::{borrow::Cow, ops::Range};

use super::{mark::mark, tokens};

/// Returns the spans of the parts of `text` between these signs.
pub(super) fn ranges_of(text: &str, sign: char) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    text.split(sign).map(move |part| {
        let span = from..from + part.len();
        from = span.end + sign.len_utf8();
        span
    })
}

/// Returns `text` with a mark in the place of each secret.
pub(super) fn without<'t, 's>(text: &'t str, secrets: impl Iterator<Item = &'s Range<usize>>) -> Cow<'t, str> {
    let mut secrets = secrets.peekable();
    if secrets.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        shown.push_str(text.get(from..secret.start).unwrap_or_default());
        shown.push_str(&mark(text.get(secret.clone()).unwrap_or_default()));
        from = secret.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shown)
}

/// Returns true for a byte of a name, as of a program or an option.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns true for a byte that is neither a shell operator nor white space.
pub(super) fn is_plain(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'+' | b'/' | b'=' | b'%' | b'@' | b':' | b',' | b'^' | b'~')
}

/// Returns true if a text is one word that looks like a token.
pub(super) fn is_token(text: &str) -> bool {
    text.bytes().all(is_plain) && !text.starts_with(['/', '.', '~']) && tokens::is_token(text)
}
