//! The agents that can write task files. A file that an agent can write is not a task.

use std::{collections::HashMap, path::PathBuf};

use super::files;
use crate::{
    engine::{Engine, Error},
    kernel::WriteEnds,
    model::{Access, AgentId, FileVersion, Permission, SanitizedPath, TaskId},
};

/// The write permissions of agents in or around the directory of tasks, at one moment.
///
/// Each task adds permissions of its own. A file is therefore looked up through the directories above it, and not
/// compared with every permission.
#[derive(Debug)]
pub(super) struct WriteAccess {
    engine: Engine,
    dir: SanitizedPath,
    /// The writable directories, or `None` if the engine did not answer.
    roots: Option<HashMap<PathBuf, AgentId>>,
}

impl WriteAccess {
    pub(super) fn now(engine: &Engine, dir: &SanitizedPath) -> WriteAccess {
        WriteAccess { engine: engine.clone(), dir: dir.clone(), roots: roots(engine, dir).ok() }
    }

    /// Returns the reason to reject the file of `id` if an agent can write it now, even if its content is correct. Such
    /// an agent could decide what another agent does.
    pub(super) fn of(&self, id: &TaskId) -> Option<String> {
        let own = files::own(&self.dir, id);
        let mut above = own.iter().flat_map(|path| path.as_path().ancestors());
        let Some(roots) = &self.roots else {
            return Some("the engine does not answer, so it is unknown which agents may write it".to_owned());
        };
        let (agent, root) = above.find_map(|path| Some((roots.get(path)?, path)))?;
        let root = root.display();
        Some(format!(
            "agent `{agent}` may write it, by its permission to `{root}`: a file that an agent can write is no task; \
             put the tasks elsewhere, or give the agent less"
        ))
    }

    /// Returns the reason to reject this version of the file if an agent could write it before. The agent may have
    /// written it, even if no agent can write it now.
    pub(super) fn once(&self, id: &TaskId, version: FileVersion) -> Option<String> {
        let own = files::own(&self.dir, id);
        // If the engine cannot answer, the file is not trusted.
        let may_be = self.engine.may_be_an_agents(id, &own, version).unwrap_or(true);
        let why = "an agent could write it once, and it was not saved since: read it, and save it again if it is yours";
        may_be.then(|| why.to_owned())
    }

    /// Records if a file that an agent could write before counts as a person's file.
    pub(super) fn judge(&self, id: &TaskId, version: FileVersion, ends: &WriteEnds, is_trusted: bool) {
        let own = files::own(&self.dir, id);
        // This fails only if the engine ends, and then no task runs.
        let _ = self.engine.judge_task_file(id, &own, version, ends.of(&own), is_trusted);
    }
}

/// Returns the directories in or around `dir` that agents can write. They come from grants, and from one-time
/// approvals, which become grants only when they are used.
fn roots(engine: &Engine, dir: &SanitizedPath) -> Result<HashMap<PathBuf, AgentId>, Error> {
    let (grants, rulings) = (engine.grants()?, engine.rulings()?);
    let granted = grants.iter().map(|grant| (&grant.pinned, &grant.to));
    let given = rulings.iter().flat_map(|ruling| ruling.gives.iter().map(|pinned| (pinned, &ruling.agent)));
    let written = granted.chain(given).filter_map(|(pinned, agent)| {
        let Permission::Path(Access::Write, root) = &pinned.permission else { return None };
        (root.contains(dir) || dir.contains(root)).then_some((root, agent))
    });
    Ok(written.map(|(root, agent)| (root.as_path().to_owned(), agent.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Settings;

    #[tokio::test]
    async fn a_file_is_no_task_if_the_engine_cannot_say_who_writes_it() {
        let engine = Engine::new(Settings::default()).unwrap();
        let (dir, id) = ("/tasks".parse().unwrap(), "cron/nightly".parse().unwrap());
        assert_eq!(WriteAccess::now(&engine, &dir).of(&id), None);
        engine.shutdown().await;
        let why = WriteAccess::now(&engine, &dir).of(&id);
        assert!(why.as_ref().is_some_and(|why| why.contains("it is unknown which agents")), "{why:?}");
    }
}
