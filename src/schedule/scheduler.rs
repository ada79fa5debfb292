//! The handles of scheduled tasks. A host sets up a [`Scheduler`], and holds [`Tasks`] while they run.

use std::{fmt, sync::Arc};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::{
    Gatekeeper, NotStarted, Runner, TaskStatus, TimeZone,
    directory_lock::DirectoryLock,
    orders::{Order, RunEnd},
};
use crate::{
    engine::Error,
    model::{Escaped, SanitizedPath, Skip, TaskEnd, TaskId, TaskSettings},
};

/// Scheduled tasks before they start.
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
    /// Creates a scheduler whose tasks `runner` carries out. It uses the settings of the engine (`[tasks]` and
    /// `[gates]` of its file), and follows their changes.
    pub fn new(runner: impl Runner) -> Scheduler {
        Scheduler { runner: Arc::new(runner), settings: None, keeper: None, only_by_hand: false }
    }

    /// Returns the scheduler with these settings instead of the engine's settings.
    #[must_use]
    pub fn with_settings(self, settings: TaskSettings) -> Scheduler {
        Scheduler { settings: Some(settings), ..self }
    }

    /// Returns the scheduler without due times. Tasks run only through [`Tasks::run`].
    #[must_use]
    pub fn by_hand(self) -> Scheduler {
        Scheduler { only_by_hand: true, ..self }
    }
}

/// The reason for which tasks did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchedulerError {
    /// The settings name no directory of tasks.
    #[error("no directory of tasks is set: write `dir` in `[tasks]`")]
    NoDirectory,
    /// The directory cannot be read, or cannot be trusted.
    #[error("{0}")]
    Directory(Arc<str>),
    /// Another program runs the tasks of this directory.
    #[error(
        "{} runs the tasks in `{}`, so each task would run twice: end that process first",
        pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")),
        Escaped(dir.as_str())
    )]
    InUse {
        /// The directory.
        dir: SanitizedPath,
        /// The process id of the other program, if it could be read.
        pid: Option<u32>,
    },
    /// The time zone does not exist.
    #[error("`{}` is not a time zone", .0.escape_debug())]
    TimeZone(Arc<str>),
    /// The engine could not answer.
    #[error("{0}")]
    Engine(#[from] Error),
}

/// The handle of running tasks. Dropping it stops them, and cancels runs that are not over.
#[derive(Debug)]
pub struct Tasks {
    pub(super) orders: mpsc::Sender<Order>,
    pub(super) work: JoinHandle<()>,
    pub(super) alone: DirectoryLock,
}

impl Tasks {
    /// Returns the state of each task, in the order of names. The list is empty after the tasks have stopped.
    pub async fn list(&self) -> Vec<TaskStatus> {
        self.order(Order::List).await.unwrap_or_default()
    }

    /// Starts a task now, due or not, enabled or not. Its gate still runs. A heartbeat task starts all heartbeat tasks.
    ///
    /// # Errors
    ///
    /// Fails if the task does not exist, already runs, or the tasks were stopped.
    pub async fn run(&self, id: &TaskId) -> Result<(), NotStarted> {
        self.started(id).await.map(drop)
    }

    /// Starts a task like [`Tasks::run`], and waits until its run is over. Returns the end of the run, or the reason
    /// for which it did not run.
    ///
    /// # Errors
    ///
    /// Fails if the task does not exist, already runs, or the tasks stop before the run is over.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the wait. The run continues.
    pub async fn run_to_end(&self, id: &TaskId) -> Result<Result<TaskEnd, Skip>, NotStarted> {
        self.started(id).await?.await.map_err(|_| NotStarted::Stopped)
    }

    async fn started(&self, id: &TaskId) -> Result<oneshot::Receiver<RunEnd>, NotStarted> {
        let id = id.clone();
        self.order(|answer| Order::Run(id, answer)).await.unwrap_or(Err(NotStarted::Stopped))
    }

    /// Reads the files now, without waiting for a notification of the watcher.
    pub async fn look(&self) {
        self.order(Order::Look).await;
    }

    /// Stops the tasks and cancels runs that are not over. All states are stored when this returns.
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

/// Returns the directory of tasks in the settings.
pub(super) fn directory(settings: &TaskSettings) -> Result<SanitizedPath, SchedulerError> {
    settings.dir.clone().ok_or(SchedulerError::NoDirectory)
}

pub(super) fn zone(settings: &TaskSettings) -> Result<TimeZone, SchedulerError> {
    settings.time_zone.parse().map_err(|_| SchedulerError::TimeZone(Arc::clone(&settings.time_zone)))
}
