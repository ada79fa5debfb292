//! The directory of tasks on the disk.
//!
//! Every path is opened below a base directory that is held open, without following links. A file that other users can
//! write is rejected. Only the user that runs this program, or root, may write task files.

use std::{
    collections::HashMap,
    fs::{File, Metadata},
    io::Read,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{Task, When};
use crate::{
    fs::{Base, EntryKind, FileError, ResolveError, for_shell},
    model::{Escaped, FileVersion, SanitizedPath, Skip, TaskEnd, TaskId, TaskKind, Timestamp},
    suggest::closest,
};

/// The longest task file, in bytes.
const LONGEST: usize = 64 << 10;

/// The most tasks of one kind.
const MOST: usize = 100_000;

/// The result of reading one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The path below the directory of tasks, for messages.
    pub(super) file: Arc<str>,
    pub(super) what: Result<Content, Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) id: TaskId,
    pub(super) text: Arc<str>,
    /// The inode, the size and the change time of the file, as the file system reports them.
    pub(super) version: FileVersion,
}

fn version_of(file: &Metadata) -> FileVersion {
    FileVersion { inode: file.ino(), size: file.size(), changed: (file.ctime(), file.ctime_nsec()) }
}

/// Returns the time of the last change of the file.
pub(super) fn saved_at(version: FileVersion) -> Timestamp {
    Timestamp::from_millis(u64::try_from(version.changed.0).unwrap_or(0).saturating_mul(1000))
}

/// The content of the directory of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The real path of the directory.
    pub(super) dir: SanitizedPath,
    pub(super) found: Vec<Found>,
}

/// The directory of tasks, with the files that were last found in it.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: SanitizedPath,
    known: HashMap<TaskId, Content>,
}

impl Directory {
    pub(crate) fn new(path: SanitizedPath) -> Directory {
        Directory { path, known: HashMap::new() }
    }

    /// Reads every task file, in the order of names. Unchanged files are not read again.
    pub(crate) fn look(&mut self) -> Result<Look, Arc<str>> {
        let base = Base::hold(self.path.as_str()).map_err(|why| not_there(&self.path, &why))?;
        self.others_may_write("", &metadata(&self.path, "")?)?;
        let mut all = misspelt(&base)?;
        for kind in [TaskKind::Cron, TaskKind::Heartbeat] {
            self.look_at(kind, &base, &mut all)?;
        }
        self.known =
            all.iter().filter_map(|found| found.what.as_ref().ok()).map(|c| (c.id.clone(), c.clone())).collect();
        Ok(Look { dir: base.path().clone(), found: all })
    }

    fn look_at(&self, kind: TaskKind, base: &Base, all: &mut Vec<Found>) -> Result<(), Arc<str>> {
        let Ok(place) = base.below(kind.as_str()) else { return Ok(()) };
        let entries = match place.list(MOST) {
            Ok(entries) => entries,
            Err(FileError::NotFound(_)) => return Ok(()),
            Err(why) => return Err(why.to_string().into()),
        };
        self.others_may_write(kind.as_str(), &metadata(&self.path, kind.as_str())?)?;
        for entry in entries {
            let name = entry.name.to_string_lossy();
            if let Some(why) = misplaced(kind, &name, entry.kind) {
                all.push(Found { file: format!("{}/{name}", kind.as_str()).into(), what: Err(why.into()) });
            }
            let wanted = match kind {
                TaskKind::Cron => !name.starts_with('.') && entry.kind != EntryKind::File,
                TaskKind::Heartbeat => !name.starts_with('.') && name.ends_with(".md"),
            };
            if wanted {
                let (file, what) = self.one(kind, &name, base);
                all.push(Found { file, what });
            }
        }
        Ok(())
    }

    fn one(&self, kind: TaskKind, name: &str, base: &Base) -> (Arc<str>, Result<Content, Arc<str>>) {
        let (stem, file) = match kind {
            TaskKind::Cron => (name, format!("cron/{name}/TASK.md")),
            TaskKind::Heartbeat => (name.strip_suffix(".md").unwrap_or(name), format!("heartbeat/{name}")),
        };
        let content = TaskId::new(kind, stem).map_err(|why| why.to_string().into()).and_then(|id| {
            if kind == TaskKind::Cron {
                let dir = format!("cron/{name}");
                let found = metadata(&self.path, &dir)?;
                if found.is_symlink() {
                    return Err(a_link(&dir));
                }
                self.others_may_write(&dir, &found)?;
            }
            self.content(id, base)
        });
        (file.into(), content)
    }

