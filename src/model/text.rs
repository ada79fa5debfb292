//! Text from other authors. Its length is limited on input. It is escaped when a person sees it.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::script::{is_disguised, is_mixed, is_plain};

/// The most characters a [`Reason`] may have.
pub(crate) const MAX_REASON_CHARS: usize = 4096;

/// The reason for a request, a grant or a revocation. It is not blank, has a limited length, and is stored permanently
/// with the event.
///
/// Detected keys, tokens and passwords are removed, because a reason is shown and stored (`sources/002`, "Permission
/// facts").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Reason(Arc<str>);

/// The reason why a text is not a [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidReason {
    /// The text has only white space or invisible characters.
    Blank,
    /// The text has more than 4096 characters.
    TooLong,
}

impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidReason::Blank => f.write_str("a reason must not be blank: say in a sentence what it is for"),
            InvalidReason::TooLong => write!(f, "a reason has at most {MAX_REASON_CHARS} characters"),
        }
    }
}

impl std::error::Error for InvalidReason {}

impl Reason {
    /// Returns the text that stands for a missing reason.
    pub(crate) fn not_said() -> Reason {
        Reason("no reason given".into())
    }

    /// Returns the reason without detected secrets.
    pub(crate) fn redacted(&self) -> Reason {
        let redacted = super::redacted(&self.0);
        if redacted.chars().nth(MAX_REASON_CHARS).is_none() {
            return Reason(redacted);
        }
        Reason(redacted.chars().take(MAX_REASON_CHARS).collect::<String>().into())
    }

    /// Returns the given reason, trimmed. Show it through [`Escaped`].
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Reason {
    type Err = InvalidReason;

    fn from_str(text: &str) -> Result<Self, InvalidReason> {
        let text = text.trim();
        if text.chars().all(|c| c.is_whitespace() || is_deceptive(c)) {
            return Err(InvalidReason::Blank);
        }
        if text.chars().count() > MAX_REASON_CHARS {
            return Err(InvalidReason::TooLong);
        }
        Ok(Reason(text.into()).redacted())
    }
}

impl TryFrom<String> for Reason {
    type Error = InvalidReason;

    fn try_from(text: String) -> Result<Self, InvalidReason> {
        text.parse()
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> String {
        reason.0.as_ref().to_owned()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&self.0).fmt(f)
    }
}

/// Displays foreign text so that it can neither hide nor forge anything.
///
/// These characters are escaped: control characters (line breaks too), characters that change the writing direction,
/// invisible characters, and characters that look like ASCII ones. Letters of other scripts are escaped in a word that
/// mixes them with Latin letters. They are also escaped in a word that looks Latin in a text with Latin letters. A
/// backslash is doubled, so that a text cannot imitate an escape.
///
/// ```
/// use bestow::Escaped;
/// assert_eq!(Escaped("/tmp/a\nAllow: yes").to_string(), r"/tmp/a\nAllow: yes");
/// assert_eq!(Escaped("/tmp/\u{202e}txt.exe").to_string(), r"/tmp/\u{202e}txt.exe");
/// assert_eq!(Escaped("p\u{430}ypal").to_string(), r"p\u{430}ypal");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

/// Displays text like [`Escaped`], between quotation marks. Inside a sentence, it cannot be mistaken for part of the
/// sentence.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        between(f, self.0, '"')
    }
}

/// Displays text like [`Escaped`], between backticks, for literal text.
pub(crate) struct Ticked<'a>(pub(crate) &'a str);

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
    if text.is_ascii() {
        // Most texts need no escape.
        let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'\\' && Some(char::from(byte)) != mark;
        return if text.bytes().all(is_plain) { f.write_str(text) } else { text.chars().try_for_each(|c| plain(f, c)) };
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
pub(super) fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The most characters a [`Name`] may have.
const MAX_NAME_CHARS: usize = 200;

/// The name of an agent for people. It tells a person who is asking, so it is neither blank nor long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Arc<str>);

/// The error for a text that is not a [`Name`]: it is blank or longer than 200 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidName;

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a name is not blank and has at most {MAX_NAME_CHARS} characters")
    }
}

impl std::error::Error for InvalidName {}

impl Name {
    /// Returns the given name, trimmed. Show it through [`Escaped`].
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let text = text.trim();
        let blank = text.chars().all(|c| c.is_whitespace() || is_deceptive(c));
        if blank || text.chars().nth(MAX_NAME_CHARS).is_some() { Err(InvalidName) } else { Ok(Name(text.into())) }
    }
}

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0.as_ref().to_owned()
    }
}

/// Writes the name between quotation marks, because an agent may have chosen it.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Quoted(&self.0).fmt(f)
    }
}
