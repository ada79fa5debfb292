//! Who may write a task file besides people: then it is none.

use std::{collections::HashMap, path::PathBuf};

use super::files;
use crate::{
    engine::Engine,
    kernel::WriteEnds,
    model::{Access, AgentId, FileVersion, Permission, SanitizedPath, TaskId},
};

/// What agents may write in or around the directory of tasks, at one moment.
///
/// Each task adds rights of its own to this, so a file is looked up by the directories above it and not compared with all.
#[derive(Debug)]
pub(super) struct Writers {
    engine: Engine,
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
        // What a yes for once gives is no grant until it is used.
        for ruling in engine.rulings().unwrap_or_default() {
            for right in &ruling.gives {
                if let Permission::Path(Access::Write, root) = &right.permission
                    && (root.contains(dir) || dir.contains(root))
                {
                    roots.insert(root.as_path().to_owned(), ruling.agent.clone());
                }
            }
        }
        Writers { engine: engine.clone(), dir: dir.clone(), roots }
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

    /// Why the file of `id` as it is now is not taken although no agent may write it any more: one could, and may have.
    pub(super) fn once(&self, id: &TaskId, version: FileVersion) -> Option<String> {
        let own = files::own(&self.dir, id);
        // What cannot be told is not trusted.
        let may_be = self.engine.may_be_an_agents(id, &own, version).unwrap_or(true);
        let why =
            "an agent could write it once, and nobody has saved it since: read it, and save it again if it is yours";
        may_be.then(|| why.to_owned())
    }

    /// Remembers whether the file is taken for a person's, where an agent could write it once.
    pub(super) fn judge(&self, id: &TaskId, version: FileVersion, ends: &WriteEnds, is_trusted: bool) {
        let own = files::own(&self.dir, id);
        // Fails only if the engine ends, and then nothing of it runs.
        let _ = self.engine.judge_task_file(id, &own, version, ends.of(&own), is_trusted);
    }
}
