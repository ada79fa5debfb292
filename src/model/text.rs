//! Text from other authors. Its length is limited on input. It is escaped when a person sees it.

use std::{fmt, str::FromStr, sync::Arc};

use serde::Serialize;

use super::{Escaped, Quoted, is_deceptive, serde_text::parsed_from_text};

/// The most characters a [`Reason`] may have.
pub(crate) const MAX_REASON_CHARS: usize = 4096;

/// The reason for a request, a grant or a revocation. It is not blank, has a limited length, and is stored permanently
/// with the event.
///
/// Detected keys, tokens and passwords are removed, because a reason is shown and stored (`sources/002`, "Permission
/// facts").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Reason(Arc<str>);

/// The reason why a text is not a [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidReason {
    /// The text has only white space or invisible characters.
    #[error("a reason must not be blank: state the purpose in one sentence")]
    Blank,
    /// The text has more than 4096 characters.
    #[error("a reason has at most {MAX_REASON_CHARS} characters")]
    TooLong,
}

impl Reason {
    /// Returns the text that stands for a missing reason.
    pub(crate) fn not_said() -> Reason {
        Reason("no reason given".into())
    }

    /// Returns the reason without detected secrets.
    pub(crate) fn redacted(&self) -> Reason {
        Reason::redacted_from(&self.0)
    }

    fn redacted_from(text: &str) -> Reason {
        let redacted = super::redacted(text);
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
        Ok(Reason::redacted_from(text))
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

/// The most characters a [`Name`] may have.
const MAX_NAME_CHARS: usize = 200;

/// The name of an agent for people. It tells a person who is asking, so it is neither blank nor long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Name(Arc<str>);

parsed_from_text!(Reason, Name);

/// The error for a text that is not a [`Name`]: it is blank or longer than 200 characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name is not blank and has at most {MAX_NAME_CHARS} characters")]
pub struct InvalidName;

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
