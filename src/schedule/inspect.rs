//! The tasks as their files are now, for callers that inspect them without running them.

use std::sync::Arc;

use super::{
    Gate, Last, Problem, SchedulerError, Task,
    files::{self, Content, Directory, Memory},
    gate,
    read::{self, Read},
    scheduler::{directory, zone},
    task_agent,
    write_access::WriteAccess,
};
use crate::{
    engine::{Agent, Engine, Error},
    model::{AgentId, Permission, SanitizedPath, TaskKind, TaskSettings, Timestamp},
};

/// A task file, with the state of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surveyed {
    /// The file, below the directory of tasks.
    pub file: Arc<str>,
    /// The task, or all reasons for which the file is not a task.
    pub task: Result<Task, Vec<Problem>>,
    /// The agent that a valid task runs as, if there is one.
    pub agent: Option<AgentId>,
    /// The reasons for which a valid task would not run under the current settings: its agent, or its gate.
    pub hindered: Vec<Problem>,
    /// The line of the gate, if there is one.
    pub gate_line: Option<u32>,
    /// The permissions that the gate declares and the agent lacks. The setting `on_missing` decides what then happens.
    pub missing: Vec<Permission>,
    /// The permissions that the file lists. They give nothing.
    pub ignored: Option<String>,
    /// The next due time.
    pub next: Option<Timestamp>,
    /// The last thing that happened to the task.
    pub last: Option<Last>,
    /// The things that happened to the task before, newest first, at most nine.
    pub earlier: Vec<Last>,
}

/// Reads every task file that the settings of `engine` name, and changes nothing. A file that an agent of this engine
/// can write is not a task.
///
/// # Errors
///
/// Fails if the settings name no directory of tasks, or if the directory cannot be read.
pub fn survey(engine: &Engine) -> Result<Vec<Surveyed>, SchedulerError> {
    let settings = &engine.settings()?.tasks;
    let now = engine.clock().wall().map_err(Error::from)?;
    let look = Directory::new(directory(settings)?).look().map_err(SchedulerError::Directory)?;
    let writers = WriteAccess::now(engine, &look.dir);
    let zone = zone(settings)?;
    let beat = files::remembered(&look.dir, None).unwrap_or_default();
    let surveyed = |found: files::Found| {
        let none = |why: Vec<Problem>| Surveyed {
            file: Arc::clone(&found.file),
            task: Err(why),
            agent: None,
            hindered: Vec::new(),
            gate_line: None,
            missing: Vec::new(),
            ignored: None,
            next: None,
            last: None,
            earlier: Vec::new(),
        };
        let content = match &found.what {
            Ok(content) => content,
            Err(why) => return none(vec![Problem::of_file(&**why)]),
        };
        let refused = writers.of(&content.id).or_else(|| writers.once(&content.id, content.version));
        if let Some(why) = refused {
            return none(vec![Problem::of_file(why)]);
        }
        match read::read(&content.id, &content.text, own(&look.dir, content).as_deref(), &zone) {
            Err(why) => none(why),
            Ok(read) => {
                let memory = files::remembered(&look.dir, Some(&content.id)).unwrap_or_default();
                let next = next(&read.task, content, &memory, &beat, settings, now);
                let target = match read.task.id.kind() {
                    TaskKind::Cron => task_agent::target(engine, &read.task, settings),
                    TaskKind::Heartbeat => task_agent::heartbeat(engine, settings),
                };
                let agent = target.as_ref().ok().map(|agent| agent.id().clone());
                let (hindered, missing) = stands(target, &read, settings);
                let Read { task, ignored, gate_line, .. } = read;
                let (file, task) = (found.file, Ok(task));
                let Memory { last, earlier, .. } = memory;
                Surveyed { file, task, agent, hindered, gate_line, missing, ignored, next, last, earlier }
            }
        }
    };
    Ok(look.found.into_iter().map(surveyed).collect())
}

/// Returns the problems that keep a task from running, and the permissions that its gate lacks. A task can always write
/// its own files, so these never lack.
fn stands(target: Result<Agent, String>, read: &Read, settings: &TaskSettings) -> (Vec<Problem>, Vec<Permission>) {
    match (target, &read.task.gate) {
        (Ok(_), None) => (Vec::new(), Vec::new()),
        (Ok(agent), Some(gate)) => {
            let own = settings.dir.as_ref().map(|dir| files::written(dir, &read.task.id)).unwrap_or_default();
            let is_own = |wanted: &Permission| own.iter().any(|path| Permission::write(path.clone()).covers(wanted));
            let nowhere = nowhere(gate, &agent, read.task.id.kind()).map(|why| Problem { line: read.gate_line, why });
            let missing = gate::missing(&agent, gate).into_iter().filter(|wanted| !is_own(wanted)).collect();
            (nowhere.into_iter().collect(), missing)
        }
        (Err(why), _) => (vec![Problem { line: read.agent_line, why }], Vec::new()),
    }
}

/// Returns an error text if the gate's working directory does not exist. A relative one is below the working directory
/// of the task, which is created for its run. A heartbeat task works in the directory of its agent.
fn nowhere(gate: &Gate, agent: &Agent, kind: TaskKind) -> Option<String> {
    let cwd = gate.cwd.as_deref()?;
    let path = match kind {
        _ if cwd.starts_with('/') => std::path::PathBuf::from(cwd),
        TaskKind::Heartbeat => agent.profile().ok()?.working_dir.as_path().join(cwd),
        TaskKind::Cron => return None,
    };
    (!path.is_dir()).then(|| format!("its gate could not run: its `cwd` `{}` is not a directory", cwd.escape_debug()))
}

/// Returns the directory of a cron task.
pub(super) fn own(dir: &SanitizedPath, content: &Content) -> Option<std::path::PathBuf> {
    let is_cron = content.id.kind() == TaskKind::Cron;
    is_cron.then(|| dir.as_path().join("cron").join(content.id.name()))
}

fn next(
    task: &Task,
    content: &Content,
    memory: &Memory,
    beat: &Memory,
    settings: &TaskSettings,
    now: Timestamp,
) -> Option<Timestamp> {
    let is_over = memory.is_over(task);
    match content.id.kind() {
        _ if is_over || !task.enabled => None,
        TaskKind::Cron => task.next(now),
        TaskKind::Heartbeat => {
            Some(beat.settled.map_or(now, |settled| settled.after(settings.heartbeat_every)).max(now))
        }
    }
}
