//! Tests of processes that continue after the call that started them (finding B9).
#![cfg(feature = "cli")]

use std::{
    env,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Command as Child, Stdio},
    sync::Arc,
    time::Duration,
};

use bestow::{
    Agent, Answer, Engine, Error, Event, InitialGrants, Kind, Permission, PermissionRequest, PolicyFile, Profile,
    Settings,
    agent::Mode,
    decision::Refusal,
    event::{ProcessEvent, ProcessExit, ProcessId, StopCause, Subscription},
    grant::Scope,
    host::{DiskPaths, ManualClock},
    process::{OutputStream, ProcessOptions},
    sandbox::{Command, ExecError, Sandbox},
};

use crate::support::{START, id, why};

const GRACE: Duration = Duration::from_secs(30);

/// A workspace, and an engine on the disk with an agent that works there.
pub(super) struct Place {
    _directory: tempfile::TempDir,
    pub(super) workspace: PathBuf,
    pub(super) state: PathBuf,
}

struct Host {
    place: Place,
    engine: Engine,
    clock: Arc<ManualClock>,
    agent: Agent,
    sandbox: Sandbox,
}

impl Place {
    pub(super) fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let at = crate::support::real(directory.path());
        let (workspace, state) = (at.join("workspace"), at.join("state"));
        fs::create_dir(&workspace).unwrap();
        Place { _directory: directory, workspace, state }
    }

    /// Returns the place of another process, which has its workspace and state in this directory.
    pub(super) fn of_another(directory: &Path) -> Place {
        Place {
            _directory: tempfile::tempdir().unwrap(),
            workspace: directory.join("workspace"),
            state: directory.join("state"),
        }
    }

    pub(super) fn profile(&self, name: &str) -> Profile {
        let stands = self.workspace.to_str().unwrap().parse().unwrap();
        Profile::new(id(name), "you".parse().unwrap(), Kind::Permanent, stands).in_mode(Mode::Bypass)
    }

    pub(super) fn write(&self) -> Permission {
        Permission::write(self.workspace.to_str().unwrap().parse().unwrap())
    }

    /// Creates a pipe in the workspace. Its reader sees the end when every process that holds the pipe is gone.
    pub(super) fn lifeline(&self) -> Lifeline {
        let path = self.workspace.join("lifeline");
        let _ = fs::remove_file(&path);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        Lifeline::of(&path)
    }
}

pub(super) struct Lifeline(File);

impl Lifeline {
    fn of(path: &Path) -> Lifeline {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
        let reader = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap();
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::RDONLY).unwrap();
        Lifeline(File::from(reader))
    }

    /// Reads the lifeline until no process holds it any more, and returns the content.
    pub(super) async fn ends(mut self) -> String {
        let read = tokio::task::spawn_blocking(move || {
            let mut told = String::new();
            self.0.read_to_string(&mut told).unwrap();
            told
        });
        soon("the end of everything it started", read).await.unwrap()
    }
}

/// Holds the lifeline, starts two more processes that hold it in a session of their own, and serves lines.
const HOLDS_ON: &str = "exec 7> lifeline; echo up >&7; (setsid sh -c 'trap \"\" TERM; sleep 999 & sleep 999' &); \
                        echo ready; while read line; do echo got $line; done; sleep 999";

pub(super) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.unwrap_or_else(|_| panic!("{what} did not come"))
}

impl Host {
    async fn new() -> Host {
        Host::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut Settings)) -> Host {
        let place = Place::new();
        let clock = Arc::new(ManualClock::at(START));
        let mut settings = Settings::default();
        change(&mut settings);
        let engine = Engine::on(settings, clock.clone(), Arc::new(DiskPaths)).unwrap();
        let agent = engine.register(place.profile("worker"), InitialGrants::of([place.write()])).await.unwrap();
        Host { place, engine, clock, agent, sandbox: Sandbox::with_helper(crate::support::BESTOW) }
    }

    async fn start(&self, line: &str) -> Result<ProcessId, ExecError> {
        start(&self.agent, &self.sandbox, line, &[self.place.write()]).await
    }

    /// Starts a process that holds the lifeline, and waits until it is ready.
    async fn holds_on(&self) -> (ProcessId, Lifeline) {
        let line = self.place.lifeline();
        let process = self.start(HOLDS_ON).await.unwrap();
        hears(&self.agent, process, "ready\n").await;
        (process, line)
    }
}

async fn start(agent: &Agent, sandbox: &Sandbox, line: &str, named: &[Permission]) -> Result<ProcessId, ExecError> {
    let command = Command::new("sh").args(["-c", line]);
    soon("the start", agent.process_start(sandbox, command, named, ProcessOptions::default())).await
}

