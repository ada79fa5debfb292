//! The handles: [`Scheduler`] is what a host sets up, [`Tasks`] what it holds while tasks run.

use std::{fmt, sync::Arc};

use chrono_tz::Tz;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::{
    Gatekeeper, Last, Runner,
    alone::Alone,
    work::{Order, RunEnd},
};
use crate::{
    engine::Error,
    model::{SanitizedPath, Shown, Skip, TaskEnd, TaskId, TaskSettings, Timestamp},
};

/// Scheduled tasks, before they start.
///
/// ```no_run
/// # async fn example(engine: bestow::Engine) -> Result<(), Box<dyn std::error::Error>> {
/// use bestow::schedule::{Scheduler, TaskRun};
///
/// let tasks = Scheduler::new(|run: TaskRun| async move {
///     // Give `run.prompt` to a model, and its tools `run.agent`.
///     println!("{} as {}", run.prompt, run.agent.id());
///     Ok(())
/// });
/// let tasks = tasks.start(&engine).await?; // until this is dropped
/// # Ok(()) }
/// ```
pub struct Scheduler {
    pub(crate) runner: Arc<dyn Runner>,
    pub(crate) settings: Option<TaskSettings>,
    pub(crate) keeper: Option<Arc<dyn Gatekeeper>>,
    pub(crate) only_by_hand: bool,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Scheduler {
    /// Tasks that `runner` carries out, as the engine's settings say (`[tasks]` and `[gates]` of its file), and as they
    /// will say when they change.
    pub fn new(runner: impl Runner) -> Scheduler {
        Scheduler { runner: Arc::new(runner), settings: None, keeper: None, only_by_hand: false }
    }

    /// The same with these settings, whatever the engine's say.
    #[must_use]
    pub fn with_settings(self, settings: TaskSettings) -> Scheduler {
        Scheduler { settings: Some(settings), ..self }
    }

    /// The same, but nothing is due by itself: tasks run when [`Tasks::run`] says so.
    #[must_use]
    pub fn by_hand(self) -> Scheduler {
        Scheduler { only_by_hand: true, ..self }
    }
}

/// Why tasks did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum SchedulerError {
    /// Nobody says where the tasks are.
    NoDirectory,
    /// The directory cannot be read, or is not to be trusted.
    Directory(Arc<str>),
    /// Another program runs the tasks of this directory.
    InUse {
        /// Which.
        dir: SanitizedPath,
        /// Its process id, if it could be read.
        pid: Option<u32>,
    },
    /// There is no such time zone.
    TimeZone(Arc<str>),
    /// The engine has no answer.
    Engine(Error),
}

impl fmt::Display for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchedulerError::NoDirectory => f.write_str("nobody says where the tasks are: write `dir` in `[tasks]`"),
            SchedulerError::Directory(why) => f.write_str(why),
            SchedulerError::InUse { dir, pid } => {
                match pid {
                    Some(pid) => write!(f, "process {pid}")?,
                    None => f.write_str("another process")?,
                }
                write!(
                    f,
                    " runs the tasks in `{}`, and what runs here would run there again: end that one first",
                    Shown(dir.as_str())
                )
            }
            SchedulerError::TimeZone(name) => write!(f, "`{}` is no time zone", name.escape_debug()),
            SchedulerError::Engine(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for SchedulerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SchedulerError::Engine(why) => Some(why),
            SchedulerError::NoDirectory
            | SchedulerError::Directory(_)
            | SchedulerError::InUse { .. }
            | SchedulerError::TimeZone(_) => None,
        }
    }
}

impl From<Error> for SchedulerError {
    fn from(why: Error) -> SchedulerError {
        SchedulerError::Engine(why)
    }
}

/// Tasks that run when they are due. When this is dropped they stop, and what runs is cut off.
#[derive(Debug)]
pub struct Tasks {
    pub(super) orders: mpsc::Sender<Order>,
    pub(super) work: JoinHandle<()>,
    pub(super) alone: Alone,
}

/// How one task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskStatus {
    /// Which.
    pub id: TaskId,
    /// What people call it.
    pub title: Arc<str>,
    /// When it is due next; none if it is disabled, or over.
    pub next: Option<Timestamp>,
    /// Whether it runs now.
    pub is_running: bool,
    /// What happened last.
    pub last: Option<Last>,
}

/// Why a task was not started by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStarted {
    /// There is no such task, or its file is not taken.
    Unknown,
    /// It runs already.
    Running,
    /// The tasks were stopped, or the engine.
    Stopped,
}

impl fmt::Display for NotStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotStarted::Unknown => "there is no such task, or its file is not taken",
            NotStarted::Running => "it runs already",
            NotStarted::Stopped => "tasks do not run any more",
        })
    }
}

impl std::error::Error for NotStarted {}

impl Tasks {
    /// How each task stands, in the order of names. Empty once they stopped.
    pub async fn list(&self) -> Vec<TaskStatus> {
        self.order(Order::List).await.unwrap_or_default()
    }

    /// Starts a task now, due or not, enabled or not. Its gate is asked all the same. A heartbeat task brings all of them.
    ///
    /// # Errors
    ///
    /// If there is none, or it runs.
    pub async fn run(&self, id: &TaskId) -> Result<(), NotStarted> {
        self.started(id).await.map(drop)
    }

    /// Starts a task like [`Tasks::run`], and waits until its run is over: how it ended, or why it did not run.
    ///
    /// # Errors
    ///
    /// If there is none, or it runs, or the tasks stop before it is over.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops waiting; the run goes on.
    pub async fn run_to_end(&self, id: &TaskId) -> Result<Result<TaskEnd, Skip>, NotStarted> {
        self.started(id).await?.await.map_err(|_| NotStarted::Stopped)
    }

    async fn started(&self, id: &TaskId) -> Result<oneshot::Receiver<RunEnd>, NotStarted> {
        let id = id.clone();
        self.order(|answer| Order::Run(id, answer)).await.unwrap_or(Err(NotStarted::Stopped))
    }

    /// Looks at the files now, without waiting for the system to tell that they changed.
    pub async fn look(&self) {
        self.order(Order::Look).await;
    }

    /// Stops them: what runs is cut off, and everything that is to be remembered is written down when this returns.
    pub async fn stop(self) {
        self.order(Order::Stop).await;
    }

    async fn order<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(order(answer)).await.ok()?;
        answered.await.ok()
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.work.abort();
        self.alone.let_go();
    }
}

/// Where the tasks are.
pub(super) fn directory(settings: &TaskSettings) -> Result<SanitizedPath, SchedulerError> {
    settings.dir.clone().ok_or(SchedulerError::NoDirectory)
}

pub(super) fn zone(settings: &TaskSettings) -> Result<Tz, SchedulerError> {
    settings.time_zone.parse().map_err(|_| SchedulerError::TimeZone(Arc::clone(&settings.time_zone)))
}
