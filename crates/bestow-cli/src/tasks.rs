//! `bestow tasks`: the scheduled tasks of a file, as they are, and one of them by hand.

use std::{fmt::Write, io::IsTerminal};

use bestow::{
    Effect, Engine, Escaped, Event, Explanation, GateOutcome, Interaction, NoEvent, OnMissing, Policy, PolicyFile,
    Settings, Skip, Subscription, TaskEnd, TaskEvent, TaskId, TaskKind,
    sandbox::Sandbox,
    schedule::{NotStarted, Scheduler, Surveyed, TaskRun, survey},
};
use tokio::sync::mpsc;

use crate::{end::End, signals};

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
            Work::List => list(&engine, &survey(&engine).map_err(End::failed)?),
            Work::Check => check(&engine, &survey(&engine).map_err(End::failed)?),
            Work::Run(id) => signals::until_told(run(&engine, id)).await?,
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

fn list(engine: &Engine, all: &[Surveyed]) -> Result<End, End> {
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
            Err(_) => writeln!(text, "{file:<32} not taken: try `bestow tasks check`"),
        };
    }
    Ok(End::said(&text))
}

/// Where they would be.
fn none(engine: &Engine) -> Result<End, End> {
    let settings = engine.settings().map_err(End::failed)?;
    let dir = settings.tasks.dir.as_ref().map(ToString::to_string).unwrap_or_default();
    Ok(End::said(&format!("no tasks: they are cron/NAME/TASK.md and heartbeat/NAME.md in {}\n", Escaped(&dir))))
}

fn check(engine: &Engine, all: &[Surveyed]) -> Result<End, End> {
    let settings = engine.settings().map_err(End::failed)?;
    let filters = Sandbox::with_this_program().is_ok_and(|sandbox| sandbox.backend() == "bubblewrap");
    let (mut wrong, mut said) = (Vec::new(), Vec::new());
    for surveyed @ Surveyed { file, task, hindered, missing, ignored, .. } in all {
        if let Some(ignored) = ignored {
            eprintln!("bestow: {file}: it lists permissions, which give nothing: {}", Escaped(ignored));
        }
        let gate = |why: &str| at(file, surveyed.gate_line, why);
        if !missing.is_empty() {
            let lacks = missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let told = |becomes: &str| gate(&format!("the gate needs what its agent lacks, so {becomes}: {lacks}"));
            match settings.tasks.on_missing {
                OnMissing::Run => eprintln!("bestow: {}", told("the task runs unchecked")),
                OnMissing::Ask => eprintln!("bestow: {}", told("a person is asked before the task runs")),
                OnMissing::Skip => wrong.push(told("the task does not run")),
            }
        }
        // With something missing, it is not asked at all, or only after a person has spoken.
        if missing.is_empty() || settings.tasks.on_missing == OnMissing::Ask {
            match surveyed.explain_gate(engine).map(|explained| said_of_gate(explained.as_ref())) {
                Some(Ok(runs)) => said.push(gate(&runs)),
                Some(Err(why)) => wrong.push(gate(&why)),
                None => {}
            }
        }
        let hosts = task.as_ref().ok().and_then(|task| task.gate.as_ref()).is_some_and(|gate| !gate.domains.is_empty());
        if hosts && !filters {
            wrong.push(gate("the gate names hosts, and keeping it to them takes bubblewrap: install it"));
        }
        let wrongs = task.as_ref().err().into_iter().flatten().chain(hindered);
        wrong.extend(wrongs.map(|problem| at(file, problem.line, &problem.why)));
    }
    if !said.is_empty()
        && let end @ (End::Failed(_) | End::WouldAsk(_) | End::Confined | End::Denied(_) | End::Usage(_)) =
            End::said(&format!("{}\n", said.join("\n")))
    {
        return Err(end);
    }
    match all.len() {
        _ if !wrong.is_empty() => Err(End::failed(wrong.join("\n"))),
        0 => none(engine),
        1 => Ok(End::said("1 task, nothing wrong\n")),
        count => Ok(End::said(&format!("{count} tasks, nothing wrong\n"))),
    }
}

/// Whether a gate would run. A question is no: nobody is there when it is put.
fn said_of_gate(explained: Result<&Explanation, &String>) -> Result<String, String> {
    let explanation = explained.map_err(|why| format!("the gate could not run: {why}"))?;
    let decision = &explanation.decision;
    let says = match decision.verdict() {
        Effect::Allow | Effect::Confined => return Ok(format!("the gate runs: it is {}", decision.action.tier)),
        Effect::Ask => "would ask, and nobody is there to answer",
        Effect::Deny => "is denied",
    };
    let refs: String = decision.rule_refs.iter().map(|rule| format!(", {rule}")).collect();
    let ways: String = explanation.ways_out.iter().map(|way| format!("; {way}")).collect();
    Err(format!("the gate could not run, it {says}: {}{refs}{ways}", decision.decision_reason))
}

