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

/// The effect of a decision: a verdict, or the fourth answer, *confined*. Rules and people say [`Verdict`]s only.
///
/// [`Effect::Confined`] is no yes: it equals no verdict, and the action may happen only inside a sandbox. The library
/// carries it out with `Agent::exec`; a host program that confines by itself reports how with
/// [`Engine::confine`](crate::Engine::confine), and has its yes then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a host program has to know all four")]
pub enum Effect {
    /// It may happen.
    Allow,
    /// It may happen inside a sandbox, and nowhere else.
    Confined,
    /// A person has to say.
    Ask,
    /// It may not happen.
    Deny,
}

impl Effect {
    /// The name in files and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Allow => "allow",
            Effect::Confined => "confined",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Verdict> for Effect {
    fn from(verdict: Verdict) -> Effect {
        match verdict {
            Verdict::Allow => Effect::Allow,
            Verdict::Ask => Effect::Ask,
            Verdict::Deny => Effect::Deny,
        }
    }
}

impl PartialEq<Verdict> for Effect {
    fn eq(&self, other: &Verdict) -> bool {
        *self == Effect::from(*other)
    }
}

impl PartialEq<Effect> for Verdict {
    fn eq(&self, other: &Effect) -> bool {
        other == self
    }
}