/// Waits until the output of the process begins with `said`.
async fn hears(agent: &Agent, process: ProcessId, said: &str) {
    let wanted = u64::try_from(said.len()).unwrap();
    let mut all = Vec::new();
    while all.len() < said.len() {
        let from = u64::try_from(all.len()).unwrap();
        soon(said, agent.process_output(process, OutputStream::Stdout, from)).await.unwrap();
        let chunk = agent.process_read(process, OutputStream::Stdout, from, 1 << 16).unwrap();
        all.extend(chunk.bytes);
        if chunk.is_end {
            break;
        }
    }
    assert!(all.starts_with(said.as_bytes()), "{:?} instead of {said:?} ({wanted})", String::from_utf8_lossy(&all));
}

/// Returns the next event about a process.
async fn next(events: &mut Subscription) -> ProcessEvent {
    loop {
        if let Event::Process(event) = soon("an event", events.next()).await.unwrap().event {
            return event;
        }
    }
}

async fn stopped(events: &mut Subscription) -> StopCause {
    match next(events).await {
        ProcessEvent::Stopped { cause, .. } => cause,
        other => panic!("{other}"),
    }
}

async fn exited(events: &mut Subscription) -> ProcessExit {
    match next(events).await {
        ProcessEvent::Exited { exit, .. } => exit,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_process_goes_on_is_spoken_to_and_ends_when_it_is_told() {
    let host = Host::new().await;
    let mut events = host.engine.subscribe();
    let (process, line) = host.holds_on().await;
    let (agent, asked) = (&host.agent, b"one\ntwo\n");
    assert_eq!(agent.process_write(process, asked).await.unwrap(), asked.len());
    hears(agent, process, "ready\ngot one\ngot two\n").await;
    let chunk = agent.process_read(process, OutputStream::Stdout, 6, 4).unwrap();
    assert_eq!(
        (chunk.from, chunk.bytes.as_slice(), chunk.next, chunk.dropped, chunk.is_end),
        (6, &b"got "[..], 10, 0, false)
    );
    let list = agent.process_list().unwrap();
    assert_eq!((list.len(), list[0].process.id, list[0].exit), (1, process, None));
    assert_eq!(list[0].process.permissions, [host.place.write()]);
    assert_eq!(list[0].process.grants.len(), 1);
    let mut kinds = Vec::new();
    loop {
        let recorded = soon("an event", events.next()).await.unwrap();
        kinds.push(recorded.event.kind());
        if let Event::Process(event) = &recorded.event {
            let envelope = serde_json::to_value(host.engine.envelope(&recorded)).unwrap();
            assert_eq!(envelope["processId"], "p0");
            assert_eq!(
                serde_json::from_value::<bestow::event::Envelope>(envelope).unwrap().recorded().unwrap(),
                recorded
            );
            assert_eq!(event.process().cause.as_ref().unwrap().run, event.process().run);
            break;
        }
    }
    assert_eq!(kinds, ["permission.evaluated", "sandbox.applied", "process.started"]);
    agent.process_stop(process, GRACE).await.unwrap();
    assert_eq!(soon("the end", agent.process_wait(process)).await.unwrap(), ProcessExit::Signalled { signal: 15 });
    assert!(matches!(stopped(&mut events).await, StopCause::Ordered { .. }));
    assert_eq!(exited(&mut events).await, ProcessExit::Signalled { signal: 15 });
    assert_eq!(line.ends().await, "up\n", "what it left in another session ended with it");
    // The output can still be read. Writing to the process fails.
    assert!(agent.process_read(process, OutputStream::Stdout, 0, 99).unwrap().is_end);
    let late = agent.process_write(process, b"x").await;
    assert!(matches!(late, Err(ExecError::Engine(Error::Refused(Refusal::ProcessEnded(_))))), "{late:?}");
    assert!(host.engine.processes().unwrap().is_empty());
}

#[tokio::test]
async fn its_end_of_input_is_its_own_end_and_the_exit_code_is_told() {
    let host = Host::new().await;
    let process = host.start("cat; exit 7").await.unwrap();
    host.agent.process_write(process, b"last").await.unwrap();
    host.agent.process_close_input(process).unwrap();
    assert_eq!(soon("the end", host.agent.process_wait(process)).await.unwrap(), ProcessExit::Exited { code: 7 });
    hears(&host.agent, process, "last").await;
}

#[tokio::test]
async fn one_that_ignores_being_asked_is_killed_when_the_grace_is_over() {
    let host = Host::new().await;
    let line = host.place.lifeline();
    let deaf = "exec 7> lifeline; trap '' TERM; echo ready; while :; do sleep 1; done";
    let process = host.start(deaf).await.unwrap();
    hears(&host.agent, process, "ready\n").await;
    host.agent.process_stop(process, Duration::from_millis(200)).await.unwrap();
    assert_eq!(soon("the end", host.agent.process_wait(process)).await.unwrap(), ProcessExit::Signalled { signal: 9 });
    line.ends().await;
}

#[tokio::test]
async fn a_permission_that_is_revoked_takes_the_process_with_it_in_the_same_step() {
    let host = Host::new().await;
    let (process, line) = host.holds_on().await;
    let mut events = host.engine.subscribe();
    let grant = host.agent.grants().unwrap()[0].id;
    host.engine.revoke(grant, None).await.unwrap();
    let first = events.next().await.unwrap();
    assert!(matches!(first.event, Event::GrantRevoked { .. }), "{first}");
    // This is the very next event: no other event came in between.
    let second = events.next().await.unwrap();
    let Event::Process(ProcessEvent::Stopped { process: which, cause }) = second.event else { panic!("{second}") };
    assert_eq!((which.id, cause), (process, StopCause::PermissionLost { permission: host.place.write() }));
    assert_eq!((first.at, first.sequence + 1), (second.at, second.sequence));
    assert_eq!(exited(&mut events).await, ProcessExit::Signalled { signal: 9 });
    line.ends().await;
}

#[tokio::test]
async fn a_permission_that_another_grant_still_carries_is_not_lost() {
    let host = Host::new().await;
    let you = host.engine.approver("you", "ann", "test");
    you.give(host.agent.id(), host.place.write(), Scope::Always, why()).await.unwrap();
    let (process, line) = host.holds_on().await;
    let grants: Vec<_> = host.agent.grants().unwrap().iter().map(|grant| grant.id).collect();
    host.engine.revoke(grants[0], None).await.unwrap();
    host.agent.process_write(process, b"still\n").await.unwrap();
    hears(&host.agent, process, "ready\ngot still\n").await;
    host.engine.revoke(grants[1], None).await.unwrap();
    line.ends().await;
}

#[tokio::test]
async fn a_permission_that_expires_takes_the_process_with_it() {
    let host = Host::new().await;
    let other = host.place.workspace.parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    let wanted = Permission::write(other.to_str().unwrap().parse().unwrap());
    let you = host.engine.approver("you", "ann", "test");
    let until = Scope::Until(START.after(Duration::from_secs(60)));
    you.give(host.agent.id(), wanted.clone(), until, why()).await.unwrap();
    let line = host.place.lifeline();
    let named = [host.place.write(), wanted.clone()];
    let process = start(&host.agent, &host.sandbox, HOLDS_ON, &named).await.unwrap();
    hears(&host.agent, process, "ready\n").await;
    let mut events = host.engine.subscribe();
    host.clock.advance(Duration::from_secs(61));
    assert_eq!(stopped(&mut events).await, StopCause::PermissionLost { permission: wanted });
    line.ends().await;
}

#[tokio::test]
async fn a_permission_that_falls_with_its_giver_takes_the_process_of_the_receiver_with_it() {
    let host = Host::new().await;
    let child = host.agent.create(host.place.profile("child"), &[host.place.write()], why()).await;
    let child = match child {
        Ok(child) => child,
        // An agent may create an agent of this kind, so a refusal is a failure.
        Err(why) => panic!("{why}"),
    };
    let line = host.place.lifeline();
    let process = start(&child, &host.sandbox, HOLDS_ON, &[host.place.write()]).await.unwrap();
    hears(&child, process, "ready\n").await;
    let mut events = host.engine.subscribe();
    host.engine.revoke(host.agent.grants().unwrap()[0].id, None).await.unwrap();
    assert_eq!(stopped(&mut events).await, StopCause::PermissionLost { permission: host.place.write() });
    line.ends().await;
}

#[tokio::test]
async fn it_ends_with_its_agent() {
    let host = Host::new().await;
    let (process, line) = host.holds_on().await;
    let mut events = host.engine.subscribe();
    host.engine.retire(host.agent.id()).await.unwrap();
    assert_eq!(stopped(&mut events).await, StopCause::AgentGone);
    assert_eq!(exited(&mut events).await, ProcessExit::Signalled { signal: 9 });
    line.ends().await;
    // A later agent of that name has no access to the process.
    let next = host.engine.register(host.place.profile("worker"), InitialGrants::nothing()).await.unwrap();
    assert!(next.process_list().unwrap().is_empty());
    assert!(matches!(
        next.process_read(process, OutputStream::Stdout, 0, 9),
        Err(Error::Refused(Refusal::UnknownProcess(_)))
    ));
    assert!(matches!(host.agent.process_list(), Err(Error::Refused(Refusal::Gone(_)))));
}

#[tokio::test]
async fn it_ends_with_the_run_that_it_was_started_in() {
    let host = Host::new().await;
    let (_, line) = host.holds_on().await;
    let mut events = host.engine.subscribe();
    host.engine.begin_run(host.agent.id(), "another".parse().unwrap()).await.unwrap();
    assert_eq!(stopped(&mut events).await, StopCause::RunOver);
    line.ends().await;
}

#[tokio::test]
async fn it_ends_with_the_engine_and_with_its_last_handle() {
    let host = Host::new().await;
    let (_, line) = host.holds_on().await;
    host.engine.shutdown().await;
    // The process was gone when `shutdown` returned.
    assert_eq!(line.ends().await, "up\n");
    let host = Host::new().await;
    let (_, line) = host.holds_on().await;
    let Host { place, engine, agent, .. } = host;
    drop((engine, agent));
    line.ends().await;
    drop(place);
}

#[tokio::test]
async fn a_rule_that_comes_later_and_denies_it_ends_it() {
    let host = Host::new().await;
    let file = host.place.workspace.parent().unwrap().join("agents.toml");
    let policy = |rule: &str| {
        let (stands, file) = (host.place.workspace.to_str().unwrap(), &file);
        let text = format!(
            "[agents.filed]\nowner = \"you\"\nkind = \"permanent\"\nworking_dir = {stands:?}\nmode = \"bypass\"\n{rule}"
        );
        fs::write(file, text).unwrap();
        PolicyFile::new(file).load().unwrap()
    };
    host.engine.configure(policy("")).await.unwrap();
    let filed = host.engine.agent(id("filed")).unwrap();
    let process = start(&filed, &host.sandbox, "echo ready; cat", &[]).await.unwrap();
    let mut events = host.engine.subscribe();
    let rule = |verdict: &str, operation: &str| {
        format!("[[agents.filed.rules]]\nverdict = {verdict:?}\noperation = {operation:?}\n")
    };
    host.engine.configure(policy(&rule("allow", "fs.read"))).await.unwrap();
    host.engine.configure(policy(&rule("deny", "command.execute"))).await.unwrap();
    assert!(matches!(stopped(&mut events).await, StopCause::Denied { .. }));
    assert_eq!(soon("the end", filed.process_wait(process)).await.unwrap(), ProcessExit::Signalled { signal: 9 });
}

#[tokio::test]
async fn a_restart_is_a_new_action_under_the_profile_of_the_start() {
    let host = Host::new().await;
    let (process, line) = host.holds_on().await;
    let mut events = host.engine.subscribe();
    soon("the restart", host.agent.process_restart(process)).await.unwrap();
    let mut kinds = Vec::new();
    while kinds.last() != Some(&"process.restarted") {
        kinds.push(soon("an event", events.next()).await.unwrap().event.kind());
    }
    let all = ["permission.evaluated", "process.stopped", "process.exited", "sandbox.applied", "process.restarted"];
    assert_eq!(kinds, all);
    hears(&host.agent, process, "ready\nready\n").await;
    assert_eq!(host.engine.processes().unwrap()[0].restarts, 1);
    // A permission revoked meanwhile is missing at the restart, and the process is stopped as well.
    host.engine.revoke(host.agent.grants().unwrap()[0].id, None).await.unwrap();
    let again = host.agent.process_restart(process).await;
    let Err(ExecError::Engine(Error::Refused(Refusal::NotAllowed(decision)))) = again else { panic!("{again:?}") };
    let named = Permission::write(format!("{}/lifeline", host.place.write().path().unwrap()).parse().unwrap());
    assert_eq!(decision.missing, [named, host.place.write()], "what its line names, and what it was given");
    line.ends().await;
    while soon("its end", events.next()).await.unwrap().event.kind() != "process.exited" {}
    assert!(host.engine.processes().unwrap().is_empty());
}

#[tokio::test]
async fn a_start_is_decided_like_every_action() {
    let host = Host::new().await;
    let elsewhere = Permission::write("/etc".parse().unwrap());
    let refused = start(&host.agent, &host.sandbox, "true", &[elsewhere]).await;
    assert!(matches!(refused, Err(ExecError::Engine(Error::Refused(Refusal::NotHeld { .. })))), "{refused:?}");
    let planning = host.place.profile("planning").in_mode(Mode::Plan);
    let planning = host.engine.register(planning, InitialGrants::of([host.place.write()])).await.unwrap();
    let mut events = host.engine.subscribe();
    let refused = start(&planning, &host.sandbox, "touch made", &[host.place.write()]).await;
    assert!(matches!(refused, Err(ExecError::Engine(Error::Refused(Refusal::NotAllowed(_))))), "{refused:?}");
    assert!(!host.place.workspace.join("made").exists());
    let told = events.next().await.unwrap();
    assert!(matches!(told.event, Event::Refused { .. }), "{told}");
    // The command has no permission that the call does not name.
    let process = start(&host.agent, &host.sandbox, "touch made; echo done", &[]).await.unwrap();
    soon("the end", host.agent.process_wait(process)).await.unwrap();
    assert!(!host.place.workspace.join("made").exists());
}

#[tokio::test]
async fn a_flood_of_output_is_bounded_and_what_was_dropped_is_said() {
    let host = Host::new().await;
    let command = Command::new("sh").args(["-c", "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end"]);
    let options = ProcessOptions::default().buffer(1000);
    let process = host.agent.process_start(&host.sandbox, command, &[], options).await.unwrap();
    soon("the end", host.agent.process_wait(process)).await.unwrap();
    let chunk = host.agent.process_read(process, OutputStream::Stdout, 10, 1 << 20).unwrap();
    assert_eq!((chunk.from, chunk.dropped, chunk.next), (5_000_005 - 1000, 5_000_005 - 1000 - 10, 5_000_005));
    assert!(chunk.is_end && chunk.bytes.ends_with(b"x\nend\n") && chunk.bytes.len() == 1000);
}

#[tokio::test]
async fn what_is_written_to_one_that_does_not_read_is_bounded_and_holds_up_nobody() {
    let host = Host::new().await;
    let process = host.start("echo ready; sleep 999").await.unwrap();
    hears(&host.agent, process, "ready\n").await;
    let much = vec![b'x'; 1 << 22];
    let first = host.agent.process_write(process, &much).await.unwrap();
    assert!(first < much.len(), "{first}");
    assert_eq!(host.agent.process_write(process, &much).await.unwrap(), 0);
    host.agent.process_stop(process, Duration::ZERO).await.unwrap();
    soon("the end", host.agent.process_wait(process)).await.unwrap();
}

#[tokio::test]
async fn fifty_at_once_go_on_and_one_more_than_the_limit_does_not() {
    let host = Host::with(|settings| settings.max_processes = 50).await;
    let mut all = Vec::new();
    for _ in 0..50 {
        all.push(host.start("while read line; do echo got $line; done").await.unwrap());
    }
    let refused = host.start("cat").await;
    let too_many = |refused: &Result<_, ExecError>| {
        matches!(refused, Err(ExecError::Engine(Error::Refused(Refusal::TooManyProcesses { max: 50, .. }))))
    };
    assert!(too_many(&refused), "{refused:?}");
    for (number, process) in all.iter().enumerate() {
        host.agent.process_write(*process, format!("{number}\n").as_bytes()).await.unwrap();
    }
    for (number, process) in all.iter().enumerate() {
        hears(&host.agent, *process, &format!("got {number}\n")).await;
    }
    host.agent.process_stop(all[0], Duration::ZERO).await.unwrap();
    soon("the end", host.agent.process_wait(all[0])).await.unwrap();
    host.start("cat").await.unwrap();
    assert_eq!(host.engine.processes().unwrap().len(), 50);
    host.engine.shutdown().await;
}

#[tokio::test]
async fn only_its_agent_speaks_to_it_and_only_those_above_it_stop_it() {
    let host = Host::new().await;
    let stranger = host.engine.register(host.place.profile("stranger"), InitialGrants::nothing()).await.unwrap();
    let child = host.agent.create(host.place.profile("child"), &[host.place.write()], why()).await.unwrap();
    let of_child = start(&child, &host.sandbox, "cat", &[]).await.unwrap();
    let own = start(&host.agent, &host.sandbox, "cat", &[]).await.unwrap();
    let unknown = |answer: Result<(), Error>| {
        assert!(matches!(answer, Err(Error::Refused(Refusal::UnknownProcess(_)))), "{answer:?}");
    };
    for (who, process) in [(&stranger, own), (&stranger, of_child), (&child, own), (&host.agent, of_child)] {
        unknown(who.process_read(process, OutputStream::Stdout, 0, 9).map(drop));
        let written = who.process_write(process, b"x").await;
        assert!(matches!(written, Err(ExecError::Engine(Error::Refused(Refusal::UnknownProcess(_))))), "{written:?}");
        unknown(who.process_close_input(process));
        assert!(who.process_restart(process).await.is_err());
    }
    for (who, process) in [(&stranger, own), (&stranger, of_child), (&child, own)] {
        unknown(who.process_stop(process, GRACE).await);
    }
    let seen = |agent: &Agent| agent.processes().unwrap().iter().map(|process| process.id).collect::<Vec<_>>();
    assert_eq!((seen(&host.agent), seen(&child), seen(&stranger)), (vec![of_child, own], vec![of_child], vec![]));
    let eve = host.engine.approver("eve", "eve", "test");
    unknown(eve.stop_process(own, GRACE, None).await);
    assert!(eve.processes().unwrap().is_empty());
    host.agent.process_stop(of_child, GRACE).await.unwrap();
    soon("the end", child.process_wait(of_child)).await.unwrap();
    let you = host.engine.approver("you", "ann", "test");
    assert_eq!(you.processes().unwrap().len(), 1);
    let mut events = host.engine.subscribe();
    you.stop_process(own, GRACE, Some("enough".parse().unwrap())).await.unwrap();
    assert!(stopped(&mut events).await.to_string().contains("stopped by ann (test): enough"));
    soon("the end", host.agent.process_wait(own)).await.unwrap();
}

#[tokio::test]
async fn a_yes_to_a_command_is_no_yes_to_a_process_that_is_spoken_to() {
    let host = Host::new().await;
    let asking = host.place.profile("asking").in_mode(Mode::Default);
    let asking = host.engine.register(asking, InitialGrants::nothing()).await.unwrap();
    let profile = asking.sandbox_profile(&[]).unwrap();
    let command = Command::new("sh");
    let action = profile.action(&command).unwrap();
    let bestow::action::Authorization::Asked(_, ticket) = asking.authorize(action).await.unwrap() else {
        panic!("a question")
    };
    let you = host.engine.approver("you", "ann", "test");
    you.answer(ticket.id(), Answer::allow()).await.unwrap();
    let refused = asking.process_start_under(&host.sandbox, profile, command, ProcessOptions::default()).await;
    assert!(matches!(refused, Err(ExecError::Engine(Error::Refused(Refusal::NotAllowed(_))))), "{refused:?}");
}

#[tokio::test]
async fn without_what_ends_everything_with_the_engine_nothing_goes_on() {
    let host = Host::new().await;
    let sandbox = host.sandbox.clone().without_bubblewrap();
    let refused = start(&host.agent, &sandbox, "true", &[]).await;
    assert!(refused.unwrap_err().to_string().contains("requires bubblewrap"));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_and_nothing_goes_on() {
    let host = Host::new().await;
    let command = Command::new("no-such-program");
    let refused = host.agent.process_start(&host.sandbox, command, &[], ProcessOptions::default()).await;
    assert!(refused.unwrap_err().to_string().contains("the program is not on its PATH"));
    assert!(host.agent.process_list().unwrap().is_empty());
    assert!(host.engine.processes().unwrap().is_empty());
}

/// Contains the directory of the engine. It is set in the process that is killed.
const KILLED: &str = "BESTOW_TEST_PROCESSES";

#[test]
fn after_the_engine_was_killed_nothing_is_left_and_the_next_one_says_so() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    if let Some(at) = env::var_os(KILLED) {
        return runtime.block_on(holds_on_until_killed(Path::new(&at)));
    }
    let place = Place::new();
    let line = place.lifeline();
    let name = "findings::processes::after_the_engine_was_killed_nothing_is_left_and_the_next_one_says_so";
    let mut child = Child::new(env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]).env(KILLED, place.workspace.parent().unwrap());
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("it goes on")));
    child.kill().unwrap();
    child.wait().unwrap();
    runtime.block_on(async {
        assert_eq!(line.ends().await, "up\n");
        let engine = Engine::durable(Settings::default(), &place.state).await.unwrap();
        assert!(engine.processes().unwrap().is_empty());
        engine.shutdown().await;
    });
    let told = Child::new(crate::support::BESTOW).args(["audit", "show", "--state"]).arg(&place.state).output();
    let told = String::from_utf8(told.unwrap().stdout).unwrap();
    let last: Vec<_> = told.lines().filter(|line| line.contains("process.")).collect();
    assert!(last[0].contains("process.started") && last[1].contains("ended with its engine"), "{told}");
    assert_eq!(last.len(), 2, "{told}");
}

