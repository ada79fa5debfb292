//! Tasks as their files are now, for whoever looks without running them.

use std::sync::Arc;

use super::{
    Last, SchedulerError, Task, actors,
    files::{self, Content, Directory, Memory},
    read,
    scheduler::{directory, zone},
};
use crate::{
    engine::Engine,
    model::{SanitizedPath, TaskKind, TaskSettings, Timestamp},
};

/// One file, and what is known of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surveyed {
    /// The file, below the directory of tasks.
    pub file: Arc<str>,
    /// The task, or every reason why it is none.
    pub task: Result<Task, Vec<String>>,
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
    let now = engine.now()?;
    let look = Directory::new(directory(settings)?).look().map_err(SchedulerError::Directory)?;
    let writers = actors::writers(engine, &look.dir);
    let zone = zone(settings)?;
    let beat = files::remembered(&look.dir, None).unwrap_or_default();
    let surveyed = |found: files::Found| {
        let none = |why: Vec<String>| Surveyed {
            file: Arc::clone(&found.file),
            task: Err(why),
            ignored: None,
            next: None,
            last: None,
        };
        let content = match &found.what {
            Ok(content) => content,
            Err(why) => return none(vec![why.to_string()]),
        };
        if let Some(why) = actors::writer_of(&look.dir, &content.id, &writers) {
            return none(vec![why]);
        }
        match read::read(&content.id, &content.text, own(&look.dir, content).as_deref(), zone) {
            Err(why) => none(why.iter().map(ToString::to_string).collect()),
            Ok(read) => {
                let memory = files::remembered(&look.dir, Some(&content.id)).unwrap_or_default();
                let next = next(&read.task, content, &memory, &beat, settings, now);
                Surveyed { file: found.file, task: Ok(read.task), ignored: read.ignored, next, last: memory.last }
            }
        }
    };
    Ok(look.found.into_iter().map(surveyed).collect())
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
    let is_over = task.once && memory.once == Some(content.version);
    match content.id.kind() {
        _ if is_over || !task.enabled => None,
        TaskKind::Cron => task.next(now),
        TaskKind::Heartbeat => {
            Some(beat.settled.map_or(now, |settled| settled.after(settings.heartbeat_every)).max(now))
        }
    }
}
