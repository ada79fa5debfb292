//! The tiers and profiles of the model, renamed for this module, and the first words of a reason.

pub use crate::values::{CommandProfile as Profile, InvalidProfile, InvalidTier, Tier};

/// Returns the first words of a reason.
pub(super) fn prefix(tier: Tier) -> &'static str {
    match tier {
        Tier::Safe => "Safe command",
        Tier::Dangerous => "Dangerous command",
        Tier::Destructive => "Destructive command",
    }
}
