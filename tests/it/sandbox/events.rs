//! `@events`: a command talks to its engine as its agent, over the only socket that it can reach.

use std::{
    fs,
    os::unix::net::{UnixDatagram, UnixListener},
    time::Duration,
};

use bestow::{
    Agent, Answer, Engine, Event, InitialGrants, Kind, Permission, Profile, Settings,
    agent::Mode,
    policy::Interaction,
    sandbox::{Command, Finished, Sandbox, SandboxError},
};

use super::ground::{Ground, shown, with_bubblewrap, with_landlock};
use crate::fs::process::on_own_thread;

struct Host {
    engine: Engine,
    agent: Agent,
    other: Agent,
}

async fn host(ground: &Ground, held: &[Permission]) -> Host {
    let engine = Engine::new(Settings::default()).unwrap();
    let stands = ground.world.workspace();
    let profile =
        |id: &str| Profile::new(id.parse().unwrap(), "you".parse().unwrap(), Kind::Permanent, stands.parse().unwrap());
    // These tests concern the abilities of commands, not the requests about them.
    let profile = |id: &str| profile(id).in_mode(Mode::Bypass);
    let agent = engine.register(profile("worker"), InitialGrants::of(held.iter().cloned())).await.unwrap();
    let other = engine.register(profile("other"), InitialGrants::nothing()).await.unwrap();
    Host { engine, agent, other }
}

impl Host {
    async fn exec(&self, ground: &Ground, named: &[Permission], line: &str) -> Finished {
        let command = Command::new("sh").args(["-c", line]).env("B", ground.world.text("helper"));
        let profile = self.agent.sandbox_profile(named).unwrap();
        self.agent.exec_under(&ground.sandbox, profile, command).await.unwrap_or_else(|why| panic!("{ground}: {why}"))
    }
}

/// Runs the test on this thread, which has its own user. Another task gives the answers of a person.
fn alone(test: impl Future) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
}

fn told(done: &Finished) -> String {
    format!("{:?}: {}{}", done.code, shown(&done.stdout.bytes), shown(&done.stderr.bytes))
}

#[test]
fn a_command_asks_for_its_agent_and_hears_what_a_person_answers() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events]).await;
            let approver = host.engine.approver("you", "you", "test");
            let mut events = host.engine.subscribe();
            let answering = async {
                loop {
                    let recorded = events.next().await.unwrap();
                    let Event::Requested { request } = &recorded.event else { continue };
                    assert_eq!(request.from.as_str(), "worker");
                    approver.answer(request.id, Answer::allow()).await.unwrap();
                    return;
                }
            };
            let line = "\"$B\" request @network --reason 'to fetch'";
            let (done, ()) = tokio::join!(host.exec(ground, &[Permission::Events], line), answering);
            assert_eq!(done.code, Some(0), "{ground}: {}", told(&done));
            assert!(told(&done).contains("permission_result"), "{}", told(&done));
            assert_eq!(host.agent.check(&Permission::Network), bestow::decision::Check::Held);
            assert_eq!(host.other.check(&Permission::Network), bestow::decision::Check::NotHeld);
            // The agent is notified too: a request of its command is a request of the agent.
            assert!(matches!(host.agent.mailbox().try_next(), Some(bestow::agent::Notification::Resolved(_))));
        });
    });
}

/// Landlock cannot hide paths below a readable directory.
#[test]
fn landlock_alone_cannot_hide_the_protected_paths_of_an_engine_and_nothing_runs() {
    with_landlock(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events, write(ground)]).await;
            let command = Command::new("touch").arg("ran");
            let refused = host.agent.exec(&ground.sandbox, command, &[write(ground)]).await;
            let why = refused.unwrap_err().to_string();
            assert!(
                why.contains("bubblewrap is missing") && why.contains("`/etc/shadow` from being read"),
                "{ground}: {why}"
            );
            assert!(!ground.world.exists("workspace/ran"), "{ground}");
        });
    });
}

