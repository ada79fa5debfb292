//! Who carries out tasks: the host, which has the model and the tools. This library only says when, as whom, and what.

use async_trait::async_trait;

use crate::{
    engine::Agent,
    model::{GateOutcome, SanitizedPath, TaskId, Timestamp},
};

/// A task that is to be carried out now, or all heartbeats that are due together.
#[derive(Debug)]
#[non_exhaustive]
pub struct TaskRun {
    /// Which: one cron task, or the heartbeats of one beat.
    pub tasks: Vec<TaskId>,
    /// As whom: it checks, asks, opens files and runs commands with the rights of the task's agent, and only those.
    pub agent: Agent,
    /// What is to be done, with what the gates said below it.
    pub prompt: String,
    /// When it was due.
    pub due: Timestamp,
    /// How many runs before were missed; this one stands for them.
    pub missed: u32,
    /// What the gates said.
    pub gates: Vec<(TaskId, GateOutcome)>,
    /// The directory that a cron task may write, and works in.
    pub files: Option<SanitizedPath>,
    /// The file in which a cron task keeps what it wants to know next time; it may write it.
    pub memory: Option<SanitizedPath>,
}

/// Carries out tasks: a type of the host, or a closure `async |run| ...`.
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Carries out one run. An error is a sentence about what went wrong, for the record.
    ///
    /// # Cancellation
    ///
    /// When it takes too long, or the tasks are stopped, the future is dropped: whatever it started must end with it.
    async fn run(&self, run: TaskRun) -> Result<(), String>;
}

#[async_trait]
impl<F, R> Runner for F
where
    F: Fn(TaskRun) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), String>> + Send,
{
    async fn run(&self, run: TaskRun) -> Result<(), String> {
        self(run).await
    }
}
