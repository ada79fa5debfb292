//! A change of a policy file that waits for the approval of a person.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    super::{AgentId, Permission},
    display::held_back,
};

/// A pending change of a policy file that gives more permissions than before. The engine applies it when a person
/// agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldChange {
    /// The number of the change. A person names it to agree to exactly this change.
    pub change: u64,
    /// The permissions that agents would gain, for use or for passing on. This includes permissions that another source
    /// gives now and the file would give then.
    pub would_gain: Vec<(AgentId, Permission)>,
    /// Further changes, one sentence each, with the agent. Without an agent, the sentence is about the settings.
    pub besides: Vec<(Option<AgentId>, Arc<str>)>,
}

impl fmt::Display for HeldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        held_back(f, self.change, &self.would_gain, &self.besides)
    }
}
