//! Tests of an agent that answers its own request through the control socket (A10).

use std::{
    path::{Path, PathBuf},
    process::{Command as Child, Output, Stdio},
    sync::{Arc, Mutex},
};

use bestow::{
    Engine, Event, Kind, Outcome, PermissionRequest, Settings,
    control::{self, AdminCommand},
    event::{CredentialHolder, CredentialOrder},
    request::Ticket,
    stdio::Bot,
};
use tokio::process::Command;

use crate::support::{id, profile, tag, why};

const BESTOW: &str = crate::support::BESTOW;

/// A bot that requests a permission, answers itself by the command line in one of several ways, and prints the reply.
const BOT: &str = r#"
import json, os, pty, sys

way, bestow, state = sys.argv[1:4]
more = sys.argv[4:]

def orphan(run):
    """Runs it in a process whose parents have ended, in a session of its own."""
    heard, said = os.pipe()
    if os.fork() == 0:
        middle = os.getpid()
        os.setsid()
        if os.fork() == 0:
            while os.getppid() == middle:
                pass
            os.dup2(said, 1)
            os.dup2(said, 2)
            run()
        os._exit(0)
    os.wait()
    os.close(said)
    return os.fdopen(heard).read()

def child(run):
    heard, said = os.pipe()
    if os.fork() == 0:
        os.dup2(said, 1)
        os.dup2(said, 2)
        run()
    os.close(said)
    return os.fdopen(heard).read()

for line in sys.stdin:
    heard = json.loads(line)
    if heard["type"] == "hello":
        print(json.dumps({"type": "request_permission", "permission": "@network", "reason": "because"}), flush=True)
    elif heard["type"] == "request_accepted":
        words = [bestow, "approve", heard["code"], "--state", state, "--as", "ann"] + more
        run = lambda: os.execv(bestow, words)
        # A terminal of its own making.
        shown = lambda: (pty.spawn(words), sys.stdout.flush(), os._exit(0))
        ways = {"child": lambda: child(run), "orphan": lambda: orphan(run), "terminal": lambda: orphan(shown)}
        print(ways[way]().replace("\n", " "), file=sys.stderr, flush=True)
        break
"#;

struct Place {
    _directory: tempfile::TempDir,
    state: PathBuf,
    bot: PathBuf,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let (state, bot) = (directory.path().join("state"), directory.path().join("bot.py"));
        std::fs::write(&bot, BOT).unwrap();
        Place { _directory: directory, state, bot }
    }

    async fn engine(&self) -> Engine {
        let engine = Engine::durable(Settings::default(), &self.state).await.unwrap();
        engine.register(profile("bob", "you", Kind::Cron), bestow::InitialGrants::nothing()).await.unwrap();
        engine
    }

    fn token(&self) -> PathBuf {
        self.state.join("approver-token")
    }
}