/// As compilers say where something is.
fn at(file: &str, line: Option<u32>, why: &str) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}: {}", Escaped(file), Escaped(why))
}

/// Asks the gate and prints the prompt, as whoever carries out tasks would get it.
async fn run(engine: &Engine, id: &TaskId) -> Result<End, End> {
    let (told, mut prompts) = mpsc::unbounded_channel();
    let runner = move |run: TaskRun| {
        let told = told.send(run.prompt);
        async move { told.map_err(|why| why.to_string()) }
    };
    let sandbox = Sandbox::with_this_program().map_err(End::failed)?;
    let tasks = Scheduler::new(runner).with_sandbox(sandbox).by_hand().start(engine).await.map_err(End::failed)?;
    tell_ignored(engine, id)?;
    // What reading the files says of all tasks is over by now.
    let end = match telling(engine.subscribe(), id, tasks.run_to_end(id)).await {
        Ok(end) => end,
        Err(NotStarted::Unknown) => return Err(not_taken(engine, id)),
        Err(why) => return Err(End::failed(format_args!("{id}: {why}"))),
    };
    // Written down before this ends.
    tasks.stop().await;
    Ok(match end {
        Ok(TaskEnd::Done) => End::said(&for_reader(&prompts.try_recv().map_err(End::failed)?)),
        Ok(other) => End::failed(other),
        Err(why) => {
            let told = format!("{id} does not run: {}", in_full(&why));
            match why {
                Skip::NotAllowed { .. } => End::WouldAsk(told),
                Skip::Gate(GateOutcome::Failed { .. } | GateOutcome::Unchecked { .. }) => End::Denied(told),
                Skip::Gate(GateOutcome::Passed | GateOutcome::CouldNotRun { .. })
                | Skip::StillRunning
                | Skip::Missed { .. }
                | Skip::NoAgent { .. } => End::failed(told),
            }
        }
    })
}

/// With everything that is kept of what a gate wrote that failed.
fn in_full(why: &Skip) -> String {
    if let Skip::Gate(GateOutcome::Failed { code, wrote }) = why
        && !wrote.is_empty()
    {
        let lines: String = wrote.lines().map(|line| format!("\n  {}", Escaped(line))).collect();
        return format!("its gate failed with {code}; it wrote:{lines}");
    }
    why.to_string()
}

/// What is wrong with its file, if there is one.
fn not_taken(engine: &Engine, id: &TaskId) -> End {
    let file = match id.kind() {
        TaskKind::Cron => format!("cron/{}/TASK.md", id.name()),
        TaskKind::Heartbeat => format!("heartbeat/{}.md", id.name()),
    };
    let all = match survey(engine) {
        Ok(all) => all,
        Err(why) => return End::failed(why),
    };
    let found = all.iter().find(|surveyed| *surveyed.file == *file).and_then(|surveyed| surveyed.task.as_ref().err());
    match found {
        Some(wrong) => End::failed(
            wrong.iter().map(|problem| at(&file, problem.line, &problem.why)).collect::<Vec<_>>().join("\n"),
        ),
        None => End::failed(format_args!("there is no task {id}: `bestow tasks` lists them")),
    }
}

/// Tells what the file of the task lists as permissions.
fn tell_ignored(engine: &Engine, id: &TaskId) -> Result<(), End> {
    let all = survey(engine).map_err(End::failed)?;
    let of_task = all.into_iter().find(|surveyed| surveyed.task.as_ref().is_ok_and(|task| task.id == *id));
    if let Some(listed) = of_task.and_then(|surveyed| surveyed.ignored) {
        eprintln!("bestow: {}", TaskEvent::PermissionsIgnored { task: id.clone(), listed: listed.into() });
    }
    Ok(())
}

/// The prompt as it is for a program; a terminal gets no control characters, which a gate may have written.
fn for_reader(prompt: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return format!("{prompt}\n");
    }
    prompt.lines().map(|line| format!("{}\n", Escaped(line))).collect()
}

/// Waits for `end`, and tells people meanwhile what happens to the task.
async fn telling<T>(mut events: Subscription, id: &TaskId, end: impl Future<Output = T>) -> T {
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
                // How the run ended is not heard here.
                Err(NoEvent::Missed(_)) => {}
                Err(NoEvent::Ended) => return end.await,
            },
            end = &mut end => return end,
        }
    }
}

/// Not what reading the files says of all of them, nor what is said at the end anyway.
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