    fn content(&self, id: TaskId, base: &Base) -> Result<Content, Arc<str>> {
        let file = self::file(&id);
        let file = match base.below(&file).map_err(|why| why.to_string())?.open_read() {
            Ok(file) => file,
            Err(FileError::Link(_)) => return Err(a_link(&self::file(&id))),
            Err(FileError::NotFound(_)) => {
                return Err(no_task(&id, base));
            }
            Err(why) => return Err(why.to_string().into()),
        };
        let found = file.metadata().map_err(|why| why.to_string())?;
        self.others_may_write(&self::file(&id), &found)?;
        if 1 < found.nlink() {
            // An agent might write the file under its other name.
            return Err(
                "the file has several names (hard links), and an agent may be able to write one: put a copy here"
                    .into(),
            );
        }
        let version = version_of(&found);
        if let Some(known) = self.known.get(&id).filter(|known| known.version == version) {
            return Ok(known.clone());
        }
        Ok(Content { id, text: text(file)?.into(), version })
    }

    /// Rejects a file or directory that other users can write, because they could then have a task run. `below` is the
    /// path below the directory of tasks.
    fn others_may_write(&self, below: &str, found: &Metadata) -> Result<(), Arc<str>> {
        let path = self.path.as_path().join(below);
        let path = if below.is_empty() { self.path.as_path() } else { path.as_path() };
        let what = if below.is_empty() { self.path.as_str() } else { below };
        let (what, name) = (Escaped(what), for_shell(path));
        let us = rustix::process::geteuid().as_raw();
        if found.uid() != us && found.uid() != 0 {
            let why = format!(
                "user {} owns `{what}`, but only root and the user that runs this ({us}) may: run `chown {us} {name}`",
                found.uid()
            );
            return Err(why.into());
        }
        if found.mode() & 0o022 != 0 {
            let mode = found.mode() & 0o777;
            let why = format!("users other than its owner may write `{what}` (mode {mode:o}): run `chmod go-w {name}`");
            return Err(why.into());
        }
        Ok(())
    }
}

/// Returns an error text for an entry at a place where tasks are never read.
fn misplaced(kind: TaskKind, name: &str, what: EntryKind) -> Option<String> {
    let stem = |endings: &[&str]| {
        let stem = endings.iter().find_map(|ending| name.strip_suffix(ending))?;
        Some(stem).filter(|stem| !stem.starts_with('.') && !stem.eq_ignore_ascii_case("readme"))
    };
    match (kind, what) {
        (TaskKind::Cron, EntryKind::File) => stem(&[".md"])
            .map(|stem| format!("a task with a schedule is a directory: move this to `cron/{stem}/TASK.md`")),
        (TaskKind::Heartbeat, EntryKind::File) => stem(&[".txt", ".markdown", ".MD"]).map(|stem| {
            format!(
                "a task of the heartbeat ends in `.md`: call this `heartbeat/{stem}.md`, or move it \
                                 away"
            )
        }),
        (TaskKind::Heartbeat, EntryKind::Directory) if !name.starts_with('.') && !name.ends_with(".md") => Some(
            "a task of the heartbeat is a file, and nothing below this is read: move this to `heartbeat/NAME.md`, or \
             away"
                .to_owned(),
        ),
        (TaskKind::Cron | TaskKind::Heartbeat, _) => None,
    }
}

/// Finds directories with names similar to those of the task directories. Tasks in them would never be read.
fn misspelt(base: &Base) -> Result<Vec<Found>, Arc<str>> {
    let place = base.below("").map_err(|why| why.to_string())?;
    let entries = place.list(MOST).map_err(|why| why.to_string())?;
    let mut all = Vec::new();
    for name in entries.iter().filter(|entry| entry.kind == EntryKind::Directory).map(|entry| &entry.name) {
        let name = name.to_string_lossy();
        if let Some(kind) = closest(&name, [TaskKind::Cron, TaskKind::Heartbeat].map(TaskKind::as_str)) {
            let why = format!("the scheduler reads no tasks below this directory: did you mean `{kind}`?");
            all.push(Found { file: name.into(), what: Err(why.into()) });
        }
    }
    Ok(all)
}