async fn holds_on_until_killed(at: &Path) {
    let place = Place::of_another(at);
    let engine = Engine::durable(Settings::default(), &place.state).await.unwrap();
    let agent = engine.register(place.profile("worker"), InitialGrants::of([place.write()])).await.unwrap();
    let sandbox = Sandbox::with_helper(crate::support::BESTOW);
    let process = start(&agent, &sandbox, HOLDS_ON, &[place.write()]).await.unwrap();
    hears(&agent, process, "ready\n").await;
    println!("it goes on");
    std::future::pending::<()>().await;
}

/// The test covers a durable engine: a revocation takes effect before it is stored, and so does the end of the
/// processes that depend on it.
#[tokio::test(flavor = "multi_thread")]
async fn in_a_durable_engine_it_ends_with_its_permission_and_everything_is_in_the_trail() {
    let place = Place::new();
    let engine = Engine::durable(Settings::default(), &place.state).await.unwrap();
    let agent = engine.register(place.profile("worker"), InitialGrants::of([place.write()])).await.unwrap();
    let sandbox = Sandbox::with_helper(crate::support::BESTOW);
    let line = place.lifeline();
    let process = start(&agent, &sandbox, HOLDS_ON, &[place.write()]).await.unwrap();
    hears(&agent, process, "ready\n").await;
    agent.process_write(process, b"a word\n").await.unwrap();
    hears(&agent, process, "ready\ngot a word\n").await;
    engine.revoke(agent.grants().unwrap()[0].id, None).await.unwrap();
    line.ends().await;
    soon("the end", agent.process_wait(process)).await.unwrap();
    let _asked = agent.request(PermissionRequest::new(place.write(), why())).await.unwrap();
    engine.shutdown().await;
    let told = Child::new(crate::support::BESTOW).args(["audit", "show", "--state"]).arg(&place.state).output();
    let told = String::from_utf8(told.unwrap().stdout).unwrap();
    for kind in ["process.started", "process.stopped", "process.exited"] {
        assert_eq!(told.matches(kind).count(), 1, "{told}");
    }
    assert!(!told.contains("a word"), "output is in no trail");
}

