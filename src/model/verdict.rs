//! The verdicts of the engine about an action.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The verdict of the engine about an action. The order is the order of strictness: if several rules apply, the
/// strictest verdict counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "yes, a question, and no are all there is")]
pub enum Verdict {
    /// The action may happen.
    Allow,
    /// A person must approve the action.
    Ask,
    /// The action may not happen.
    Deny,
}

impl Verdict {
    /// Returns the name in files and on the wire.
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

/// The error for a text that is not a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a verdict is `allow`, `ask` or `deny`")]
pub struct InvalidVerdict;

impl FromStr for Verdict {
    type Err = InvalidVerdict;

    fn from_str(text: &str) -> Result<Self, InvalidVerdict> {
        let all = [Verdict::Allow, Verdict::Ask, Verdict::Deny];
        all.into_iter().find(|verdict| verdict.as_str() == text).ok_or(InvalidVerdict)
    }
}

/// The effect of a decision: a verdict, or the fourth value, *confined*. Rules and people give [`Verdict`]s only.
///
/// [`Effect::Confined`] is no approval. It equals no verdict, and the action may happen only inside a sandbox. The
/// library runs it with `Agent::exec`. A host program with its own sandbox reports the sandbox with
/// [`Engine::confine`](crate::Engine::confine), and then gets the approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a host program has to know all four")]
pub enum Effect {
    /// The action may happen.
    Allow,
    /// The action may happen inside a sandbox, and nowhere else.
    Confined,
    /// A person must approve the action.
    Ask,
    /// The action may not happen.
    Deny,
}

impl Effect {
    /// Returns the name in files and on the wire.
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
