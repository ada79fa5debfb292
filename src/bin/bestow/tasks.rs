//! `bestow tasks`: the scheduled tasks of a file, as they are, and one of them by hand.

use std::fmt::Write;

use bestow::{
    Engine, Event, Interaction, Policy, PolicyFile, Settings, Shown, Skip, Subscription, TaskEnd, TaskEvent, TaskId,
    sandbox::Sandbox,
    schedule::{Scheduler, Surveyed, TaskRun, survey},
};
use tokio::sync::mpsc;

use crate::end::End;

/// What is to be done with the tasks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Work {
    List,
    Check,
    Run(TaskId),
}

pub(crate) fn work(config: &std::path::Path, work: &Work) -> End {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(why) => return End::failed(why),
    };
    let done = runtime.block_on(async {
        let engine = engine(config).await?;
        match work {
            Work::List => Ok(End::said(&list(&survey(&engine).map_err(End::failed)?))),
            Work::Check => Ok(check(&survey(&engine).map_err(End::failed)?)),
            Work::Run(id) => run(&engine, id).await,
        }
    });
    done.unwrap_or_else(|end| end)
}

/// Where nobody answers: what would have to be asked is told instead.
async fn engine(config: &std::path::Path) -> Result<Engine, End> {
    let mut policy: Policy = PolicyFile::new(config).load().map_err(End::failed)?;
    policy.settings.interaction = Interaction::NonInteractive;
    let engine = Engine::new(Settings::default()).map_err(End::failed)?;
    engine.configure(policy).await.map_err(End::failed)?;
    Ok(engine)
}

fn list(all: &[Surveyed]) -> String {
    let mut text = String::new();
    for Surveyed { file, task, next, last, .. } in all {
        // Writing to a text does not fail.
        let _ = match task {
            Ok(task) => {
                let next = next.map_or_else(|| "never".to_owned(), |next| next.to_string());
                let last =
                    last.as_ref().map_or_else(|| "never ran".to_owned(), |last| format!("{} {}", last.at, last.what));
                writeln!(text, "{:<32} next {next:<24}  last {last}  ({})", task.id.to_string(), Shown(&task.title))
            }
            Err(_) => writeln!(text, "{file:<32} not taken: try `bestow tasks check`"),
        };
    }
    text
}

fn check(all: &[Surveyed]) -> End {
    let mut wrong = String::new();
    for Surveyed { file, task, ignored, .. } in all {
        if let Some(ignored) = ignored {
            eprintln!("bestow: {file}: it lists permissions, which give nothing: {}", Shown(ignored));
        }
        for why in task.as_ref().err().into_iter().flatten() {
            let _ = write!(wrong, "{}{file}: {}", if wrong.is_empty() { "" } else { "\n" }, Shown(why));
        }
    }
    if wrong.is_empty() { End::said(&format!("{} tasks, nothing wrong\n", all.len())) } else { End::failed(wrong) }
}

/// Asks the gate and prints the prompt, as whoever carries out tasks would get it.
async fn run(engine: &Engine, id: &TaskId) -> Result<End, End> {
    let mut events = engine.subscribe();
    let (told, mut prompts) = mpsc::unbounded_channel();
    let runner = move |run: TaskRun| {
        let told = told.send(run.prompt);
        async move { told.map_err(|why| why.to_string()) }
    };
    let sandbox = Sandbox::with_this_program().map_err(End::failed)?;
    let tasks = Scheduler::new(runner).with_sandbox(sandbox).by_hand().start(engine).await.map_err(End::failed)?;
    if let Err(why) = tasks.run(id).await {
        return Err(End::failed(format_args!("{id}: {why}; try `bestow tasks check`")));
    }
    let end = ended(&mut events, id).await?;
    // Written down before this ends.
    tasks.stop().await;
    Ok(match end {
        Ok(TaskEnd::Done) => End::said(&format!("{}\n", prompts.try_recv().map_err(End::failed)?)),
        Ok(other) => End::failed(other),
        Err(why @ Skip::NotAllowed { .. }) => End::WouldAsk(why.to_string()),
        Err(why @ Skip::Gate(_)) => End::Denied(why.to_string()),
        Err(why) => End::failed(why),
    })
}

/// How the run ended; what else is told of tasks meanwhile is for people.
async fn ended(events: &mut Subscription, id: &TaskId) -> Result<Result<TaskEnd, Skip>, End> {
    loop {
        let Event::Task(event) = events.next().await.map_err(End::failed)?.event else { continue };
        if let TaskEvent::Finished { task, end } = &event
            && task == id
        {
            return Ok(Ok(end.clone()));
        }
        if let TaskEvent::Skipped { task, why } = &event
            && task == id
        {
            return Ok(Err(why.clone()));
        }
        eprintln!("bestow: {event}");
    }
}
