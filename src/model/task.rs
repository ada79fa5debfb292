//! Scheduled tasks outside of their files: ids, settings and events (`sources/004`, "Scheduled tasks"). No type here
//! has a field for permissions of a task.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{AgentId, Escaped, Permission, SanitizedPath, Timestamp, list_permissions};

/// The trigger of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "each has a directory of its own")]
pub enum TaskKind {
    /// A schedule of its own.
    Cron,
    /// The heartbeat, together with all other tasks of this kind.
    Heartbeat,
}

impl TaskKind {
    /// Returns the name of the directory of such tasks, which is also the first part of their ids.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskKind::Cron => "cron",
            TaskKind::Heartbeat => "heartbeat",
        }
    }
}

/// Names a task: its kind and the name of its file, as in `cron/nightly`.
///
/// A name has letters, digits and `. _ -`. It begins with a letter or digit, and has at most 64 characters. Such a name
/// stays inside of its directory when it is appended to a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId {
    kind: TaskKind,
    name: Arc<str>,
}

/// The most characters the name of a task may have.
const MAX_NAME: usize = 64;

/// The error for a text that is not a [`TaskId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a task is `cron/` or `heartbeat/` and a name of letters, digits and `. _ -` that begins with a letter or \
             digit and has at most {MAX_NAME} characters"
)]
pub struct InvalidTaskId;