/// Runs the bot, and returns the reply to its own answer.
async fn answers_itself(place: &Place, engine: &Engine, way: &str, more: &[&str]) -> String {
    let heard = Arc::new(Mutex::new(String::new()));
    let note = Arc::clone(&heard);
    let mut command = Command::new("python3");
    command.arg(&place.bot).args([way, BESTOW]).arg(&place.state).args(more);
    let bot = Bot::agent(engine, &id("bob")).unwrap().stderr(move |line| note.lock().unwrap().push_str(line));
    bot.spawn(command).unwrap().wait().await;
    heard.lock().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bot_that_runs_the_command_line_does_not_answer_itself() {
    for way in ["child", "orphan", "terminal"] {
        let place = Place::new();
        let engine = place.engine().await;
        let heard = answers_itself(&place, &engine, way, &[]).await;
        assert!(heard.contains("an agent must not answer its own requests"), "{way}: {heard}");
        assert_eq!(engine.pending().unwrap().len(), 1, "{way}: the question still waits");
        assert!(!engine.check(&id("bob"), bestow::grant::PermissionRef::Network).is_held(), "{way}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_secret_of_a_persons_surface_does_not_help_a_bot() {
    let place = Place::new();
    let engine = place.engine().await;
    let token = place.token();
    let heard = answers_itself(&place, &engine, "orphan", &["--token-file", token.to_str().unwrap()]).await;
    assert!(heard.contains("an agent must not answer its own requests"), "{heard}");
    assert_eq!(engine.pending().unwrap().len(), 1);
}

/// Sends every order from a descendant of the engine's process that is not admitted as a person's.
#[tokio::test(flavor = "multi_thread")]
async fn no_order_at_all_is_heard_from_below_the_engine() {
    let place = Place::new();
    let engine = place.engine().await;
    let ticket =
        engine.agent(id("bob")).unwrap().request(PermissionRequest::new(tag("@network"), why())).await.unwrap();
    let by: bestow::user::ApproverId = "ann".parse().unwrap();
    let answer = |verdict| AdminCommand::Answer {
        request: ticket.code().to_string(),
        verdict,
        scope: None,
        feedback: None,
        permissions: None,
        instead: None,
        by: by.clone(),
    };
    let orders = [
        AdminCommand::Grants { agent: None },
        AdminCommand::Why { agent: id("bob"), permission: tag("@network") },
        AdminCommand::Requests,
        AdminCommand::Agree { change: 1, by: by.clone() },
        AdminCommand::Revoke { held: "g1".parse().unwrap(), reason: None, by: by.clone() },
        answer(control::Approval::Approve),
        answer(control::Approval::Deny),
        AdminCommand::Credential {
            change: CredentialOrder::Create {
                credential: "0a1b2c3d4e5f".into(),
                secret: [7; 32].into(),
                holder: CredentialHolder::Operator,
                name: None,
                expires_at: None,
                is_link: false,
            },
            by,
        },
    ];
    let connect = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n\
                   s.sendall(sys.argv[2].encode() + b'\\n')\nprint(s.makefile().readline())";
    for order in orders {
        let said = serde_json::to_string(&order).unwrap();
        let mut child = Command::new("python3");
        child.args(["-c", connect]).arg(place.state.join("control")).arg(&said);
        let told = child.output().await.unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        assert!(told.contains("an agent must not answer its own requests"), "{said}: {told}");
    }
    assert!(ticket.poll().is_none());
    assert!(engine.credentials().is_empty());
}

/// Returns all events until the engine ends.
async fn all_told(mut events: bestow::event::Subscription) -> Vec<bestow::Event> {
    let mut all = Vec::new();
    while let Ok(recorded) = events.next().await {
        all.push(recorded.event);
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_not_heard_leaves_a_fact_of_what_it_wanted() {
    let place = Place::new();
    let engine = place.engine().await;
    let events = engine.subscribe();
    answers_itself(&place, &engine, "child", &[]).await;
    engine.shutdown().await;
    let all = all_told(events).await;
    let refused = all.iter().find(|event| matches!(event, Event::PeerRefused { .. }));
    let Some(refused @ Event::PeerRefused { peer, order, claims, why }) = refused else { panic!("no fact: {all:?}") };
    let uid = rustix::process::getuid().as_raw();
    assert!(peer.starts_with(&format!("uid {uid}, pid ")), "{refused}");
    assert_eq!((&**order, claims.as_ref().map(|claims| claims.as_str())), ("answer", Some("ann")));
    assert!(why.contains("an agent must not answer its own requests"), "{refused}");
    assert!(refused.to_string().contains("tried to order `answer` as ann and was refused"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_speaks_in_a_loop_does_not_fill_the_record_and_none_is_lost_silently() {
    let place = Place::new();
    let engine = place.engine().await;
    let events = engine.subscribe();
    let order = serde_json::to_string(&AdminCommand::Requests).unwrap();
    let connect = "import socket, sys\nfor _ in range(60):\n s = socket.socket(socket.AF_UNIX)\n \
                   s.connect(sys.argv[1])\n s.sendall(sys.argv[2].encode() + b'\\n')\n s.makefile().readline()";
    let mut child = Command::new("python3");
    let done = child.args(["-c", connect]).arg(place.state.join("control")).arg(&order).status().await.unwrap();
    assert!(done.success());
    engine.shutdown().await;
    let all = all_told(events).await;
    let one_by_one = all.iter().filter(|event| matches!(event, Event::PeerRefused { .. })).count();
    let counted: u64 = all
        .iter()
        .filter_map(|event| {
            let Event::FactsMerged { family: None, counts, .. } = event else { return None };
            counts.get("peer.refused").copied()
        })
        .sum();
    // The limit refills during the test, by one every six seconds.
    assert!((10..=20).contains(&one_by_one), "{one_by_one} are told one by one");
    assert_eq!(u64::try_from(one_by_one).unwrap() + counted, 60, "the others by their number");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_the_host_says_is_a_persons_is_heard_and_its_orphans_are_not() {
    let place = Place::new();
    let engine = place.engine().await;
    let ticket =
        engine.agent(id("bob")).unwrap().request(PermissionRequest::new(tag("@network"), why())).await.unwrap();
    let script = "read -r go; (exec \"$0\" approve \"$1\" --state \"$2\" --as ann)";
    let mut shell = Child::new("/bin/sh");
    shell.args(["-c", script, BESTOW, &ticket.code().to_string()]).arg(&place.state);
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    engine.surfaces().admit(shell.id()).unwrap();
    let pid = shell.id();
    drop(shell.stdin.take());
    shell.wait_with_output().unwrap();
    let how = ticket.resolution().await;
    assert_eq!(how.outcome, Outcome::Granted);
    let told = how.to_string();
    let uid = rustix::process::getuid().as_raw();
    assert!(told.contains(&format!("ann (cli, name claimed by uid {uid}, pid ")), "{told}");
    // The number of an ended process cannot be admitted.
    assert!(engine.surfaces().admit(pid).is_err());
}

/// The variable that makes this test act as the engine of another process.
const ENGINE: &str = "BESTOW_TEST_ENGINE_ON";

/// An engine in another process, which does not start the answering program. It is this test in a second process.
struct Apart {
    child: std::process::Child,
    code: String,
}

impl Apart {
    fn on(state: &Path, test: &str) -> Apart {
        let mut child = Child::new(std::env::current_exe().unwrap());
        child.args([test, "--exact", "--nocapture"]).env(ENGINE, state).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        let code = lines.find_map(|line| line.unwrap().split_once("code: ").map(|(_, code)| code.to_owned())).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Apart { child, code }
    }

    /// Ends the process. Returns true if the request was approved.
    fn granted(mut self) -> bool {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().success()
    }

    async fn be(state: &Path) {
        let engine = Engine::durable(Settings::default(), state).await.unwrap();
        let bob = engine.register(profile("bob", "you", Kind::Cron), bestow::InitialGrants::nothing()).await.unwrap();
        let ticket: Ticket = bob.request(PermissionRequest::new(tag("@network"), why())).await.unwrap();
        println!("code: {}", ticket.code());
        tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin())).await.unwrap().unwrap();
        assert_eq!(ticket.poll().map(|how| how.outcome), Some(Outcome::Granted));
    }

    /// Answers the request from a session with a terminal or without one.
    fn approve(&self, how: &str, state: &Path, more: &[&str]) -> Output {
        let program = "import os, pty, sys\nif sys.argv[1] == 'terminal': sys.exit(pty.spawn(sys.argv[2:]) >> 8)\n\
                       os.fork() and sys.exit(os.wait()[1] >> 8)\nos.setsid()\nos.execv(sys.argv[2], sys.argv[2:])";
        let mut child = Child::new("python3");
        child.args(["-c", program, how, BESTOW, "approve", &self.code, "--as", "ann", "--state"]).arg(state);
        child.args(more).stdin(Stdio::null()).output().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_terminal_it_takes_the_secret_of_a_persons_surface() {
    if let Some(state) = std::env::var_os(ENGINE) {
        return Apart::be(Path::new(&state)).await;
    }
    let place = Place::new();
    let test = "findings::person::answering::without_a_terminal_it_takes_the_secret_of_a_persons_surface";
    let engine = Apart::on(&place.state, test);
    let refused =
        |output: Output| String::from_utf8(output.stderr).unwrap().contains("the engine cannot verify that a person");
    assert!(refused(engine.approve("nothing", &place.state, &[])));
    assert!(refused(engine.approve("nothing", &place.state, &["--token-file", place.bot.to_str().unwrap()])));
    // A user who keeps the token elsewhere can still answer.
    let elsewhere = place.bot.with_file_name("kept");
    std::fs::rename(place.token(), &elsewhere).unwrap();
    let said = engine.approve("nothing", &place.state, &["--token-file", elsewhere.to_str().unwrap()]);
    assert!(said.status.success(), "{said:?}");
    assert!(engine.granted());
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_that_does_not_come_from_the_engine_a_person_is_heard() {
    if let Some(state) = std::env::var_os(ENGINE) {
        return Apart::be(Path::new(&state)).await;
    }
    let place = Place::new();
    let test = "findings::person::answering::at_a_terminal_that_does_not_come_from_the_engine_a_person_is_heard";
    let engine = Apart::on(&place.state, test);
    let said = engine.approve("terminal", &place.state, &[]);
    assert!(said.status.success(), "{said:?}");
    assert!(engine.granted());
}

#[test]
fn the_owner_of_the_secret_alone_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let engine = runtime.block_on(place.engine());
    let mode = |name: &str| std::fs::metadata(place.state.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("approver-token"), mode("approver-token.sha256")), (0o600, 0o600));
    drop(engine);
}
