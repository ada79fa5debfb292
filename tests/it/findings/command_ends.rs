//! The end of each command is an event, also if the engine was killed in the middle (issue 13, T4).

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command as Child, Stdio},
    sync::Arc,
    time::Duration,
};

use bestow::{
    Engine, Event, InitialGrants, Settings,
    event::ProcessExit,
    host::{DiskPaths, StoreFault, SystemClock},
    sandbox::{Command, Finished, Sandbox},
};

use super::processes::{Place, soon};
use crate::{stored::held::HeldStore, support::BESTOW};

fn sh(line: &str) -> Command {
    Command::new("sh").args(["-c", line])
}

/// Returns the ids of the commands that began, and of those that ended with the result.
fn told(events: &mut bestow::event::Subscription) -> (Vec<String>, Vec<(String, ProcessExit)>) {
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for recorded in crate::support::heard(events) {
        if let Event::SandboxApplied { command: Some(command), .. } = &recorded.event {
            begun.push(command.to_string());
        }
        if let Event::SandboxEnded { command, exit, .. } = &recorded.event {
            ended.push((command.to_string(), *exit));
        }
    }
    (begun, ended)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_has_an_event_that_tells_its_end() {
    let place = Place::new();
    let engine = Engine::new(Settings::default()).unwrap();
    let agent = engine.register(place.profile("worker"), InitialGrants::of([place.write()])).await.unwrap();
    let sandbox = Sandbox::with_helper(BESTOW);
    let mut events = engine.subscribe();

    agent.exec(&sandbox, sh("exit 3"), &[place.write()]).await.unwrap();
    let mut limits = agent.sandbox_profile(&[place.write()]).unwrap().limits().clone();
    limits.time = Some(Duration::from_millis(300));
    let short = agent.sandbox_profile(&[place.write()]).unwrap().limited(limits);
    let done: Finished = agent.exec_under(&sandbox, short, sh("sleep 999")).await.unwrap();
    assert!(done.timed_out);
    let missing = agent.exec(&sandbox, Command::new(place.workspace.join("no-program")), &[place.write()]).await;
    assert!(missing.is_err());

    let (begun, ended) = told(&mut events);
    let both: Vec<_> = ended.iter().map(|(command, _)| command.clone()).collect();
    assert_eq!(begun, both, "every begin has its end");
    let exits: Vec<_> = ended.into_iter().map(|(_, exit)| exit).collect();
    assert_eq!(exits, [ProcessExit::Exited { code: 3 }, ProcessExit::TimedOut, ProcessExit::NotStarted]);
}

/// A command whose begin is not stored leaves no trace if its engine is killed. So it does not start.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_whose_begin_is_not_stored_does_not_start() {
    let place = Place::new();
    let store = HeldStore::new(Vec::new());
    let clock = Arc::new(SystemClock::new());
    let engine = Engine::restore(Some(Settings::default()), clock, Arc::new(DiskPaths), store.clone()).await.unwrap();
    let agent = engine.register(place.profile("worker"), InitialGrants::of([place.write()])).await.unwrap();
    let (sandbox, named) = (Sandbox::with_helper(BESTOW), [place.write()]);
    store.hold();
    let run = agent.exec(&sandbox, sh("echo x > started"), &named);
    let refuse = async {
        let is_begin = |event: &Event| matches!(event, Event::SandboxApplied { .. });
        loop {
            let waiting = store.waiting();
            if waiting.iter().any(|batch| batch.recorded().any(|recorded| is_begin(&recorded.event))) {
                break;
            }
            store.store(waiting.len());
            tokio::task::yield_now().await;
        }
        store.fail(StoreFault::Refused);
    };
    let (done, ()) = soon("the end", async { tokio::join!(run, refuse) }).await;
    let why = done.expect_err("it ran").to_string();
    assert!(why.contains("no room"), "{why}");
    assert!(!place.workspace.join("started").exists());
}

/// Contains the directory of the engine. It is set in the process that is killed.
const KILLED: &str = "BESTOW_TEST_COMMAND_ENDS";

#[test]
fn a_command_that_a_kill_of_its_engine_interrupted_ends_in_the_events_of_the_next_start() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let Some(at) = env::var_os(KILLED) {
        return runtime.block_on(runs_until_killed(Path::new(&at)));
    }
    let place = Place::new();
    let line = place.lifeline();
    let name = "findings::command_ends::\
                a_command_that_a_kill_of_its_engine_interrupted_ends_in_the_events_of_the_next_start";
    let mut child = Child::new(env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]).env(KILLED, place.workspace.parent().unwrap());
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("it runs")));
    child.kill().unwrap();
    child.wait().unwrap();
    runtime.block_on(async {
        // Nothing of the command is left.
        line.ends().await;
        for _ in 0..2 {
            let engine = Engine::durable(Settings::default(), &place.state).await.unwrap();
            engine.shutdown().await;
        }
    });
    let shown = Child::new(BESTOW).args(["audit", "show", "--state"]).arg(&place.state).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    let about: Vec<_> = shown.lines().filter(|line| line.contains("sandbox.")).collect();
    // The second start reports nothing more.
    assert_eq!(about.len(), 4, "{shown}");
    assert!(about[0].contains("sandbox.applied") && about[1].contains("exited with code 0"), "{shown}");
    assert!(about[2].contains("sandbox.applied"), "{shown}");
    assert!(about[3].contains("sandbox.ended") && about[3].contains("worker ended with its engine"), "{shown}");
}

/// Runs a command to its end, and another one that does not end.
async fn runs_until_killed(at: &Path) {
    let place = Place::of_another(at);
    let engine = Engine::durable(Settings::default(), &place.state).await.unwrap();
    let agent = engine.register(place.profile("worker"), InitialGrants::of([place.write()])).await.unwrap();
    let sandbox = Sandbox::with_helper(BESTOW);
    agent.exec(&sandbox, sh("true"), &[place.write()]).await.unwrap();
    let mut events = engine.subscribe();
    let named = [place.write()];
    let run = agent.exec(&sandbox, sh("exec 7> lifeline; echo up >&7; sleep 999"), &named);
    let report = async {
        while !matches!(soon("the start", events.next()).await.unwrap().event, Event::SandboxApplied { .. }) {}
        println!("it runs");
        std::future::pending::<()>().await;
    };
    tokio::select! {
        done = run => panic!("it ended: {done:?}"),
        () = report => {}
    }
}
