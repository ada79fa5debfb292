//! A scheduled task. A person wrote it into `tasks/cron/links/TASK.md`. The story runs it before its time.

use bestow::{
    Engine, Event,
    event::{GateOutcome, TaskEnd, TaskEvent},
    schedule::{Scheduler, TaskRun, Tasks},
};

use super::{Result, place::Place, teller::Teller};

/// Starts the scheduled tasks. A real host would give each prompt to a model with the tools of the agent. This example
/// needs no model.
pub(crate) async fn start(engine: &Engine) -> Result<Tasks> {
    let carry_out = |run: TaskRun| async move {
        println!("     {:>8} | {}", run.agent.id().as_str(), run.prompt);
        let files = run.files.ok_or("a cron task has a directory")?;
        let written = run.agent.fs().write(&format!("{files}/report.md"), "no page leads nowhere\n").await;
        // The task lacks the permissions that its agent lacks.
        let online = run.agent.check(bestow::grant::PermissionRef::Network).is_held();
        if online { Err("nobody gave it the network".to_owned()) } else { written.map_err(|why| why.to_string()) }
    };
    Ok(Scheduler::new(carry_out).start(engine).await?)
}

/// Runs the task now, because the story does not wait until three in the morning.
pub(crate) async fn story(tasks: &Tasks, teller: &Teller) -> Result<()> {
    tasks.run(&"cron/links".parse()?).await?;
    teller.until("the scheduled task to end", |event| matches!(event, Event::Task(TaskEvent::Finished { .. }))).await
}

/// Returns the checks about the task.
pub(crate) fn came_true(told: &[Event], place: &Place) -> [(&'static str, bool); 2] {
    let unchecked = |event: &Event| {
        matches!(event, Event::Task(TaskEvent::Gate { outcome: GateOutcome::Unchecked { .. }, runs: true, .. }))
    };
    let done = |event: &Event| matches!(event, Event::Task(TaskEvent::Finished { end: TaskEnd::Done, .. }));
    [
        ("the scheduled task ran, and that its gate lacks a permission was told", told.iter().any(unchecked)),
        ("it wrote its report into its own files", told.iter().any(done) && place.task_wrote("report.md")),
    ]
}
