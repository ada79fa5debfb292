//! A program with an engine, as a process of its own: agents that ask and hold, connectors that come and go, bots that
//! die.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use bestow::{
    Answer, Engine, InitialGrants, Kind, PermissionRequest,
    decision::Check,
    grant::{PermissionRef, Scope},
    stdio::Bot,
};
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

use super::{Times, figures::Figures, policy};
use crate::support::{id, profile, tag, why};

/// A variable that is set in the process of the program: its directory.
pub(super) const CHILD: &str = "BESTOW_TEST_SOAK";

/// The process of the program.
pub(super) struct Program {
    child: Child,
    told: BufReader<ChildStdout>,
    _place: tempfile::TempDir,
}

impl Program {
    pub(super) fn start() -> Program {
        let place = tempfile::tempdir().unwrap();
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "soak::a_long_mixed_load_leaves_everything_flat", "--nocapture", "--ignored"])
            .env(CHILD, place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(child.stdout.take().unwrap());
        Program { child, told, _place: place }
    }

    /// Returns the figures of the process, with the times of its calls since the last time.
    pub(super) fn figures(&mut self) -> Figures {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        let times = loop {
            line.clear();
            assert_ne!(self.told.read_line(&mut line).unwrap(), 0, "the program has ended");
            if let Some(times) = line.strip_prefix("times: ") {
                break times.split_whitespace().map(|nanos| Duration::from_nanos(nanos.parse().unwrap())).collect();
            }
        };
        Figures::of(self.child.id(), times)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lives until its standard input ends. Tells its times for each line there.
pub(super) async fn live(place: &Path) {
    let file = place.join("agents.toml");
    std::fs::write(&file, policy(0)).unwrap();
    let engine = Engine::open_durable(&file, place.join("state")).await.unwrap();
    let (times, mut tasks) = (Times::default(), JoinSet::new());
    macro_rules! again_and_again {
        ($($name:ident each $millis:literal ms),*) => {$({
            let (engine, times, place) = (engine.clone(), times.clone(), place.to_owned());
            tasks.spawn(async move {
                let mut tick = interval(Duration::from_millis($millis));
                tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
                for step in 0_u64.. {
                    tick.tick().await;
                    $name(&engine, &times, step, &place).await;
                }
            });
        })*};
    }
    again_and_again!(
        gives_and_revokes each 5 ms,
        asks_and_answers each 10 ms,
        registers_and_retires each 50 ms,
        subscribes each 20 ms,
        dies each 100 ms,
        reloads each 250 ms
    );
    let lines = tokio::task::spawn_blocking(move || {
        for line in std::io::stdin().lines() {
            line.unwrap();
            assert!(tasks.try_join_next().is_none(), "a task has stopped");
            let nanos: Vec<_> = times.take().into_iter().map(|time| time.as_nanos().to_string()).collect();
            println!("\ntimes: {}", nanos.join(" "));
        }
    });
    lines.await.unwrap();
    engine.shutdown().await;
}

/// Checks are made between the two, by the agent that holds the permission.
async fn gives_and_revokes(engine: &Engine, times: &Times, step: u64, _: &Path) {
    let (you, path) = (engine.approver("you", "ann", "test"), format!("/srv/given/{step}"));
    let began = Instant::now();
    let given = you.give(&id("granted"), tag(&format!("@write:{path}")), Scope::Always, why()).await.unwrap();
    let agent = engine.agent(id("granted")).unwrap();
    for _ in 0..100 {
        assert_eq!(agent.check(PermissionRef::write(&path)), Check::Held);
    }
    you.revoke(given[0], None).await.unwrap();
    times.add(began);
    assert_eq!(agent.check(PermissionRef::write(&path)), Check::NotHeld);
}

async fn asks_and_answers(engine: &Engine, times: &Times, step: u64, _: &Path) {
    let (you, asker) = (engine.approver("you", "ann", "test"), engine.agent(id("asker")).unwrap());
    let wanted = tag(&format!("@write:/srv/asked/{step}"));
    let began = Instant::now();
    let ticket = asker.request(PermissionRequest::new(wanted, why())).await.unwrap();
    let answer = if step.is_multiple_of(2) { Answer::deny() } else { Answer::allow().scope(Scope::Always) };
    let answered = you.answer(ticket.id(), answer).await;
    // On a busy machine, a request may end before its answer comes.
    assert!(answered.is_ok() || ticket.poll().is_some(), "{answered:?}");
    drop(ticket.resolution().await);
    times.add(began);
    for grant in asker.grants().unwrap() {
        you.revoke(grant.id, None).await.unwrap();
    }
}

async fn registers_and_retires(engine: &Engine, _: &Times, step: u64, _: &Path) {
    let of_step = profile(&format!("for-{step}"), "you", Kind::Subagent);
    let agent = engine.register(of_step, InitialGrants::of([tag("@write:/srv/short")])).await.unwrap();
    drop(agent.request(PermissionRequest::new(tag("@network"), why())).await.unwrap());
    engine.retire(agent.id()).await.unwrap();
}

async fn subscribes(engine: &Engine, _: &Times, _: u64, _: &Path) {
    let (mut events, connector) = (engine.subscribe(), engine.connect(id("lead")).unwrap());
    drop(events.next().await);
    drop((events, connector));
}

/// A bot asks, and is killed before anybody answers.
async fn dies(engine: &Engine, _: &Times, _: u64, _: &Path) {
    let ask = r#"read hello
        echo '{"type":"request_permission","permission":"@network","reason":"to look it up"}'
        read accepted; kill -9 $$"#;
    let mut command = tokio::process::Command::new("sh");
    command.arg("-c").arg(ask);
    let mut running = Bot::agent(engine, &id("bot")).unwrap().spawn(command).unwrap();
    assert!(!running.wait().await.status.unwrap().success());
}

async fn reloads(_: &Engine, _: &Times, step: u64, place: &Path) {
    std::fs::write(place.join("next.toml"), policy(step)).unwrap();
    std::fs::rename(place.join("next.toml"), place.join("agents.toml")).unwrap();
}
