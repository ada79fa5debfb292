//! Commands that are started at the same time on one state directory.
#![cfg(feature = "cli")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::UnixListener,
    process::{Child, Command, Stdio},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, Signal, kill_process},
};
use serde_json::json;

use super::project::{Project, SECRET};
use crate::support::{BESTOW, cases, is_order};

const POLICY: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"permanent\"
";

/// The server. It goes on until it is told to end.
const SERVE: &[&str] = &["serve", "--state", "state", "--listen", "127.0.0.1:0"];

/// Commands that need no state directory before them.
const FIRST: [&[&str]; 2] = [
    &["token", "create", "--state", "state", "--role", "agent", "--agent", "bot"],
    &["token", "create", "--state", "state", "--role", "approver", "--owner", "you", "--by", "ann"],
];

/// Commands on a state directory that was used before.
const LATER: [&[&str]; 7] = [
    FIRST[0],
    FIRST[1],
    &["token", "list", "--state", "state"],
    &["requests", "--state", "state"],
    &["grants", "--state", "state"],
    &["audit", "verify", "--state", "state"],
    &["check", "--agent", "bot", "--command", "ls"],
];

/// The hook with an engine of its own. It denies while a server runs, so it comes without one.
const HOOK: &[&str] =
    &["hook", "claude", "--agent", "bot", "--config", "agents.toml", "--state", "state", "--wait", "0s"];

/// A sequence of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

fn project() -> Project {
    let project = Project::new();
    project.policy(POLICY);
    project
}

fn start(project: &Project, words: &[&str]) -> Child {
    let mut command = Command::new(BESTOW);
    command.args(words).current_dir(project.path());
    if is_order(words) {
        command.args(SECRET);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if words == HOOK {
        let call = json!({
            "session_id": "s",
            "cwd": project.path(),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": { "command": "ls" },
        });
        child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
    }
    child
}

/// Waits for a server to say that it listens, ends it, and returns its exit code with what it said.
fn end_server(mut child: Child) -> (Option<i32>, String) {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    out.read_line(&mut said).unwrap();
    // A server that has failed is gone.
    let _ = kill_process(Pid::from_child(&child), Signal::TERM);
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

/// Starts these commands at once. Every one of them has to succeed.
fn all_succeed(project: &Project, commands: &[&[&str]]) {
    let before = credentials(project);
    let children: Vec<_> = commands.iter().map(|words| (*words, start(project, words))).collect();
    let (servers, others): (Vec<_>, Vec<_>) = children.into_iter().partition(|(words, _)| *words == SERVE);
    for (words, child) in others {
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{words:?} beside {commands:?}: {said}");
    }
    for (_, child) in servers {
        let (code, said) = end_server(child);
        assert!(code == Some(0) && said.starts_with("listening"), "the server beside {commands:?}: {code:?} {said}");
    }
    let created = commands.iter().filter(|words| words.get(1) == Some(&"create")).count();
    assert_eq!(credentials(project), before + created, "{commands:?}");
    let verified = project.bestow(&["audit", "verify", "--state", "state"]);
    assert!(verified.status.success(), "{commands:?}: {}", String::from_utf8_lossy(&verified.stderr));
}

fn credentials(project: &Project) -> usize {
    let listed = project.json(&["token", "list", "--state", "state", "--json"]);
    listed["credentials"].as_array().unwrap().len()
}

#[test]
fn commands_that_start_at_once_all_succeed() {
    let mut numbers = Numbers(7);
    for case in 0..cases(40) {
        let project = project();
        let is_used = case % 3 != 0;
        if is_used {
            let _ = project.agent();
        }
        let is_served = numbers.below(2) == 0;
        let mut commands = vec![if is_served { SERVE } else { FIRST[0] }];
        let others: Vec<&[&str]> = match (is_used, is_served) {
            (false, _) => FIRST.to_vec(),
            (true, true) => LATER.to_vec(),
            (true, false) => LATER.iter().copied().chain([HOOK]).collect(),
        };
        for _ in 0..=numbers.below(if case % 8 == 0 { 9 } else { 2 }) {
            commands.push(others[numbers.below(others.len())]);
        }
        let first = numbers.below(commands.len());
        commands.rotate_left(first);
        all_succeed(&project, &commands);
    }
}

#[test]
fn ten_tokens_can_be_made_at_once() {
    all_succeed(&project(), &[FIRST[0]; 10]);
}

/// A server that was told to end may take a moment for it.
#[test]
fn a_server_can_be_restarted_beside_a_command() {
    let project = project();
    let _ = project.agent();
    for _ in 0..4 {
        let before = start(&project, SERVE);
        let create = start(&project, FIRST[0]);
        let (code, said) = end_server(before);
        let after = start(&project, SERVE);
        assert_eq!(code, Some(0), "{said}");
        let done = create.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let (code, said) = end_server(after);
        assert!(code == Some(0) && said.starts_with("listening"), "{code:?} {said}");
    }
}

/// An engine that ends has read a part of the order at most. It has carried out nothing, so the command goes on alone.
#[test]
fn an_engine_that_ends_before_it_reads_an_order_hinders_no_command() {
    let project = project();
    let _ = project.agent();
    let socket = project.path().join("state/control");
    for is_accepted in [true, false] {
        while socket.exists() {
            std::thread::yield_now();
        }
        let before = credentials(&project);
        let listener = UnixListener::bind(&socket).unwrap();
        let create = start(&project, FIRST[0]);
        if is_accepted {
            let (mut sender, _) = listener.accept().unwrap();
            fs::remove_file(&socket).unwrap();
            sender.read_exact(&mut [0]).unwrap();
        } else {
            let mut events = [PollFd::new(&listener, PollFlags::IN)];
            poll(&mut events, None).unwrap();
            fs::remove_file(&socket).unwrap();
        }
        drop(listener);
        let done = create.wait_with_output().unwrap();
        assert!(done.status.success(), "{is_accepted}: {}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(credentials(&project), before + 1, "{is_accepted}");
    }
}

#[test]
fn a_second_server_on_a_directory_ends_at_once() {
    let project = project();
    let mut first = start(&project, SERVE);
    let mut line = String::new();
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let second = start(&project, SERVE).wait_with_output().unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(second.status.code() == Some(1) && said.contains("is in use"), "{said}");
    assert!(!said.contains("waiting"), "{said}");
}

/// Other programs keep files in the directory, and one of them may be writing its own.
#[test]
fn a_starting_engine_removes_no_unfinished_file_of_another_program() {
    let project = project();
    let _ = project.agent();
    let at = |name: &str| project.path().join("state").join(name);
    let (own, others) = ("snapshot-00000000000000000009.json.new", ["server.json.new", "other.json.new", "x.new"]);
    others.iter().chain([&own]).for_each(|name| fs::write(at(name), "unfinished").unwrap());
    let _ = project.agent();
    assert!(!at(own).exists(), "a file of the journal");
    for name in others {
        assert_eq!(fs::read_to_string(at(name)).unwrap(), "unfinished", "{name}");
    }
}

/// A project has its state directory within its repository, with secrets and with the records.
#[test]
fn git_adds_nothing_of_a_state_directory() {
    let project = project();
    let git = |words: &[&str]| {
        let done = Command::new("git").args(words).current_dir(project.path()).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q", "."]);
    let _ = project.agent();
    git(&["add", "-A"]);
    assert_eq!(git(&["ls-files"]), "agents.toml\n");
    assert!(project.path().join("state").is_dir());
}