#[test]
fn a_command_passes_on_what_its_agent_holds_and_nothing_else() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events]).await;
            let grant = |tag: &str| format!("\"$B\" grant {tag} --to other --reason 'it helps'");
            let refused = host.exec(ground, &[Permission::Events], &grant("@network")).await;
            assert_eq!(refused.code, Some(3), "{ground}: {}", told(&refused));
            assert_eq!(host.other.check(&Permission::Network), bestow::decision::Check::NotHeld);
            let done = host.exec(ground, &[Permission::Events], &grant("@events")).await;
            assert_eq!(done.code, Some(0), "{ground}: {}", told(&done));
            assert_eq!(host.other.check(&Permission::Events), bestow::decision::Check::Held);
        });
    });
}

#[test]
fn many_processes_of_a_command_talk_at_once_and_none_can_answer() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events, write(ground)]).await;
            let check =
                r#"printf '{"type":"check_permission","permission":"@events","requestId":"r'$i'"}\n' | "$B" events"#;
            let line = format!("for i in 1 2 3 4 5 6 7 8; do ({check}) > out$i & done; wait; cat out*");
            let done = host.exec(ground, &[Permission::Events, write(ground)], &line).await;
            let told = told(&done);
            for i in 1..=8 {
                assert!(told.contains(&format!("\"requestId\":\"r{i}\"")), "{ground}: {told}");
            }
            assert_eq!(told.matches("\"agentId\":\"worker\"").count(), 8, "{ground}: {told}");
            let decide =
                r#"echo '{"type":"permission_decision","permissionRequestId":"x","decision":"allow"}' | "$B" events"#;
            let done = host.exec(ground, &[Permission::Events], decide).await;
            assert!(shown(&done.stdout.bytes).contains("FORBIDDEN"), "{ground}: {}", shown(&done.stdout.bytes));
        });
    });
}

fn write(ground: &Ground) -> Permission {
    Permission::write(ground.world.workspace().parse().unwrap())
}

#[test]
fn without_events_there_is_no_way_to_the_engine() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events]).await;
            let done = host.exec(ground, &[], "\"$B\" request @network --reason x").await;
            assert_eq!(done.code, Some(1), "{ground}: {}", told(&done));
            assert!(told(&done).contains("BESTOW_EVENTS_FD is not set"), "{}", told(&done));
            assert!(done.facts.unix_sockets.is_empty());
            // There is no socket whose number could be guessed either.
            let guess = "for fd in /proc/self/fd/*; do [ -S $fd ] && exit 1; done; exit 0";
            let done = host.exec(ground, &[], guess).await;
            assert_eq!(done.code, Some(0), "{ground}: {}", told(&done));
            assert!(host.engine.pending().unwrap().is_empty());
        });
    });
}

#[test]
fn with_events_the_engine_is_reached_and_no_other_unix_socket_is() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events]).await;
            let _beside = UnixListener::bind(ground.path("workspace/other.sock")).unwrap();
            let datagram = UnixDatagram::bind(ground.path("outside/dir/dgram")).unwrap();
            datagram.set_nonblocking(true).unwrap();
            let program = format!(
                "import os, socket\n\
                 fd = int(os.environ[\"BESTOW_EVENTS_FD\"])\n\
                 def refused(what):\n    \
                     try: what()\n    \
                     except PermissionError: return\n    \
                     raise SystemExit(\"reached\")\n\
                 refused(lambda: socket.socket(socket.AF_UNIX).connect(\"other.sock\"))\n\
                 refused(lambda: socket.socket(socket.AF_UNIX).connect(\"\\0abstract\"))\n\
                 refused(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))\n\
                 door = socket.socket(fileno=os.dup(fd))\n\
                 # It is connected, and cannot be sent elsewhere.\n\
                 try: door.sendto(b\"x\", \"{dgram}\")\n\
                 except OSError: pass\n\
                 mine, theirs = socket.socketpair()\n\
                 socket.send_fds(door, [b\"+\"], [theirs.fileno()]); theirs.close()\n\
                 print(mine.makefile().readline())\n",
                dgram = ground.world.text("outside/dir/dgram")
            );
            fs::write(ground.path("workspace/try.py"), program).unwrap();
            let done = host.exec(ground, &[Permission::Events], "exec python3 try.py").await;
            assert_eq!(done.code, Some(0), "{ground}: {}", told(&done));
            assert!(told(&done).contains("\"type\":\"hello\""), "{ground}: {}", told(&done));
            assert!(datagram.recv(&mut [0; 8]).is_err(), "{ground}: something arrived");
            let [socket] = &done.facts.unix_sockets[..] else { panic!("{:?}", done.facts) };
            assert!(socket.ends_with(": the engine"), "{socket}");
        });
    });
}

