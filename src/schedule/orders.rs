//! The requests of a host to the loop, and their answers.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Last;
use crate::model::{Skip, TaskEnd, TaskId, Timestamp};

/// The requests of a host to the loop.
#[derive(Debug)]
pub(super) enum Order {
    List(oneshot::Sender<Vec<TaskStatus>>),
    Run(TaskId, oneshot::Sender<Result<oneshot::Receiver<RunEnd>, NotStarted>>),
    Look(oneshot::Sender<()>),
    Stop(oneshot::Sender<()>),
}

/// The end of a run, or the reason for which the task did not run.
pub(super) type RunEnd = Result<TaskEnd, Skip>;

/// The state of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskStatus {
    /// The name of the task.
    pub id: TaskId,
    /// The title for people.
    pub title: Arc<str>,
    /// The next due time, or `None` if the task is disabled or over.
    pub next: Option<Timestamp>,
    /// True if the task runs now.
    pub is_running: bool,
    /// The last thing that happened.
    pub last: Option<Last>,
}

/// The reason for which a task was not started by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotStarted {
    /// The task does not exist, or its file was rejected.
    #[error("there is no such task, or its file was rejected")]
    Unknown,
    /// The task already runs.
    #[error("the task is running already")]
    Running,
    /// The tasks or the engine were stopped.
    #[error("the scheduler has ended")]
    Stopped,
}