/// Returns the error text for a directory without a task file.
fn no_task(id: &TaskId, base: &Base) -> Arc<str> {
    let dir = format!("cron/{}", id.name());
    let entries = base.below(&dir).and_then(|place| place.list(MOST)).unwrap_or_default();
    let names = entries.iter().map(|entry| entry.name.to_string_lossy());
    match names.into_iter().find(|name| name.eq_ignore_ascii_case("TASK.md")) {
        Some(name) => format!("the file of a task must be named `TASK.md`, not `{}`: rename it", Escaped(&name)).into(),
        None => "there is no `TASK.md` in this directory: write it, or move the directory away".into(),
    }
}

fn a_link(what: &str) -> Arc<str> {
    format!("`{what}` is a link, and links are not followed: put the file or directory itself here").into()
}

fn text(file: File) -> Result<String, Arc<str>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(LONGEST).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(|why| why.to_string())?;
    if bytes.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes").into());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into())
}

/// Returns the error text for a missing directory of tasks. The policy file names that directory.
fn not_there(path: &SanitizedPath, why: &ResolveError) -> Arc<str> {
    if !matches!(why, ResolveError::Missing(_)) {
        return format!("the directory of tasks (`dir` in `[tasks]`): {why}").into();
    }
    let (shown, name) = (Escaped(path.as_str()), for_shell(path.as_path()));
    format!("`{shown}` does not exist, the directory of tasks (`dir` in `[tasks]`): run `mkdir -p {name}`").into()
}

fn metadata(dir: &SanitizedPath, below: &str) -> Result<Metadata, Arc<str>> {
    let path = dir.as_path().join(below);
    std::fs::symlink_metadata(&path).map_err(|why| format!("`{}`: {why}", path.display()).into())
}

/// The state that is stored beside a task, or beside the heartbeat tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Memory {
    /// Every run that was due up to this time has run or was skipped.
    pub(super) settled: Option<Timestamp>,
    /// The last thing that happened.
    pub(super) last: Option<Last>,
    /// The things that happened before it, newest first.
    pub(super) earlier: Vec<Last>,
    /// The schedule that a one-time task has already run for.
    pub(super) once: Option<Once>,
}

/// The identity of a one-time run. The task is over until one of these fields changes, even if its file is saved again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Once {
    /// The name of the task. A directory that was copied or renamed is another task.
    task: TaskId,
    schedule: String,
    time_zone: String,
}

impl Once {
    /// Returns the identity of a run of `task`, or `None` if the task is not for one run only.
    pub(super) fn of(task: &Task) -> Option<Once> {
        match &task.when {
            When::At(expression, zone) if task.once => {
                let schedule = expression.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
                Some(Once { task: task.id.clone(), schedule, time_zone: zone.name().to_owned() })
            }
            When::At(..) | When::WithTheHeartbeat => None,
        }
    }
}

/// The most things that are remembered of a task, before the last one.
const EARLIER: usize = 9;

impl Memory {
    /// Records that something happened. The end of a run takes the place of its start.
    pub(super) fn note(&mut self, at: Timestamp, what: Happened) {
        let before = self.last.replace(Last { at, what }).filter(|before| before.what != Happened::Started);
        self.earlier.splice(..0, before);
        self.earlier.truncate(EARLIER);
    }

    /// Returns true if `task` is for one run only and has run.
    pub(super) fn is_over(&self, task: &Task) -> bool {
        self.once.is_some() && self.once == Once::of(task)
    }
}

/// The last thing that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "when and what")]
pub struct Last {
    /// The time of the event.
    pub at: Timestamp,
    /// The event.
    pub what: Happened,
}

/// The state or the result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "people ask what")]
pub enum Happened {
    /// The run began. If it does not run any more, it was interrupted.
    Started,
    /// The run ended.
    Ended(TaskEnd),
    /// The run did not begin.
    Skipped(Skip),
}

impl std::fmt::Display for Happened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Happened::Started => f.write_str("started; its end is not known"),
            Happened::Ended(end) => end.fmt(f),
            Happened::Skipped(why) => write!(f, "skipped: {why}"),
        }
    }
}

fn memory_file(id: Option<&TaskId>) -> String {
    match id {
        Some(id) if id.kind() == TaskKind::Cron => format!("cron/{}/state.json", id.name()),
        // The name of a task does not begin with a dot, so this file belongs to no other task.
        Some(id) => format!("heartbeat/.{}.json", id.name()),
        None => "heartbeat/state.json".into(),
    }
}