#[test]
fn what_is_handed_over_must_be_a_stream_of_the_commands_own() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events, Permission::Network]).await;
            let program = "import os, socket, array\n\
                 door = socket.socket(fileno=int(os.environ[\"BESTOW_EVENTS_FD\"]))\n\
                 def hand(*fds):\n    \
                     door.sendmsg([b\"+\"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array(\"i\", fds))])\n\
                 null = os.open(\"/dev/null\", os.O_RDONLY)\n\
                 hand(null); hand(null, null); hand(*[null] * 200); door.send(b\"noise\")\n\
                 inet = socket.socket(); inet.bind((\"127.0.0.1\", 0)); hand(inet.fileno())\n\
                 hand(door.fileno())\n\
                 # After all that it still listens.\n\
                 mine, theirs = socket.socketpair(); hand(theirs.fileno()); theirs.close()\n\
                 print(mine.makefile().readline())\n";
            fs::write(ground.path("workspace/try.py"), program).unwrap();
            let named = [Permission::Events, Permission::Network];
            let done = host.exec(ground, &named, "exec timeout 20 python3 try.py").await;
            assert_eq!(done.code, Some(0), "{ground}: {}", told(&done));
            assert!(told(&done).contains("\"type\":\"hello\""), "{ground}: {}", told(&done));
        });
    });
}

#[test]
fn when_the_agent_loses_events_its_commands_are_heard_no_longer() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events, write(ground)]).await;
            let grant =
                host.agent.grants().unwrap().into_iter().find(|held| held.pinned.permission == Permission::Events);
            let grant = grant.unwrap().id;
            let mut events = host.engine.subscribe();
            // The first line shows that the connection works. Before the second line the permission is revoked.
            let line = "mkfifo go; (echo '{\"type\":\"message\",\"agentId\":\"other\",\"text\":\"up\"}'; cat go; \
                        echo '{\"type\":\"request_permission\",\"permission\":\"@network\",\"reason\":\"x\"}') \
                        | \"$B\" events";
            let revoking = async {
                let mail = host.other.mailbox();
                mail.next().await.unwrap();
                host.engine.revoke(grant, None).await.unwrap();
                let go = ground.path("workspace/go");
                // The pipe is opened on a thread that may block.
                tokio::task::spawn_blocking(move || fs::write(go, "")).await.unwrap().unwrap();
            };
            let named = [Permission::Events, write(ground)];
            let (done, ()) = tokio::join!(host.exec(ground, &named, line), revoking);
            assert!(told(&done).contains("does not hold `@events` any more"), "{ground}: {}", told(&done));
            let asked = std::iter::from_fn(|| events.try_next().ok().flatten())
                .any(|event| matches!(event.event, Event::Requested { .. }));
            assert!(!asked, "{ground}");
        });
    });
}

#[test]
fn a_question_that_nobody_answers_is_said_to_stand() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[Permission::Events]).await;
            let done = host.exec(ground, &[Permission::Events], "\"$B\" request @network --reason x --wait 0").await;
            assert_eq!(done.code, Some(2), "{ground}: {}", told(&done));
            assert_eq!(host.engine.pending().unwrap().len(), 1);
            let done = host.exec(ground, &[Permission::Events], "\"$B\" request nonsense --reason x").await;
            assert_eq!(done.code, Some(64), "{ground}: {}", told(&done));
        });
    });
}

