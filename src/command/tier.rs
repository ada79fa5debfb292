//! The tiers of the model, how a reason begins, and where the line of the lowest one lies.

use serde::{Deserialize, Serialize};

pub use crate::model::{InvalidTier, Tier};

/// The words a reason starts with.
pub(super) fn prefix(tier: Tier) -> &'static str {
    match tier {
        Tier::Safe => "Safe command",
        Tier::Dangerous => "Dangerous command",
        Tier::Destructive => "Destructive command",
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
