//! `bestow tasks`: lists and checks the scheduled tasks of a policy file, and runs one by hand.

use std::{fmt::Write, io::IsTerminal};

use bestow::{
    Effect, Engine, Event, Policy, PolicyFile, Settings,
    decision::Explanation,
    event::{GateOutcome, NoEvent, OnMissing, Skip, Subscription, TaskEnd, TaskEvent, TaskId, TaskKind},
    policy::Interaction,
    sandbox::Sandbox,
    schedule::{NotStarted, Scheduler, Surveyed, TaskRun, survey},
    text::Escaped,
};
use tokio::sync::mpsc;

use crate::{
    args::{TaskPart, TasksArgs},
    exit::Exit,
    signals,
};

/// Lists, checks or runs the tasks of a policy file.
pub(crate) fn tasks(args: &TasksArgs) -> Result<Exit, Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Exit::failed)?;
    runtime.block_on(async {
        let engine = engine(&args.config).await?;
        match &args.part {
            None | Some(TaskPart::List) => list(&engine, &survey(&engine).map_err(Exit::failed)?),
            Some(TaskPart::Check) => check(&engine, &survey(&engine).map_err(Exit::failed)?),
            Some(TaskPart::Run { task }) => signals::until_signal(run(&engine, task)).await?,
        }
    })
}

/// Returns an engine in which no person answers. A question becomes an answer that says so.
async fn engine(config: &std::path::Path) -> Result<Engine, Exit> {
    let mut policy: Policy = PolicyFile::new(config).load().map_err(Exit::failed)?;
    policy.settings.interaction = Interaction::NonInteractive;
    let engine = Engine::new(Settings::default()).map_err(Exit::failed)?;
    engine.configure(policy).await.map_err(Exit::failed)?;
    Ok(engine)
}

fn list(engine: &Engine, all: &[Surveyed]) -> Result<Exit, Exit> {
    if all.is_empty() {
        return none(engine);
    }
    let mut text = String::new();
    for Surveyed { file, task, hindered, next, last, .. } in all {
        // Writing to a text does not fail.
        let _ = match task {
            Ok(task) => {
                let next = next.map_or_else(|| "never".to_owned(), |next| next.to_string());
                let last =
                    last.as_ref().map_or_else(|| "never ran".to_owned(), |last| format!("{} {}", last.at, last.what));
                let cannot = if hindered.is_empty() { "" } else { "  cannot run: try `bestow tasks check`" };
                let (id, title) = (task.id.to_string(), Escaped(&task.title));
                writeln!(text, "{id:<32} next {next:<24}  last {last}  ({title}){cannot}")
            }
            Err(_) => writeln!(text, "{file:<32} rejected: try `bestow tasks check`"),
        };
    }
    Ok(Exit::print(&text))
}

/// Says that there are no tasks, and where they would be.
fn none(engine: &Engine) -> Result<Exit, Exit> {
    let settings = engine.settings().map_err(Exit::failed)?;
    let dir = settings.tasks.dir.as_ref().map(ToString::to_string).unwrap_or_default();
    Ok(Exit::print(&format!("no tasks: they are cron/NAME/TASK.md and heartbeat/NAME.md in {}\n", Escaped(&dir))))
}

