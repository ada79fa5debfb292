//! Display of foreign text. Every character that could mislead a reader is escaped.

use std::{borrow::Cow, fmt};

use super::script::{is_disguised, is_mixed, is_plain};

/// Displays foreign text so that it can neither hide nor forge anything.
///
/// These characters are escaped: control characters (line breaks too), characters that change the writing direction,
/// invisible characters, and characters that look like ASCII ones. Letters of other scripts are escaped in a word that
/// mixes them with Latin letters. They are also escaped in a word that looks Latin in a text with Latin letters. A
/// backslash is doubled, so that a text cannot imitate an escape.
///
/// ```
/// use bestow_command::values::Escaped;
/// assert_eq!(Escaped("/tmp/a\nAllow: yes").to_string(), r"/tmp/a\nAllow: yes");
/// assert_eq!(Escaped("/tmp/\u{202e}txt.exe").to_string(), r"/tmp/\u{202e}txt.exe");
/// assert_eq!(Escaped("p\u{430}ypal").to_string(), r"p\u{430}ypal");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

/// Displays text like [`Escaped`], between quotation marks. Inside a sentence, it cannot be mistaken for part of the
/// sentence.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        between(f, self.0, '"')
    }
}

/// Displays text like [`Escaped`], between backticks, for literal text.
#[derive(Clone, Copy, Debug)]
pub struct Ticked<'a>(pub &'a str);

impl fmt::Display for Ticked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        between(f, self.0, '`')
    }
}

/// Writes `text` between two `mark` characters. A mark inside the text is escaped, so it cannot end the quotation.
fn between(f: &mut fmt::Formatter<'_>, text: &str, mark: char) -> fmt::Result {
    fmt::Write::write_char(f, mark)?;
    show(f, text, Some(mark))?;
    fmt::Write::write_char(f, mark)
}

impl<'a> Escaped<'a> {
    /// Returns what is displayed. Most texts need no escape.
    pub(crate) fn text(self) -> Cow<'a, str> {
        if is_plain_ascii(self.0, None) { self.0.into() } else { self.to_string().into() }
    }
}

/// Returns true for a text that is displayed as it is, between two of these marks.
fn is_plain_ascii(text: &str, mark: Option<char>) -> bool {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'\\' && Some(char::from(byte)) != mark;
    text.bytes().all(is_plain)
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, None)
    }
}

fn show(f: &mut fmt::Formatter<'_>, text: &str, mark: Option<char>) -> fmt::Result {
    let plain = |f: &mut fmt::Formatter<'_>, c| match c {
        c if Some(c) == mark => write!(f, "\\{c}"),
        '\\' => f.write_str("\\\\"),
        '\t' | '\n' | '\r' => write!(f, "{}", c.escape_default()),
        c if is_deceptive(c) || is_disguised(c) => write!(f, "{}", c.escape_unicode()),
        c => fmt::Write::write_char(f, c),
    };
    if is_plain_ascii(text, mark) {
        return f.write_str(text);
    }
    if text.is_ascii() {
        return text.chars().try_for_each(|c| plain(f, c));
    }
    let beside = text.chars().any(|c| c.is_ascii_alphabetic());
    // Each piece is a word with the character that ends it.
    for piece in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let mixed = is_mixed(piece.trim_end_matches(|c: char| !c.is_alphanumeric()), beside);
        for c in piece.chars() {
            if mixed && !is_plain(c) { write!(f, "{}", c.escape_unicode())? } else { plain(f, c)? }
        }
    }
    Ok(())
}

/// Returns true for characters that are invisible, or that move visible characters.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
