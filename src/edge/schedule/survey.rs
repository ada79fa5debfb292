//! Tasks as their files are now, for whoever looks without running them.

use std::sync::Arc;

use super::{
    Gate, Last, Problem, SchedulerError, Task, actors,
    files::{self, Content, Directory, Memory},
    gate,
    read::{self, Read},
    scheduler::{directory, zone},
    writers::Writers,
};
use crate::{
    engine::{Agent, Engine, Error},
    model::{Permission, SanitizedPath, TaskKind, TaskSettings, Timestamp},
};

/// One file, and what is known of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surveyed {
    /// The file, below the directory of tasks.
    pub file: Arc<str>,
    /// The task, or every reason why it is none.
    pub task: Result<Task, Vec<Problem>>,
    /// Why a task whose file is good would not run as things stand: whom it names, what its gate wants.
    pub hindered: Vec<Problem>,
    /// Where its gate stands, if it has one.
    pub gate_line: Option<u32>,
    /// What its gate declares and its agent lacks; what becomes of it then, the settings say (`on_missing`).
    pub missing: Vec<Permission>,
    /// What the file lists as permissions, which gives nothing.
    pub ignored: Option<String>,
    /// When it is due next.
    pub next: Option<Timestamp>,
    /// What happened to it last.
    pub last: Option<Last>,
}

/// Reads every task file that the settings of `engine` name, and changes nothing. A file that an agent of this engine may
/// write is no task.
///
/// # Errors
///
/// If nobody says where the tasks are, or the directory cannot be read.
pub fn survey(engine: &Engine) -> Result<Vec<Surveyed>, SchedulerError> {
    let settings = &engine.settings()?.tasks;
    let now = engine.clock().wall().map_err(Error::from)?;
    let look = Directory::new(directory(settings)?).look().map_err(SchedulerError::Directory)?;
    let writers = Writers::now(engine, &look.dir);
    let zone = zone(settings)?;
    let beat = files::remembered(&look.dir, None).unwrap_or_default();
    let surveyed = |found: files::Found| {
        let none = |why: Vec<Problem>| Surveyed {
            file: Arc::clone(&found.file),
            task: Err(why),
            hindered: Vec::new(),
            gate_line: None,
            missing: Vec::new(),
            ignored: None,
            next: None,
            last: None,
        };
        let content = match &found.what {
            Ok(content) => content,
            Err(why) => return none(vec![Problem::of_file(&**why)]),
        };
        let refused = writers.of(&content.id).or_else(|| writers.once(&content.id, content.version));
        if let Some(why) = refused {
            return none(vec![Problem::of_file(why)]);
        }
        match read::read(&content.id, &content.text, own(&look.dir, content).as_deref(), zone) {
            Err(why) => none(why),
            Ok(read) => {
                let memory = files::remembered(&look.dir, Some(&content.id)).unwrap_or_default();
                let next = next(&read.task, content, &memory, &beat, settings, now);
                let (hindered, missing) = stands(engine, &read, settings);
                let Read { task, ignored, gate_line, .. } = read;
                let (file, task, last) = (found.file, Ok(task), memory.last);
                Surveyed { file, task, hindered, gate_line, missing, ignored, next, last }
            }
        }
    };
    Ok(look.found.into_iter().map(surveyed).collect())
}

/// What keeps it from running, and what its gate lacks. Its own files it may always write.
fn stands(engine: &Engine, read: &Read, settings: &TaskSettings) -> (Vec<Problem>, Vec<Permission>) {
    let target = match read.task.id.kind() {
        TaskKind::Cron => actors::target(engine, &read.task, settings),
        TaskKind::Heartbeat => actors::heartbeat(engine, settings),
    };
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

/// Where its gate would start, if nobody can start there. A relative one is below where the task works, which is made for its
/// run; a heartbeat works where its agent does.
fn nowhere(gate: &Gate, agent: &Agent, kind: TaskKind) -> Option<String> {
    let cwd = gate.cwd.as_deref()?;
    let path = match kind {
        _ if cwd.starts_with('/') => std::path::PathBuf::from(cwd),
        TaskKind::Heartbeat => agent.profile().ok()?.working_dir.as_path().join(cwd),
        TaskKind::Cron => return None,
    };
    (!path.is_dir()).then(|| format!("its gate could not run: its `cwd` `{}` is no directory", cwd.escape_debug()))
}

/// The directory of a task that has one.
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
