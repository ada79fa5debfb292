//! Scheduled tasks as far as they are known outside of their files: names, settings, what happened (`sources/004`,
//! "Scheduled tasks"). Nothing here has a field for a right that a task would have.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{AgentId, Permission, SanitizedPath, Shown, Timestamp, permission::list};

/// What starts a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "each has a directory of its own")]
pub enum TaskKind {
    /// Its own schedule.
    Cron,
    /// The heartbeat, together with all others of this kind.
    Heartbeat,
}

impl TaskKind {
    /// The directory of its tasks, and the first part of their names.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskKind::Cron => "cron",
            TaskKind::Heartbeat => "heartbeat",
        }
    }
}

/// Names a task: its kind and the name of its file, as in `cron/nightly`.
///
/// A name is letters, digits and `. _ -`, begins with a letter or digit, and has at most 64 characters: it can be put
/// together with a directory and stays in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId {
    kind: TaskKind,
    name: Arc<str>,
}

/// The most characters the name of a task may have.
const MAX_NAME: usize = 64;

/// A text is not a [`TaskId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTaskId;

impl fmt::Display for InvalidTaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a task is `cron/` or `heartbeat/` and a name of letters, digits and `. _ -` that begins with a letter or digit \
             and has at most {MAX_NAME} characters"
        )
    }
}

impl std::error::Error for InvalidTaskId {}

impl TaskId {
    /// The task of this kind with this name.
    ///
    /// # Errors
    ///
    /// If that is no name.
    pub fn new(kind: TaskKind, name: &str) -> Result<TaskId, InvalidTaskId> {
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if first && plain && name.len() <= MAX_NAME {
            Ok(TaskId { kind, name: name.into() })
        } else {
            Err(InvalidTaskId)
        }
    }

    /// Its kind.
    pub fn kind(&self) -> TaskKind {
        self.kind
    }

    /// Its name, without the kind.
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

/// What becomes of a task whose gate may not do what it declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "a new answer must be met where gates are")]
pub enum OnMissing {
    /// It runs, unchecked (`sources/004`: "the gate is treated as successful").
    Run,
    /// A person is asked for what is missing; without a yes it does not run.
    Ask,
    /// It does not run.
    Skip,
}

/// What becomes of runs that were due while nobody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(clippy::exhaustive_enums, reason = "one run or none stands for all that were missed")]
pub enum CatchUp {
    /// One run stands for all of them.
    One,
    /// They are skipped.
    None,
}

/// What a person says about scheduled tasks: `[tasks]` and `[gates]` of the policy file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskSettings {
    /// The directory with `cron` and `heartbeat` in it. Without one there are no tasks.
    pub dir: Option<SanitizedPath>,
    /// Whom tasks without an agent run as, and whom heartbeats do; otherwise the only agent of kind `cron`, or `heartbeat`.
    pub cron_agent: Option<AgentId>,
    /// As `cron_agent`, for heartbeats.
    pub heartbeat_agent: Option<AgentId>,
    /// Which agents a task may name besides those of kind `cron`.
    pub agents: Arc<[AgentId]>,
    /// The time zone of schedules that name none.
    pub time_zone: Arc<str>,
    /// How often the heartbeat beats.
    pub heartbeat_every: Duration,
    /// What becomes of missed runs.
    pub catch_up: CatchUp,
    /// By how much a run may start later than it is due, so that not all start at once.
    pub jitter: Duration,
    /// How long a run may take.
    pub time_limit: Duration,
    /// How many run at once.
    pub max_running: u32,
    /// What becomes of a task whose gate lacks a permission.
    pub on_missing: OnMissing,
    /// How long a gate may take, if it does not say.
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
    /// The default, for the tasks in `dir`.
    pub fn in_dir(dir: SanitizedPath) -> TaskSettings {
        TaskSettings { dir: Some(dir), ..TaskSettings::default() }
    }
}

/// One state of a file, told from every other: nobody can set the time of the last change back.
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

/// What a gate said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "each of these means another thing for the task")]
pub enum GateOutcome {
    /// It ran and ended with 0.
    Passed,
    /// It ran and ended otherwise: the task is not for now.
    Failed {
        /// How it ended.
        code: i32,
        /// The end of what it wrote, at most a kilobyte, with secrets left out.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        wrote: Arc<str>,
    },
    /// It did not run, since the agent lacks what it declares.
    Unchecked {
        /// What is missing.
        missing: Vec<Permission>,
    },
    /// It should have run and could not, or did not come to its end.
    CouldNotRun {
        /// Why.
        why: Arc<str>,
    },
}

impl fmt::Display for GateOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GateOutcome::Passed => f.write_str("passed"),
            GateOutcome::Failed { code, wrote } => {
                write!(f, "failed with {code}")?;
                // The last line is where programs say what went wrong.
                wrote.lines().last().map_or(Ok(()), |last| write!(f, ": {}", Shown(last)))
            }
            GateOutcome::Unchecked { missing } => {
                f.write_str("was not asked, since its agent lacks ")?;
                list(f, missing)
            }
            GateOutcome::CouldNotRun { why } => write!(f, "could not run: {}", Shown(why)),
        }
    }
}