fn check(engine: &Engine, all: &[Surveyed]) -> Result<Exit, Exit> {
    let settings = engine.settings().map_err(Exit::failed)?;
    let filters = Sandbox::with_this_program().is_ok_and(|sandbox| sandbox.backend() == "bubblewrap");
    let (mut wrong, mut said) = (Vec::new(), Vec::new());
    for surveyed @ Surveyed { file, task, hindered, missing, ignored, .. } in all {
        if let Some(ignored) = ignored {
            eprintln!("bestow: {file}: it lists permissions, which have no effect: {}", Escaped(ignored));
        }
        let gate = |why: &str| at(file, surveyed.gate_line, why);
        if !missing.is_empty() {
            let lacks = missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let told = |becomes: &str| {
                gate(&format!("the gate needs permissions that its agent does not hold, so {becomes}: {lacks}"))
            };
            match settings.tasks.on_missing {
                OnMissing::Run => eprintln!("bestow: {}", told("the task runs unchecked")),
                OnMissing::Ask => eprintln!("bestow: {}", told("a person is asked before the task runs")),
                OnMissing::Skip => wrong.push(told("the task does not run")),
            }
        }
        // A gate with missing permissions does not run, or only after a person has approved.
        if missing.is_empty() || settings.tasks.on_missing == OnMissing::Ask {
            match surveyed.explain_gate(engine).map(|explained| gate_decision(explained.as_ref())) {
                Some(Ok(runs)) => said.push(gate(&runs)),
                Some(Err(why)) => wrong.push(gate(&why)),
                None => {}
            }
        }
        let hosts = task.as_ref().ok().and_then(|task| task.gate.as_ref()).is_some_and(|gate| !gate.domains.is_empty());
        if hosts && !filters {
            wrong.push(gate("the gate names hosts, and limiting it to them requires bubblewrap: install bubblewrap"));
        }
        let wrongs = task.as_ref().err().into_iter().flatten().chain(hindered);
        wrong.extend(wrongs.map(|problem| at(file, problem.line, &problem.why)));
    }
    if !said.is_empty()
        && let exit @ (Exit::Failed(_) | Exit::WouldAsk(_) | Exit::Confined | Exit::Denied(_) | Exit::Usage(_)) =
            Exit::print(&format!("{}\n", said.join("\n")))
    {
        return Err(exit);
    }
    match all.len() {
        _ if !wrong.is_empty() => Err(Exit::failed(wrong.join("\n"))),
        0 => none(engine),
        1 => Ok(Exit::print("1 task, nothing wrong\n")),
        count => Ok(Exit::print(&format!("{count} tasks, nothing wrong\n"))),
    }
}

/// Says if a gate would run. A decision to ask means no, because no person is there at that time.
fn gate_decision(explained: Result<&Explanation, &String>) -> Result<String, String> {
    let explanation = explained.map_err(|why| format!("the gate could not run: {why}"))?;
    let decision = &explanation.decision;
    let says = match decision.verdict() {
        Effect::Allow | Effect::Confined => return Ok(format!("the gate runs: it is {}", decision.action.tier)),
        Effect::Ask => "would ask, and no person can answer",
        Effect::Deny => "is denied",
    };
    let refs: String = decision.rule_refs.iter().map(|rule| format!(", {rule}")).collect();
    let ways: String = explanation.ways_out.iter().map(|way| format!("; {way}")).collect();
    Err(format!("the gate could not run, it {says}: {}{refs}{ways}", decision.decision_reason))
}

/// Formats a message with its place, as compilers do.
fn at(file: &str, line: Option<u32>, why: &str) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}: {}", Escaped(file), Escaped(why))
}

/// Runs the gate and prints the prompt that the task gets.
async fn run(engine: &Engine, id: &TaskId) -> Result<Exit, Exit> {
    let (told, mut prompts) = mpsc::unbounded_channel();
    let runner = move |run: TaskRun| {
        let told = told.send(run.prompt);
        async move { told.map_err(|why| why.to_string()) }
    };
    let sandbox = Sandbox::with_this_program().map_err(Exit::failed)?;
    let tasks = Scheduler::new(runner).with_sandbox(sandbox).by_hand().start(engine).await.map_err(Exit::failed)?;
    report_ignored(engine, id)?;
    // The events about reading all task files are over by now.
    let end = match reporting(engine.subscribe(), id, tasks.run_to_end(id)).await {
        Ok(end) => end,
        Err(NotStarted::Unknown) => return Err(not_taken(engine, id)),
        Err(why) => return Err(Exit::failed(format_args!("{id}: {why}"))),
    };
    // The run is recorded before this returns.
    tasks.stop().await;
    Ok(match end {
        Ok(TaskEnd::Done) => Exit::print(&for_reader(&prompts.try_recv().map_err(Exit::failed)?)),
        Ok(other) => Exit::failed(other),
        Err(why) => {
            let told = format!("{id} does not run: {}", in_full(&why));
            match why {
                Skip::NotAllowed { .. } => Exit::WouldAsk(told),
                Skip::Gate(GateOutcome::Failed { .. } | GateOutcome::Unchecked { .. }) => Exit::Denied(told),
                Skip::Gate(GateOutcome::Passed | GateOutcome::CouldNotRun { .. })
                | Skip::StillRunning
                | Skip::Missed { .. }
                | Skip::NoAgent { .. } => Exit::failed(told),
            }
        }
    })
}