impl TaskId {
    /// Creates the id of the task with this kind and name.
    ///
    /// # Errors
    ///
    /// Fails if the name is not valid.
    pub fn new(kind: TaskKind, name: &str) -> Result<TaskId, InvalidTaskId> {
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if first && plain && name.len() <= MAX_NAME {
            Ok(TaskId { kind, name: name.into() })
        } else {
            Err(InvalidTaskId)
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> TaskKind {
        self.kind
    }

    /// Returns the name, without the kind.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for TaskId {
    type Err = InvalidTaskId;

    fn from_str(text: &str) -> Result<Self, InvalidTaskId> {
        match text.split_once('/') {
            Some(("cron", name)) => TaskId::new(TaskKind::Cron, name),
            Some(("heartbeat", name)) => TaskId::new(TaskKind::Heartbeat, name),
            _ => Err(InvalidTaskId),
        }
    }
}

impl TryFrom<String> for TaskId {
    type Error = InvalidTaskId;

    fn try_from(text: String) -> Result<Self, InvalidTaskId> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> String {
        id.to_string()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.as_str(), self.name)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The treatment of a task whose gate lacks the permissions that it declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a new answer must be met where gates are")]
pub enum OnMissing {
    /// The task runs, and its gate does not (`sources/004`: "the gate is treated as successful").
    Run,
    /// The engine asks a person for the missing permissions. Without an approval, the task does not run.
    Ask,
    /// The task does not run.
    Skip,
}

/// The treatment of runs that were due while the scheduler did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "one run or none stands for all that were missed")]
pub enum CatchUp {
    /// One run replaces all of them.
    One,
    /// All of them are skipped.
    None,
}

/// The settings of a person for scheduled tasks: `[tasks]` and `[gates]` of the policy file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskSettings {
    /// The directory that contains `cron` and `heartbeat`. Without it, there are no tasks.
    pub dir: Option<SanitizedPath>,
    /// The agent that runs tasks without an agent of their own. None means the only agent of kind `cron`.
    pub cron_agent: Option<AgentId>,
    /// The agent that runs heartbeats. None means the only agent of kind `heartbeat`.
    pub heartbeat_agent: Option<AgentId>,
    /// The agents that a task may name, besides those of kind `cron`.
    pub agents: Arc<[AgentId]>,
    /// The time zone of schedules that name none.
    pub time_zone: Arc<str>,
    /// The interval of the heartbeat.
    pub heartbeat_every: Duration,
    /// The treatment of missed runs.
    pub catch_up: CatchUp,
    /// The longest delay of a start after its due time. Different delays keep tasks from starting all at once.
    pub jitter: Duration,
    /// The time limit of a run.
    pub time_limit: Duration,
    /// The most runs at once.
    pub max_running: u32,
    /// The treatment of a task whose gate lacks a permission.
    pub on_missing: OnMissing,
    /// The time limit of a gate that sets none.
    pub gate_time_limit: Duration,
}

impl Default for TaskSettings {
    fn default() -> TaskSettings {
        TaskSettings {
            dir: None,
            cron_agent: None,
            heartbeat_agent: None,
            agents: Arc::default(),
            time_zone: "UTC".into(),
            heartbeat_every: Duration::from_secs(30 * 60),
            catch_up: CatchUp::One,
            jitter: Duration::ZERO,
            time_limit: Duration::from_secs(60 * 60),
            max_running: 8,
            on_missing: OnMissing::Run,
            gate_time_limit: Duration::from_secs(30),
        }
    }
}

impl TaskSettings {
    /// Returns the default settings, for the tasks in `dir`.
    pub fn in_dir(dir: SanitizedPath) -> TaskSettings {
        TaskSettings { dir: Some(dir), ..TaskSettings::default() }
    }
}

/// A version of a file. Any two versions differ, because no program can set the time of the last change back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "the three numbers by which states of a file differ")]
pub struct FileVersion {
    /// The number of the file on its file system.
    pub inode: u64,
    /// Its size, in bytes.
    pub size: u64,
    /// The time of its last change (`ctime`): seconds since 1970, and nanoseconds.
    pub changed: (i64, i64),
}

/// The outcome of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "each of these means another thing for the task")]
pub enum GateOutcome {
    /// The gate ran and exited with 0.
    Passed,
    /// The gate ran and exited with another code. The task is not run this time.
    Failed {
        /// The exit code.
        code: i32,
        /// The end of its output, at most one kilobyte, without secrets.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        wrote: Arc<str>,
    },
    /// The gate did not run, because the agent lacks a permission that it declares.
    Unchecked {
        /// The missing permissions.
        missing: Vec<Permission>,
    },
    /// The gate failed to start, or did not finish.
    CouldNotRun {
        /// The reason.
        why: Arc<str>,
    },
}

impl fmt::Display for GateOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateOutcome::Passed => f.write_str("passed"),
            GateOutcome::Failed { code, wrote } => {
                write!(f, "failed with {code}")?;
                // Programs usually describe an error on the last line.
                wrote.lines().last().map_or(Ok(()), |last| write!(f, ": {}", Escaped(last)))
            }
            GateOutcome::Unchecked { missing } => {
                f.write_str("did not run, because its agent does not hold ")?;
                list_permissions(f, missing)
            }
            GateOutcome::CouldNotRun { why } => write!(f, "could not run: {}", Escaped(why)),
        }
    }
}

/// The reason why a due task did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "people ask why")]
pub enum Skip {
    /// The gate of the task did not allow it.
    Gate(GateOutcome),
    /// The gate lacks a permission. The request for it was not approved, or was not repeated after a denial.
    NotAllowed {
        /// The missing permissions.
        missing: Vec<Permission>,
        /// The outcome of the request.
        why: Arc<str>,
    },
    /// The previous run is still in progress.
    StillRunning,
    /// The task was due while the scheduler did not run, and missed runs are not made up for.
    Missed {
        /// The number of missed runs, counted up to a thousand.
        times: u32,
    },
    /// The task has no agent to run as, or its agent may not run it.
    NoAgent {
        /// The reason.
        why: Arc<str>,
    },
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::Gate(outcome) => write!(f, "its gate {outcome}"),
            Skip::NotAllowed { missing, why } => {
                f.write_str("the agent of its gate does not hold ")?;
                list_permissions(f, missing)?;
                write!(f, ", and the request for it ended: {}", Escaped(why))
            }
            Skip::StillRunning => f.write_str("the previous run is still in progress"),
            Skip::Missed { times } => write!(f, "it was due {times} times while the scheduler did not run"),
            Skip::NoAgent { why } => write!(f, "no agent runs it: {}", Escaped(why)),
        }
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "people ask how")]
pub enum TaskEnd {
    /// The runner finished the task.
    Done,
    /// The runner reported a failure.
    Failed {
        /// The reason.
        why: Arc<str>,
    },
    /// The run exceeded its time limit and was stopped.
    CutOff {
        /// The time limit, in seconds.
        seconds: u64,
    },
    /// The program that ran the task ended during the run: it crashed, or was stopped.
    Interrupted,
}

