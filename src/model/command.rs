//! What a person writes down about commands: the tiers, where the line of the lowest one lies, and rules of their own.
//!
//! Nothing here reads a command; that is [`command`](crate::command).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How much harm a command can do (`sources/003`, command classification tiers). The order is the order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "three tiers are what the classifier promises")]
pub enum Tier {
    /// Proven to read only: every part, flag and operand of it is on a list.
    Safe,
    /// Everything that is neither proven safe nor found destructive.
    Dangerous,
    /// Found to do harm that nobody can undo.
    Destructive,
}

impl Tier {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Safe => "safe",
            Tier::Dangerous => "dangerous",
            Tier::Destructive => "destructive",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not the name of a [`Tier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is one way to be none of three words")]
pub struct InvalidTier;

impl fmt::Display for InvalidTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tier is `safe`, `dangerous` or `destructive`")
    }
}

impl std::error::Error for InvalidTier {}

impl FromStr for Tier {
    type Err = InvalidTier;

    fn from_str(text: &str) -> Result<Self, InvalidTier> {
        [Tier::Safe, Tier::Dangerous, Tier::Destructive]
            .into_iter()
            .find(|tier| tier.as_str() == text)
            .ok_or(InvalidTier)
    }
}