/// Describes why a task is skipped, with the output that is kept of a failed gate.
fn in_full(why: &Skip) -> String {
    if let Skip::Gate(GateOutcome::Failed { code, wrote }) = why
        && !wrote.is_empty()
    {
        let lines: String = wrote.lines().map(|line| format!("\n  {}", Escaped(line))).collect();
        return format!("its gate failed with {code}; it wrote:{lines}");
    }
    why.to_string()
}

/// Describes why there is no such task: the mistakes of its file, or that there is no file.
fn not_taken(engine: &Engine, id: &TaskId) -> Exit {
    let file = match id.kind() {
        TaskKind::Cron => format!("cron/{}/TASK.md", id.name()),
        TaskKind::Heartbeat => format!("heartbeat/{}.md", id.name()),
    };
    let all = match survey(engine) {
        Ok(all) => all,
        Err(why) => return Exit::failed(why),
    };
    let found = all.iter().find(|surveyed| *surveyed.file == *file).and_then(|surveyed| surveyed.task.as_ref().err());
    match found {
        Some(wrong) => Exit::failed(
            wrong.iter().map(|problem| at(&file, problem.line, &problem.why)).collect::<Vec<_>>().join("\n"),
        ),
        None => Exit::failed(format_args!("task {id} does not exist: `bestow tasks` lists the tasks")),
    }
}

/// Reports permissions that the file of the task lists. They have no effect.
fn report_ignored(engine: &Engine, id: &TaskId) -> Result<(), Exit> {
    let all = survey(engine).map_err(Exit::failed)?;
    let of_task = all.into_iter().find(|surveyed| surveyed.task.as_ref().is_ok_and(|task| task.id == *id));
    if let Some(listed) = of_task.and_then(|surveyed| surveyed.ignored) {
        eprintln!("bestow: {}", TaskEvent::PermissionsIgnored { task: id.clone(), listed: listed.into() });
    }
    Ok(())
}

/// Returns the prompt for standard output. A terminal gets no control characters, which a gate may have written.
fn for_reader(prompt: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return format!("{prompt}\n");
    }
    prompt.lines().map(|line| format!("{}\n", Escaped(line))).collect()
}

/// Waits for `end`, and reports the events of the task in the meantime.
async fn reporting<T>(mut events: Subscription, id: &TaskId, end: impl Future<Output = T>) -> T {
    let tell = |event: &TaskEvent| {
        if concerns(event, id) {
            eprintln!("bestow: {event}");
        }
    };
    let mut end = std::pin::pin!(end);
    loop {
        tokio::select! {
            biased;
            event = events.next() => match event {
                Ok(recorded) => if let Event::Task(event) = &recorded.event { tell(event) },
                // The end of the run does not come from here.
                Err(NoEvent::Missed(_)) => {}
                Err(NoEvent::Ended) => return end.await,
            },
            end = &mut end => return end,
        }
    }
}

/// Returns true for an event to report: not one about reading all files, and not the end of the run.
fn concerns(event: &TaskEvent, id: &TaskId) -> bool {
    match event {
        TaskEvent::Finished { task, .. } | TaskEvent::Skipped { task, .. } if task == id => false,
        TaskEvent::Gate { task, runs, .. } => *runs || task != id,
        TaskEvent::Added { .. }
        | TaskEvent::Removed { .. }
        | TaskEvent::Rejected { .. }
        | TaskEvent::PermissionsIgnored { .. }
        | TaskEvent::FileJudged { .. } => false,
        TaskEvent::Started { .. }
        | TaskEvent::Finished { .. }
        | TaskEvent::Skipped { .. }
        | TaskEvent::Trouble { .. }
        | _ => true,
    }
}