/// Why a task that was due did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "people ask why")]
pub enum Skip {
    /// Its gate did not let it.
    Gate(GateOutcome),
    /// Its gate lacks something, and asking for it did not end with yes, or nobody asks again after a no.
    NotAllowed {
        /// What is missing.
        missing: Vec<Permission>,
        /// How asking ended.
        why: Arc<str>,
    },
    /// The run before is not over.
    StillRunning,
    /// It was due while nobody looked, and missed runs are not caught up.
    Missed {
        /// How often; counting ends at a thousand.
        times: u32,
    },
    /// There is nobody to run it as, or that agent may not run it.
    NoAgent {
        /// Why.
        why: Arc<str>,
    },
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::Gate(outcome) => write!(f, "its gate {outcome}"),
            Skip::NotAllowed { missing, why } => {
                f.write_str("its gate lacks ")?;
                list(f, missing)?;
                write!(f, ", and asking for it ended: {}", Shown(why))
            }
            Skip::StillRunning => f.write_str("the run before is not over"),
            Skip::Missed { times } => write!(f, "it was due {times} times while nobody looked"),
            Skip::NoAgent { why } => write!(f, "nobody runs it: {}", Shown(why)),
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "people ask how")]
pub enum TaskEnd {
    /// Whoever ran it is done.
    Done,
    /// Whoever ran it says that it failed.
    Failed {
        /// Why.
        why: Arc<str>,
    },
    /// It took too long, and was cut off.
    CutOff {
        /// After so many seconds.
        seconds: u64,
    },
    /// The program that ran it ended in the middle: it crashed, or was stopped.
    Interrupted,
}

impl fmt::Display for TaskEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskEnd::Done => f.write_str("done"),
            TaskEnd::Failed { why } => write!(f, "failed: {}", Shown(why)),
            TaskEnd::CutOff { seconds } => write!(f, "cut off after {seconds} seconds"),
            TaskEnd::Interrupted => f.write_str("interrupted, since the program that ran it ended"),
        }
    }
}

/// What happened to a scheduled task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum TaskEvent {
    /// There is a new task, or one that reads differently.
    #[serde(rename = "task.added")]
    Added {
        /// Which.
        task: TaskId,
        /// When it is due next, if it ever is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Timestamp>,
    },
    /// Its file is gone.
    #[serde(rename = "task.removed")]
    Removed {
        /// Which.
        task: TaskId,
    },
    /// A file is not taken; a task that it held before does not run any more.
    #[serde(rename = "task.rejected")]
    Rejected {
        /// The file, below the directory of tasks.
        file: Arc<str>,
        /// Every reason, each with its line.
        why: Arc<str>,
    },
    /// The file of a task that an agent could write once was judged: whether it is a person's by now.
    #[serde(rename = "task.file_judged")]
    FileJudged {
        /// Which.
        task: TaskId,
        /// The file as it was then.
        version: FileVersion,
        /// The number of rights to write it that had ended before it was looked at.
        ends: u64,
        /// Whether it is taken for a person's: it changed after every such right had ended.
        trusted: bool,
    },
    /// A file lists permissions. They give nothing.
    #[serde(rename = "task.permissions_ignored")]
    PermissionsIgnored {
        /// Which.
        task: TaskId,
        /// What it lists.
        listed: Arc<str>,
    },
    /// A gate was asked, or could not be.
    #[serde(rename = "task.gate")]
    Gate {
        /// Of which task.
        task: TaskId,
        /// Whose rights it had.
        agent: AgentId,
        /// What it said.
        outcome: GateOutcome,
        /// Whether the task goes on.
        runs: bool,
    },
    /// A task was handed to whoever runs it.
    #[serde(rename = "task.started")]
    Started {
        /// Which.
        task: TaskId,
        /// As whom.
        agent: AgentId,
        /// When it was due.
        due: Timestamp,
        /// How many runs before were missed.
        missed: u32,
    },
    /// Its run is over.
    #[serde(rename = "task.finished")]
    Finished {
        /// Which.
        task: TaskId,
        /// How.
        end: TaskEnd,
    },
    /// It was due and did not run.
    #[serde(rename = "task.skipped")]
    Skipped {
        /// Which.
        task: TaskId,
        /// Why.
        why: Skip,
    },
    /// Changes of the files are noticed later than they should be, or something about them could not be written down.
    #[serde(rename = "task.trouble")]
    Trouble {
        /// What, and what that means.
        why: Arc<str>,
    },
}

impl TaskEvent {
    /// What kind of event this is, as in `task.started`.
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

    /// The task it is about, if it is about one.
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

    /// The agent that acts in it, if one does.
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

    /// Whom this is a message to: the agent whose gate was not asked, since it lacks something.
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

/// One readable line.
impl fmt::Display for TaskEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskEvent::Added { task, next: Some(next) } => write!(f, "{task} is due at {next}"),
            TaskEvent::Added { task, next: None } => write!(f, "{task} is not due again"),
            TaskEvent::Removed { task } => write!(f, "{task} is gone"),
            TaskEvent::Rejected { file, why } => write!(f, "{} was not taken: {}", Shown(file), Shown(why)),
            TaskEvent::FileJudged { task, trusted: true, .. } => {
                write!(f, "the file of {task} was saved since an agent could write it")
            }
            TaskEvent::FileJudged { task, .. } => write!(f, "the file of {task} may be an agent's"),
            TaskEvent::PermissionsIgnored { task, listed } => {
                write!(f, "{task} lists permissions, which give nothing: {}", Shown(listed))
            }
            TaskEvent::Gate { task, outcome, runs, .. } => {
                write!(f, "the gate of {task} {outcome}; the task {}", if *runs { "runs" } else { "does not run" })
            }
            TaskEvent::Started { task, agent, missed: 0, .. } => write!(f, "{task} runs as {agent}"),
            TaskEvent::Started { task, agent, missed, .. } => {
                write!(f, "{task} runs as {agent}, once for itself and {missed} missed runs")
            }
            TaskEvent::Finished { task, end } => write!(f, "{task} is over: {end}"),
            TaskEvent::Skipped { task, why } => write!(f, "{task} did not run: {why}"),
            TaskEvent::Trouble { why } => write!(f, "scheduled tasks: {}", Shown(why)),
        }
    }
}