impl fmt::Display for TaskEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskEnd::Done => f.write_str("done"),
            TaskEnd::Failed { why } => write!(f, "failed: {}", Escaped(why)),
            TaskEnd::CutOff { seconds } => write!(f, "stopped after {seconds} seconds"),
            TaskEnd::Interrupted => f.write_str("interrupted, because the program that ran it ended"),
        }
    }
}

/// An event of a scheduled task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum TaskEvent {
    /// A task was added or changed.
    #[serde(rename = "task.added")]
    Added {
        /// The task.
        task: TaskId,
        /// The next due time, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Timestamp>,
    },
    /// The file of a task was removed.
    #[serde(rename = "task.removed")]
    Removed {
        /// The task.
        task: TaskId,
    },
    /// A task file was rejected. The task that it contained before does not run any more.
    #[serde(rename = "task.rejected")]
    Rejected {
        /// The path of the file, below the directory of tasks.
        file: Arc<str>,
        /// All reasons, each with its line.
        why: Arc<str>,
    },
    /// The file of a task was examined. An agent had a permission to write it in the past. The question is if the file
    /// now comes from a person.
    #[serde(rename = "task.file_judged")]
    FileJudged {
        /// The task.
        task: TaskId,
        /// The version of the examined file.
        version: FileVersion,
        /// The number of permissions to write the file that had ended before the examination.
        ends: u64,
        /// True if the file counts as a person's, because it changed after every such permission had ended.
        trusted: bool,
    },
    /// A task file lists permissions, which have no effect.
    #[serde(rename = "task.permissions_ignored")]
    PermissionsIgnored {
        /// The task.
        task: TaskId,
        /// The listed permissions.
        listed: Arc<str>,
    },
    /// A gate ran, or could not run.
    #[serde(rename = "task.gate")]
    Gate {
        /// The task.
        task: TaskId,
        /// The agent whose permissions the gate used.
        agent: AgentId,
        /// The outcome of the gate.
        outcome: GateOutcome,
        /// True if the task runs.
        runs: bool,
    },
    /// A task was passed to its runner.
    #[serde(rename = "task.started")]
    Started {
        /// The task.
        task: TaskId,
        /// The agent that the task runs as.
        agent: AgentId,
        /// The due time.
        due: Timestamp,
        /// The number of missed runs before this one.
        missed: u32,
    },
    /// A run of a task ended.
    #[serde(rename = "task.finished")]
    Finished {
        /// The task.
        task: TaskId,
        /// The end of the run.
        end: TaskEnd,
    },
    /// A due task did not run.
    #[serde(rename = "task.skipped")]
    Skipped {
        /// The task.
        task: TaskId,
        /// The reason.
        why: Skip,
    },
    /// Changes of task files are noticed with a delay, or a fact about them could not be stored.
    #[serde(rename = "task.trouble")]
    Trouble {
        /// The problem, and its consequence.
        why: Arc<str>,
    },
}

