//! The three tiers and the two ways to draw the line of the lowest one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How much harm a command can do. The order is the order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

    /// The words a reason starts with.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Tier::Safe => "Safe command",
            Tier::Dangerous => "Dangerous command",
            Tier::Destructive => "Destructive command",
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

/// Where the line between safe and dangerous is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The documented line: plain `env`, `curl URL`, `wget URL` and reading any file are safe.
    #[default]
    Default,
    /// Printing the environment, talking to the network and reading secrets ask as well.
    Strict,
}
