//! The names of what an agent has: grants and saved decisions.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::model::{GrantId, SavedDecisionId};

/// A reference to a revocable item by its name: `g4`, `r2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::exhaustive_enums, reason = "what an agent has it holds, or was told")]
pub enum GrantOrDecisionId {
    /// A grant.
    Grant(GrantId),
    /// A saved decision of a person about an action.
    Ruling(SavedDecisionId),
}

/// The error for a text that names neither a grant nor a saved decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("name a grant (`g4`) or a saved decision (`r2`) from the list of `bestow grants`")]
pub struct InvalidHeld;

impl FromStr for GrantOrDecisionId {
    type Err = InvalidHeld;

    fn from_str(text: &str) -> Result<GrantOrDecisionId, InvalidHeld> {
        let grant = text.parse().map(GrantOrDecisionId::Grant).ok();
        grant.or_else(|| text.parse().map(GrantOrDecisionId::Ruling).ok()).ok_or(InvalidHeld)
    }
}

impl fmt::Display for GrantOrDecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GrantOrDecisionId::Grant(grant) => grant.fmt(f),
            GrantOrDecisionId::Ruling(ruling) => ruling.fmt(f),
        }
    }
}
