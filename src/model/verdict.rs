//! What the engine says to an action.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What the engine says to an action now. The order is the order of strictness: where several rules speak, the
/// strictest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "yes, a question, and no are all there is")]
pub enum Verdict {
    /// It may happen.
    Allow,
    /// A person has to say.
    Ask,
    /// It may not happen.
    Deny,
}

impl Verdict {
    /// The name in files and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text is not a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidVerdict;

impl fmt::Display for InvalidVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a verdict is `allow`, `ask` or `deny`")
    }
}

impl std::error::Error for InvalidVerdict {}

impl FromStr for Verdict {
    type Err = InvalidVerdict;

    fn from_str(text: &str) -> Result<Self, InvalidVerdict> {
        let all = [Verdict::Allow, Verdict::Ask, Verdict::Deny];
        all.into_iter().find(|verdict| verdict.as_str() == text).ok_or(InvalidVerdict)
    }
}
