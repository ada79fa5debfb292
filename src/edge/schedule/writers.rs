//! Who may write a task file besides people: then it is none.

use std::{collections::HashMap, path::PathBuf};

use super::files;
use crate::{
    engine::Engine,
    model::{Access, AgentId, Permission, SanitizedPath, TaskId},
};

/// What agents may write in or around the directory of tasks, at one moment.
///
/// Each task adds rights of its own to this, so a file is looked up by the directories above it and not compared with all.
#[derive(Debug)]
pub(super) struct Writers {
    dir: SanitizedPath,
    roots: HashMap<PathBuf, AgentId>,
}

impl Writers {
    pub(super) fn now(engine: &Engine, dir: &SanitizedPath) -> Writers {
        let mut roots = HashMap::new();
        for grant in engine.grants().unwrap_or_default() {
            if let Permission::Path(Access::Write, root) = &grant.right.permission
                && (root.contains(dir) || dir.contains(root))
            {
                roots.insert(root.as_path().to_owned(), grant.to.clone());
            }
        }
        Writers { dir: dir.clone(), roots }
    }

    /// Why the file of `id` is not taken although it may be right: an agent that may write it says what another one does.
    pub(super) fn of(&self, id: &TaskId) -> Option<String> {
        let own = files::own(&self.dir, id);
        let mut above = own.iter().flat_map(|path| path.as_path().ancestors());
        let (agent, root) = above.find_map(|path| Some((self.roots.get(path)?, path)))?;
        let root = root.display();
        Some(format!(
            "agent `{agent}` may write it, by its right to `{root}`: nothing that an agent can write is a task; put the \
             tasks elsewhere, or give it less"
        ))
    }
}
