//! The scheduled tasks of the demo. Each runs once, so that there is something to see. Nothing is really done.

use bestow::{
    Engine,
    event::TaskId,
    schedule::{Scheduler, TaskRun},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The tasks. The gate of the second lacks a permission, so it is skipped.
const TASKS: [&str; 2] = ["cron/report", "cron/links"];

/// Runs each task once.
pub(super) async fn run_once(engine: &Engine) -> Result<()> {
    let scheduler = Scheduler::new(|_: TaskRun| async { Ok(()) }).by_hand();
    let tasks = scheduler.start(engine).await?;
    for name in TASKS {
        let id: TaskId = name.parse()?;
        // The record of the task says how it ended.
        let _ = tasks.run_to_end(&id).await?;
    }
    tasks.stop().await;
    Ok(())
}