impl TaskEvent {
    /// Returns the kind of the event, as in `task.started`.
    pub fn kind(&self) -> &'static str {
        match self {
            TaskEvent::Added { .. } => "task.added",
            TaskEvent::Removed { .. } => "task.removed",
            TaskEvent::Rejected { .. } => "task.rejected",
            TaskEvent::FileJudged { .. } => "task.file_judged",
            TaskEvent::PermissionsIgnored { .. } => "task.permissions_ignored",
            TaskEvent::Gate { .. } => "task.gate",
            TaskEvent::Started { .. } => "task.started",
            TaskEvent::Finished { .. } => "task.finished",
            TaskEvent::Skipped { .. } => "task.skipped",
            TaskEvent::Trouble { .. } => "task.trouble",
        }
    }

    /// Returns the task of the event, if there is one.
    pub(crate) fn task(&self) -> Option<&TaskId> {
        match self {
            TaskEvent::Added { task, .. }
            | TaskEvent::Removed { task }
            | TaskEvent::FileJudged { task, .. }
            | TaskEvent::PermissionsIgnored { task, .. }
            | TaskEvent::Gate { task, .. }
            | TaskEvent::Started { task, .. }
            | TaskEvent::Finished { task, .. }
            | TaskEvent::Skipped { task, .. } => Some(task),
            TaskEvent::Rejected { .. } | TaskEvent::Trouble { .. } => None,
        }
    }

    /// Returns the agent that acts in the event, if there is one.
    pub(crate) fn agent(&self) -> Option<&AgentId> {
        match self {
            TaskEvent::Gate { agent, .. } | TaskEvent::Started { agent, .. } => Some(agent),
            TaskEvent::Added { .. }
            | TaskEvent::Removed { .. }
            | TaskEvent::Rejected { .. }
            | TaskEvent::FileJudged { .. }
            | TaskEvent::PermissionsIgnored { .. }
            | TaskEvent::Finished { .. }
            | TaskEvent::Skipped { .. }
            | TaskEvent::Trouble { .. } => None,
        }
    }

    /// Returns the agent to notify: its gate did not run, because it lacks a permission.
    pub(crate) fn tells(&self) -> Option<&AgentId> {
        match self {
            TaskEvent::Gate { agent, outcome: GateOutcome::Unchecked { .. }, .. } => Some(agent),
            TaskEvent::Added { .. }
            | TaskEvent::Removed { .. }
            | TaskEvent::Rejected { .. }
            | TaskEvent::FileJudged { .. }
            | TaskEvent::PermissionsIgnored { .. }
            | TaskEvent::Gate { .. }
            | TaskEvent::Started { .. }
            | TaskEvent::Finished { .. }
            | TaskEvent::Skipped { .. }
            | TaskEvent::Trouble { .. } => None,
        }
    }
}

/// Formats the event on one readable line.
impl fmt::Display for TaskEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskEvent::Added { task, next: Some(next) } => write!(f, "{task} is due at {next}"),
            TaskEvent::Added { task, next: None } => write!(f, "{task} is not due again"),
            TaskEvent::Removed { task } => write!(f, "{task} was removed"),
            TaskEvent::Rejected { file, why } => write!(f, "{} was rejected: {}", Escaped(file), Escaped(why)),
            TaskEvent::FileJudged { task, trusted: true, .. } => {
                write!(f, "the file of {task} was saved after an agent could write it")
            }
            TaskEvent::FileJudged { task, .. } => write!(f, "an agent may have written the file of {task}"),
            TaskEvent::PermissionsIgnored { task, listed } => {
                write!(f, "{task} lists permissions, which have no effect: {}", Escaped(listed))
            }
            TaskEvent::Gate { task, outcome, runs, .. } => {
                write!(f, "the gate of {task} {outcome}; the task {}", if *runs { "runs" } else { "does not run" })
            }
            TaskEvent::Started { task, agent, missed: 0, .. } => write!(f, "{task} runs as {agent}"),
            TaskEvent::Started { task, agent, missed, .. } => {
                write!(f, "{task} runs as {agent}, once for this time and {missed} missed times")
            }
            TaskEvent::Finished { task, end } => write!(f, "{task} ended: {end}"),
            TaskEvent::Skipped { task, why } => write!(f, "{task} did not run: {why}"),
            TaskEvent::Trouble { why } => write!(f, "scheduled tasks: {}", Escaped(why)),
        }
    }
}
