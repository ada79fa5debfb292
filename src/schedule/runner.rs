//! The runner of tasks, which the host supplies with its model and tools. This library decides the time, the agent and
//! the prompt.

use async_trait::async_trait;

use crate::{
    engine::Agent,
    model::{GateOutcome, SanitizedPath, TaskId, Timestamp},
};

/// A run to be carried out now: one cron task, or all heartbeat tasks that are due together.
#[derive(Debug)]
#[non_exhaustive]
pub struct TaskRun {
    /// The tasks of the run: one cron task, or the tasks of one heartbeat.
    pub tasks: Vec<TaskId>,
    /// The agent of the run. It checks, requests, opens files and runs commands with the permissions of the task's
    /// agent only.
    pub agent: Agent,
    /// The instructions, followed by the output of the gates.
    pub prompt: String,
    /// The time at which the run was due.
    pub due: Timestamp,
    /// The number of missed earlier runs, which this run replaces.
    pub missed: u32,
    /// The results of the gates.
    pub gates: Vec<(TaskId, GateOutcome)>,
    /// The working directory of a cron task, which the task may write.
    pub files: Option<SanitizedPath>,
    /// The file in which a cron task keeps notes for its next run. The task may write it.
    pub memory: Option<SanitizedPath>,
}

/// A runner of tasks: a type of the host, or a closure `async |run| ...`.
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Carries out one run. An error is a sentence about the failure, for the record.
    ///
    /// # Cancellation
    ///
    /// The future is dropped at the time limit, or when the tasks are stopped. Everything that it started must end with
    /// it.
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
