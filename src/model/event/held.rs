//! What a file would change, once a person agrees.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    super::{AgentId, Permission},
    words::held_back,
};

/// The file gives more than before, and that waits for a person: what an engine would take over once one agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldChange {
    /// Its number, which a person names to agree to just this.
    pub change: u64,
    /// What agents would gain, for use or for passing on, and what the file would give them that somebody else gives now.
    pub would_gain: Vec<(AgentId, Permission)>,
    /// What else would be different, a sentence each, and for which agent; for none: settings.
    pub besides: Vec<(Option<AgentId>, Arc<str>)>,
}

impl fmt::Display for HeldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        held_back(f, self.change, &self.would_gain, &self.besides)
    }
}