#[test]
fn where_nobody_is_asked_a_command_hears_no_at_once() {
    with_bubblewrap(|ground| {
        alone(async {
            let mut settings = Settings::default();
            settings.interaction = Interaction::NonInteractive;
            let engine = Engine::new(settings).unwrap();
            let stands = ground.world.workspace().parse().unwrap();
            let profile = Profile::new("worker".parse().unwrap(), "you".parse().unwrap(), Kind::Cron, stands)
                .in_mode(Mode::Bypass);
            let agent = engine.register(profile, InitialGrants::of([Permission::Events])).await.unwrap();
            let command = Command::new(ground.world.text("helper")).args(["request", "@network", "--reason", "x"]);
            let done = agent.exec(&ground.sandbox, command, &[Permission::Events]).await.unwrap();
            assert_eq!(done.code, Some(3), "{ground}: {}", told(&done));
        });
    });
}

#[test]
fn events_of_nobody_are_refused() {
    on_own_thread(|| {
        let profile = bestow::sandbox::Profile::of(&super::ground::scope("/", &[Permission::Events]), []).unwrap();
        let sandbox = Sandbox::with_helper(crate::support::BESTOW);
        let answer = sandbox.run(&profile, &Command::new("true"));
        let Err(SandboxError::Profile(why)) = &answer else { panic!("{answer:?}") };
        assert!(why.to_string().contains("`@events`"), "{why}");
    });
}

#[test]
fn a_command_that_nobody_waits_for_any_more_is_killed_with_all_it_started() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[write(ground)]).await;
            super::processes::pipe(&ground.path("workspace/lifeline"));
            let line = ground.path("workspace/lifeline");
            let profile = host.agent.sandbox_profile(&[write(ground)]).unwrap();
            let script = "exec 7> lifeline; echo up >&7; trap '' TERM HUP; (setsid sleep 999 & ); sleep 999";
            let command = Command::new("sh").args(["-c", script]);
            let exec = host.agent.exec_under(&ground.sandbox, profile, command);
            let up = tokio::task::spawn_blocking(move || {
                // The open returns when the other end opens.
                let (mut line, mut first) = (fs::File::open(line).unwrap(), [0; 3]);
                std::io::Read::read_exact(&mut line, &mut first).unwrap();
                line
            });
            let mut line = tokio::select! {
                done = exec => panic!("{ground}: {done:?}"),
                line = up => line.unwrap(),
            };
            // The future is dropped by now. The pipe ends when every process has ended.
            let ended = tokio::task::spawn_blocking(move || std::io::Read::read_to_end(&mut line, &mut Vec::new()));
            let ended = tokio::time::timeout(Duration::from_secs(20), ended).await;
            assert_eq!(ended.unwrap().unwrap().unwrap(), 0, "{ground}");
        });
    });
}

#[test]
fn a_command_that_nobody_waits_for_before_it_began_never_runs() {
    with_bubblewrap(|ground| {
        alone(async {
            let host = host(ground, &[]).await;
            let mut events = host.engine.subscribe();
            let line = ground.path("workspace/lifeline");
            super::processes::pipe(&line);
            super::processes::pipe(&ground.path("workspace/go"));
            // A slow helper: it reports that it runs, and waits for permission to continue.
            let slow = ground.path("slow");
            let helper = ground.world.text("helper");
            let workspace = ground.world.workspace();
            let script = format!(
                "#!/bin/sh\nexec 7> {workspace}/lifeline; echo up >&7; read x < {workspace}/go\nexec {helper} \"$@\"\n"
            );
            super::processes::program(&slow, &script);
            let sandbox = Sandbox::with_helper(&slow);
            let sandbox = if ground.over == "landlock" { sandbox.without_bubblewrap() } else { sandbox };
            let up = tokio::task::spawn_blocking(move || {
                // The open returns when the other end opens.
                let (mut line, mut first) = (fs::File::open(line).unwrap(), [0; 3]);
                std::io::Read::read_exact(&mut line, &mut first).unwrap();
                line
            });
            let mut line = tokio::select! {
                done = host.agent.exec(&sandbox, Command::new("true"), &[]) => panic!("{ground}: {done:?}"),
                line = up => line.unwrap(),
            };
            fs::write(ground.path("workspace/go"), "go\n").unwrap();
            std::io::Read::read_to_end(&mut line, &mut Vec::new()).unwrap();
            let seen = std::iter::from_fn(|| events.try_next().ok().flatten());
            assert_eq!(seen.filter(|event| matches!(event.event, Event::SandboxApplied { .. })).count(), 0, "{ground}");
        });
    });
}
