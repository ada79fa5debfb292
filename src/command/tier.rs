//! The tiers and profiles of the model under the names they have here, and how a reason begins.

pub use crate::model::{CommandProfile as Profile, InvalidProfile, InvalidTier, Tier};

/// The words a reason starts with.
pub(super) fn prefix(tier: Tier) -> &'static str {
    match tier {
        Tier::Safe => "Safe command",
        Tier::Dangerous => "Dangerous command",
        Tier::Destructive => "Destructive command",
    }
}