/// Returns the file of a task, below the directory of tasks.
pub(super) fn file(id: &TaskId) -> String {
    match id.kind() {
        TaskKind::Cron => format!("cron/{}/TASK.md", id.name()),
        TaskKind::Heartbeat => format!("heartbeat/{}.md", id.name()),
    }
}

/// Returns the files that only people and this program may write: the file of a task, and its stored state.
pub(super) fn own(dir: &SanitizedPath, id: &TaskId) -> Vec<SanitizedPath> {
    let own = [file(id), memory_file(Some(id)), memory_file(None)];
    own.iter().filter_map(|below| format!("{dir}/{below}").parse().ok()).collect()
}

/// Returns the paths of its own that a task may write.
pub(super) fn written(dir: &SanitizedPath, id: &TaskId) -> Vec<SanitizedPath> {
    let own = match id.kind() {
        TaskKind::Cron => vec![format!("cron/{}/files", id.name()), format!("cron/{}/MEMORY.md", id.name())],
        TaskKind::Heartbeat => Vec::new(),
    };
    own.iter().filter_map(|below| format!("{dir}/{below}").parse().ok()).collect()
}

/// Reads the stored state of a task, or of the heartbeat.
pub(super) fn remembered(dir: &SanitizedPath, id: Option<&TaskId>) -> Result<Memory, String> {
    let file = memory_file(id);
    let base = Base::hold(dir.as_str()).map_err(|why| why.to_string())?;
    let place = base.below(&file).map_err(|why| why.to_string())?;
    match place.read(LONGEST) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|why| format!("`{file}`: {why}")),
        Err(FileError::NotFound(_)) => Ok(Memory::default()),
        Err(why) => Err(why.to_string()),
    }
}

/// Stores the state. The whole file is replaced at once, also if the machine crashes.
pub(super) fn remember(dir: &SanitizedPath, id: Option<&TaskId>, memory: &Memory) -> Result<(), String> {
    let text = serde_json::to_vec_pretty(memory).map_err(|why| why.to_string())?;
    let base = Base::hold(dir.as_str()).map_err(|why| why.to_string())?;
    base.below(&memory_file(id)).and_then(|place| place.write(&text)).map_err(|why| why.to_string())
}

/// Creates the `files/` directory and the `MEMORY.md` of a cron task, and returns their paths.
pub(super) fn furnish(dir: &SanitizedPath, id: &TaskId) -> Result<(SanitizedPath, SanitizedPath), String> {
    let base = Base::hold(dir.as_str()).map_err(|why| why.to_string())?;
    let (files, memory) = (format!("cron/{}/files", id.name()), format!("cron/{}/MEMORY.md", id.name()));
    let made = base.below(&files).and_then(|place| place.create_dir_all());
    made.map_err(|why| why.to_string())?;
    let place = base.below(&memory).map_err(|why| why.to_string())?;
    match place.open_read() {
        Ok(_) => {}
        Err(FileError::NotFound(_)) => place.write(b"").map_err(|why| why.to_string())?,
        Err(why) => return Err(why.to_string()),
    }
    let path = |below: &str| format!("{}/{below}", base.path()).parse::<SanitizedPath>().map_err(|why| why.to_string());
    Ok((path(&files)?, path(&memory)?))
}

/// Returns the directories to watch for changes of tasks.
pub(crate) fn directories(dir: &SanitizedPath) -> Vec<PathBuf> {
    let cron = dir.as_path().join("cron");
    let below = std::fs::read_dir(&cron).into_iter().flatten().flatten();
    // If an entry cannot be examined, the reader of the directory reports it.
    let tasks = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    [dir.as_path().to_owned(), cron.clone(), dir.as_path().join("heartbeat")]
        .into_iter()
        .chain(tasks.take(MOST))
        .collect()
}

/// Returns true if a change of `path` can change tasks. Files that tasks write themselves do not count.
pub(crate) fn matters(dir: &SanitizedPath, path: &std::path::Path) -> bool {
    let Ok(below) = path.strip_prefix(dir.as_path()) else { return dir.as_path().starts_with(path) };
    let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
    match names.iter().map(|name| name.as_ref()).collect::<Vec<_>>().as_slice() {
        [] | [_] | ["cron", _] | ["cron", _, "TASK.md"] => true,
        ["heartbeat", name] => name.ends_with(".md"),
        _ => false,
    }
}