/// The bot's side of a conversation.
struct Talk {
    lines: tokio::io::Lines<tokio::io::BufReader<tokio::io::ReadHalf<tokio::io::DuplexStream>>>,
    writer: tokio::io::WriteHalf<tokio::io::DuplexStream>,
}

impl Talk {
    fn of(bot: bestow::stdio::Bot) -> Talk {
        let (here, there) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(there);
        tokio::spawn(bot.serve(reader, writer));
        let (reader, writer) = tokio::io::split(here);
        Talk { lines: tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(reader)), writer }
    }

    async fn says(&mut self, line: &str) {
        let line = format!("{line}\n");
        tokio::io::AsyncWriteExt::write_all(&mut self.writer, line.as_bytes()).await.unwrap();
    }

    /// Returns the next line of this type.
    async fn hears(&mut self, kind: &str) -> serde_json::Value {
        loop {
            let line = soon(kind, self.lines.next_line()).await.unwrap().unwrap();
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert!(kind == "error" || line["type"] != "error", "{line}");
            if line["type"] == kind {
                return line;
            }
        }
    }
}

#[tokio::test]
async fn a_bot_has_processes_where_its_host_lets_it_and_hears_how_they_end() {
    let host = Host::new().await;
    let of = |name: &str| bestow::stdio::Bot::agent(&host.engine, &id(name)).unwrap();
    let echo = "echo up; while read l; do echo got $l; done";
    let start =
        serde_json::json!({"type": "process_start", "command": ["sh", "-c", echo], "requestId": "s"}).to_string();
    let start = start.as_str();
    let mut kept = Talk::of(of("worker"));
    kept.says(start).await;
    let refused = kept.hears("error").await;
    assert_eq!((&refused["code"], &refused["requestId"]), (&"REFUSED".into(), &"s".into()), "{refused}");
    assert!(host.engine.processes().unwrap().is_empty());
    let mut bot = Talk::of(of("worker").starting_processes_in(host.sandbox.clone()));
    bot.says(start).await;
    let started = bot.hears("process_started").await;
    assert_eq!((&started["processId"], &started["requestId"]), (&"p0".into(), &"s".into()));
    bot.says(r#"{"type":"process_write","processId":"p0","text":"one\n"}"#).await;
    assert_eq!(bot.hears("process_written").await["written"], 4);
    hears(&host.agent, host.agent.process_list().unwrap()[0].process.id, "up\ngot one\n").await;
    bot.says(r#"{"type":"process_read","processId":"p0","from":3,"max":4}"#).await;
    let told = bot.hears("process_output").await;
    assert_eq!((&told["text"], &told["from"], &told["next"]), (&"got ".into(), &3.into(), &7.into()), "{told}");
    bot.says(r#"{"type":"process_restart","processId":"p0"}"#).await;
    bot.hears("process_started").await;
    // Bytes that are no text are sent in both directions.
    bot.says(r#"{"type":"process_start","command":["cat"]}"#).await;
    assert_eq!(bot.hears("process_started").await["processId"], "p1");
    bot.says(r#"{"type":"process_write","processId":"p1","base64":"/wA=","close":true}"#).await;
    let exited = loop {
        let exited = bot.hears("process_exited").await;
        if exited["processId"] == "p1" {
            break exited;
        }
    };
    assert_eq!((&exited["how"], &exited["code"]), (&"exited".into(), &0.into()));
    let told = loop {
        bot.says(r#"{"type":"process_read","processId":"p1"}"#).await;
        let told = bot.hears("process_output").await;
        // The exit is reported a moment before the record of the process is closed.
        if told["end"] == true {
            break told;
        }
    };
    assert_eq!(told["base64"], "/wA=", "{told}");
    bot.says(r#"{"type":"process_stop","processId":"p0","graceMs":30000}"#).await;
    bot.hears("process_stopping").await;
    let exited = bot.hears("process_exited").await;
    assert_eq!((&exited["how"], &exited["signal"]), (&"signalled".into(), &15.into()));
    bot.says(r#"{"type":"process_list"}"#).await;
    let list = bot.hears("process_list_result").await;
    assert_eq!((&list["processes"][0]["restarts"], list["processes"].as_array().unwrap().len()), (&1.into(), 2));
}

#[tokio::test]
async fn what_a_bot_starts_is_asked_where_a_person_has_to_say_and_then_starts() {
    let host = Host::new().await;
    let asking = host.place.profile("asking").in_mode(Mode::Default);
    host.engine.register(asking, InitialGrants::of([host.place.write()])).await.unwrap();
    let bot = bestow::stdio::Bot::agent(&host.engine, &id("asking")).unwrap();
    let mut bot = Talk::of(bot.starting_processes_in(host.sandbox.clone()));
    let start = serde_json::json!({
        "type": "process_start", "command": ["sh", "-c", "touch made"], "permissions": [host.place.write()],
    });
    bot.says(&start.to_string()).await;
    assert_eq!(bot.hears("authorize_result").await["decision"], "ask");
    let you = host.engine.approver("you", "ann", "test");
    let question = host.engine.pending().unwrap()[0].request.id;
    you.answer(question, Answer::allow()).await.unwrap();
    assert_eq!(bot.hears("permission_result").await["outcome"], "granted");
    bot.says(&start.to_string()).await;
    bot.hears("process_started").await;
    assert_eq!(bot.hears("process_exited").await["code"], 0);
    assert!(host.place.workspace.join("made").exists());
}

fn bestow(words: &[&str]) -> (String, String, Option<i32>) {
    let told = Child::new(crate::support::BESTOW).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(told.stdout), text(told.stderr), told.status.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_has_the_processes_of_the_engine_that_runs_and_says_so_when_none_does() {
    let place = Place::new();
    let engine = Engine::durable(Settings::default(), &place.state).await.unwrap();
    let asking = place.profile("worker").in_mode(Mode::Default);
    let agent = engine.register(asking, InitialGrants::of([place.write()])).await.unwrap();
    engine.confine_processes_in(Sandbox::with_helper(crate::support::BESTOW));
    let (state, tag) = (place.state.to_str().unwrap().to_owned(), place.write().to_string());
    let process = |words: &[&str]| crate::cli::run_for(Some(engine.surfaces()), &[&["process"], words].concat());
    let line = place.lifeline();
    let start =
        ["start", "--agent", "worker", "--state", &state, "--grant", &tag, "--as", "eve", "--", "sh", "-c", HOLDS_ON];
    let (told, complaint, code) = process(&start);
    assert_eq!((told.as_str(), code), ("p0 is running\n", Some(0)), "{complaint}");
    let (told, _, code) = process(&["list", "--state", &state]);
    assert!(told.starts_with("p0 of worker: `") && code == Some(0), "{told}");
    let (told, complaint, _) = process(&["write", "p0", "--state", &state, "one", "two"]);
    assert_eq!(told, "8 bytes\n", "{complaint}");
    let p0 = agent.process_list().unwrap()[0].process.id;
    hears(&agent, p0, "ready\ngot one two\n").await;
    assert_eq!(process(&["read", "p0", "--state", &state, "--from", "6"]).0, "got one two\n");
    let (told, complaint, code) = process(&["restart", "p0", "--state", &state, "--as", "eve"]);
    assert_eq!((told.as_str(), code), ("p0 is running\n", Some(0)), "{complaint}");
    let (_, complaint, code) = process(&["stop", "p7", "--state", &state]);
    assert!(code == Some(3) && complaint.contains("process p7 does not exist"), "{complaint}");
    let (told, _, _) =
        process(&["stop", "p0", "--state", &state, "--grace", "30", "--as", "eve", "--reason", "enough"]);
    assert_eq!(told, "p0 was asked to end\n");
    soon("the end", agent.process_wait(p0)).await.unwrap();
    line.ends().await;
    // A refused start leaves no approval that the agent could use later.
    engine.set_mode(agent.id(), Mode::Plan).await.unwrap();
    let (_, complaint, code) = process(&["start", "--agent", "worker", "--state", &state, "--", "touch", "made"]);
    assert!(code == Some(3) && complaint.contains("plan"), "{complaint}");
    assert!(engine.rulings().unwrap().is_empty(), "{:?}", engine.rulings());
    engine.shutdown().await;
    let (_, complaint, code) = bestow(&["process", "list", "--state", &state]);
    assert!(code == Some(1) && complaint.contains("no engine runs on"), "{complaint}");
    let elsewhere = place.workspace.to_str().unwrap();
    let (_, complaint, code) = bestow(&["process", "list", "--state", elsewhere]);
    assert!(code == Some(1) && complaint.contains("is not a state directory"), "{complaint}");
    let (trail, _, _) = bestow(&["audit", "show", "--state", &state]);
    assert!(
        trail.contains("eve (cli") && trail.contains("stopped by eve (cli") && trail.contains(": enough"),
        "{trail}"
    );
    let wants = |line: &str| line.contains("process p0 of worker") && line.contains("was restarted by eve (cli");
    assert!(trail.lines().any(wants) && !trail.contains("restarted by worker"), "{trail}");
}
