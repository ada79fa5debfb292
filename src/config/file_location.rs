//! The location of the policy file: its name, its directory, and the way to it. No agent may write any of these.

#[cfg(test)]
mod tests;

use std::{io, path::PathBuf};

use super::{Problem, diagnostics::quoted};
use crate::{
    fs::Trail,
    model::{AgentId, FileIdentity, SanitizedPath},
};

/// The way to the policy file, by names and by objects.
#[derive(Clone, Debug)]
pub(super) struct PolicyLocation {
    pub(super) trail: Trail,
    /// Objects that may have another name too, for example a directory that is mounted in a second place.
    objects: Vec<(FileIdentity, PathBuf)>,
}

impl PolicyLocation {
    /// Records the objects on the way of `trail`.
    ///
    /// # Errors
    ///
    /// An I/O error when a directory on the way cannot be read, or is gone by now.
    pub(super) fn of(trail: Trail) -> io::Result<PolicyLocation> {
        Ok(PolicyLocation { objects: trail.objects()?, trail })
    }

    /// Returns the reason why `agent` may not write `root`, whose object is `identity`; none if it may.
    pub(super) fn held_by(
        &self,
        agent: &AgentId,
        root: &SanitizedPath,
        identity: Option<FileIdentity>,
    ) -> Option<Problem> {
        let shown = quoted(root.as_str());
        if root.as_path() == self.trail.real {
            let message =
                format!("agent `{agent}` cannot get write access to this file: it could give itself any permission");
            let help = "remove this permission, because no agent may write the policy file";
            return Some(Problem::new(message).help(help));
        }
        // The comparison is by component.
        if self.trail.names.iter().any(|name| name.starts_with(root.as_path())) {
            let message = format!(
                "agent `{agent}` may write {shown}, which contains this file: it could give itself any permission"
            );
            return Some(
                Problem::new(message).help("move this file to another directory, or name a smaller directory"),
            );
        }
        let (_, same) = self.objects.iter().find(|(object, _)| Some(*object) == identity)?;
        let same = quoted(&same.to_string_lossy());
        let message = format!(
            "agent `{agent}` may write {shown}, which is {same} under another name and contains this file: it could \
             give itself any permission"
        );
        Some(Problem::new(message).help("move this file to another directory, or name a smaller directory"))
    }
}
