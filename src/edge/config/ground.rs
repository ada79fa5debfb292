//! What the policy file rests on: its name, its directory, and whatever leads there. No agent may write any of it.

use super::{Problem, finding::quoted};
use crate::{
    fs::Trail,
    model::{AgentId, FileIdentity, SanitizedPath},
};

/// The way to the policy file, by names and by what was found under them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ground {
    pub(super) trail: Trail,
}

impl Ground {
    /// Why `agent` may not write `root`, which is what `identity` says; none if it may.
    pub(super) fn held_by(
        &self,
        agent: &AgentId,
        root: &SanitizedPath,
        identity: Option<FileIdentity>,
    ) -> Option<Problem> {
        let shown = quoted(root.as_str());
        // By component, as everywhere.
        if self.trail.names.iter().any(|name| name.starts_with(root.as_path())) {
            let message =
                format!("agent `{agent}` may write {shown}, which holds this file: it could give itself any right");
            return Some(Problem::new(message).help("move this file out of there, or name a smaller directory"));
        }
        let _ = identity;
        None
    }
}
