//! `bestow hook pre-tool-use`: the client of `POST /api/hooks/classify`, as a process of its own.
#![cfg(feature = "cli")]

use std::{
    io::Write,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
};

use bestow_http::credentials::Role;
use serde_json::{Value, json};

use super::{daemon::Daemon, project::Project};
use crate::support::BESTOW;

/// A call that passes.
pub(super) const LS: &str = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;

/// A call that a person has to approve.
const NODE: &str = r#"{"tool":"bash","input":{"command":"node a.js"}}"#;

/// The hook, with its words and its environment.
pub(super) struct Hook(Command);

/// The answer of the hook: the one line on standard output, and the exit code.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: i32,
    pub(super) json: Value,
    pub(super) told: String,
}

impl Hook {
    pub(super) fn new() -> Hook {
        let mut command = Command::new(BESTOW);
        command.args(["hook", "pre-tool-use"]).env_remove("BESTOW_URL").env_remove("BESTOW_TOKEN");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Hook(command)
    }

    pub(super) fn at(address: SocketAddr, token: &str) -> Hook {
        Hook::new().env("BESTOW_URL", &format!("http://{address}")).env("BESTOW_TOKEN", token)
    }

    fn env(mut self, name: &str, value: &str) -> Hook {
        self.0.env(name, value);
        self
    }

    pub(super) fn with(mut self, words: &[&str]) -> Hook {
        self.0.args(words);
        self
    }

    /// Runs the hook with this standard input.
    pub(super) fn ask(self, input: impl AsRef<[u8]>) -> Answer {
        Hook::answer(self.start(input))
    }

    pub(super) fn start(self, input: impl AsRef<[u8]>) -> Child {
        self.start_with(input, |_| {})
    }

    /// Starts the hook, and changes its pipes before it gets its input.
    pub(super) fn start_with(mut self, input: impl AsRef<[u8]>, change: impl FnOnce(&mut Child)) -> Child {
        let mut child = self.0.spawn().unwrap();
        change(&mut child);
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.as_ref().to_owned());
        // The hook may end before it has read everything.
        thread::spawn(move || drop(stdin.write_all(&input)));
        child
    }

    /// Waits for the end of the hook.
    pub(super) fn answer(child: Child) -> Answer {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let line = text.strip_suffix('\n').unwrap_or_else(|| panic!("one line: {text:?}, {told}"));
        assert!(!line.contains('\n'), "{text}");
        let json = serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {text}"));
        Answer { code: output.status.code().unwrap(), json, told }
    }
}

impl Answer {
    /// Fails unless the answer is no, in each way in which a host may look at it.
    pub(super) fn is_no(&self, case: &str) {
        assert_eq!((self.code, &self.json["allow"]), (2, &json!(false)), "{case}: {self:?}");
        let reason = self.json["reason"].as_str().unwrap_or_default();
        assert!(!reason.is_empty() && self.told.starts_with("bestow: "), "{case}: {self:?}");
        assert!(!self.told.contains("panicked") && !reason.contains("has failed"), "{case}: {self:?}");
    }
}

/// Runs the hook of an agent while the server in this process works.
async fn ask(daemon: &Daemon, token: &str, words: &[&str], input: &str) -> Answer {
    let hook = Hook::at(daemon.address, token).with(words);
    let input = input.to_owned();
    tokio::task::spawn_blocking(move || hook.ask(input)).await.unwrap()
}

#[tokio::test]
async fn a_safe_call_passes_and_a_dangerous_one_waits_for_a_person() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let safe = ask(&daemon, &bot, &[], LS).await;
    assert_eq!((safe.code, &safe.json["allow"], &safe.json["tier"]), (0, &json!(true), &json!("safe")));
    assert_eq!(safe.told, "");
    let queued = ask(&daemon, &bot, &[], NODE).await;
    queued.is_no("queued");
    assert_eq!(queued.json["tier"], "dangerous");
    assert!(queued.told.contains("Queued for approval: "), "{queued:?}");
    let id = queued.json["requestId"].as_str().unwrap();
    assert_eq!(daemon.decide(&you, id, "approve").await.status, 200);
    let approved = ask(&daemon, &bot, &[], NODE).await;
    assert_eq!((approved.code, &approved.json["allow"]), (0, &json!(true)), "once");
    ask(&daemon, &bot, &[], NODE).await.is_no("the approval was used");
    let destructive = ask(&daemon, &bot, &[], r#"{"tool":"bash","input":{"command":"rm -rf /"}}"#).await;
    destructive.is_no("destructive");
    assert_eq!((&destructive.json["tier"], destructive.json.get("requestId")), (&json!("destructive"), None));
}

#[tokio::test]
async fn c46_a_person_who_answers_in_time_answers_the_first_call() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let approve = async {
        let id = daemon.first_pending(&you).await;
        daemon.decide(&you, &id, "approve").await
    };
    let (answer, _) = tokio::join!(ask(&daemon, &bot, &["--wait", "8s"], NODE), approve);
    assert_eq!((answer.code, &answer.json["allow"]), (0, &json!(true)));
    let feedback = r#"not "that" file: \s+ and ${HOME}"#;
    let reject = async {
        let id = daemon.first_pending(&you).await;
        let body = json!({ "requestId": id, "decision": "reject", "feedback": feedback });
        daemon.post(&you, "/api/permissions", &body.to_string()).await
    };
    let (answer, _) = tokio::join!(ask(&daemon, &bot, &["--wait", "8s"], NODE), reject);
    answer.is_no("rejected");
    let state = format!("/api/hooks/requests/{}", answer.json["requestId"].as_str().unwrap());
    let told = daemon.get(&bot, &state).await.json["feedback"].clone();
    assert_eq!(answer.json["feedback"], told, "as the server has it (C46)");
    assert!(told.as_str().unwrap().starts_with("not \"that\" file: \\"), "{told}");
    let change = async {
        let id = daemon.first_pending(&you).await;
        let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": "node b.js" });
        daemon.post(&you, "/api/permissions", &body.to_string()).await
    };
    let (answer, _) = tokio::join!(ask(&daemon, &bot, &["--wait", "8s"], NODE), change);
    answer.is_no("changed");
    assert_eq!(answer.json["updatedInput"], json!({ "command": "node b.js" }));
    let changed = ask(&daemon, &bot, &[], r#"{"tool":"bash","input":{"command":"node b.js"}}"#).await;
    assert_eq!(changed.code, 0, "{changed:?}");
}

#[tokio::test]
async fn hosts_name_the_fields_differently_and_send_more_of_them() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let input = json!({ "command": "git status" });
    for call in [
        json!({ "tool": "bash", "input": input }),
        json!({ "toolName": "bash", "toolInput": input }),
        json!({ "tool_name": "bash", "tool_input": input, "hook_event_name": "PreToolUse", "session_id": "s" }),
        json!({ "tool": "bash", "tool_name": "bash", "input": input, "toolInput": input }),
        json!({ "tool": "bash", "input": input, "agentId": "other", "userId": "them", "allow": true, "waitMs": "x" }),
    ] {
        let answer = ask(&daemon, &bot, &[], &call.to_string()).await;
        assert_eq!((answer.code, &answer.json["tier"]), (0, &json!("safe")), "{call}");
    }
}

#[tokio::test]
async fn c26_and_c45_an_input_that_is_no_call_is_a_no_and_asks_nothing() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let deep = format!(r#"{{"tool":"bash","input":{{"a":{}{}}}}}"#, "[".repeat(500), "]".repeat(500));
    let long = format!(r#"{{"tool":"bash","input":{{"command":"{}"}}}}"#, "x".repeat(1 << 20));
    for input in [
        "",
        "\0\x01 garbage",
        "null",
        "[]",
        "{}",
        r#"{"tool":"bash","input":{"command":"ls"}"#,
        r#"{"tool":"bash","input":{"command":"ls"}} {}"#,
        r#"{"tool":"bash"}"#,
        r#"{"input":{"command":"ls"}}"#,
        r#"{"tool":"","input":{}}"#,
        r#"{"tool":7,"input":{}}"#,
        r#"{"tool":null,"input":{}}"#,
        r#"{"tool":"bash","input":"ls"}"#,
        r#"{"tool":"bash","input":["ls"]}"#,
        r#"{"tool":"read","tool_name":"bash","input":{"command":"ls"}}"#,
        r#"{"tool":"bash","input":{"command":"ls"},"toolInput":{"command":"node x"}}"#,
        r#"{"tool":"bash","tool":"read","input":{}}"#,
        r#"{"tool":"bash","input":{"command":"ls","command":"node x"}}"#,
        &deep,
        &long,
    ] {
        ask(&daemon, &bot, &[], input).await.is_no(input.get(..100).unwrap_or(input));
    }
    let invalid = Hook::at(daemon.address, &bot);
    tokio::task::spawn_blocking(|| invalid.ask(b"{\"tool\":\"\xff\",\"input\":{}}").is_no("not UTF-8")).await.unwrap();
    assert!(daemon.pending(&you).await.is_empty(), "the server was not asked");
    // The name of a tool that looks like two fields is one name (C45).
    let call = json!({ "tool": "bash\",\"toolName\":\"read", "input": {} });
    ask(&daemon, &bot, &[], &call.to_string()).await.is_no("C45");
}

#[test]
fn an_input_without_an_end_is_a_no() {
    let hook = || Hook::at("127.0.0.1:9".parse().unwrap(), "token");
    let mut endless = hook();
    endless.0.stdin(std::fs::File::open("/dev/zero").unwrap());
    let answer = Hook::answer(endless.0.spawn().unwrap());
    answer.is_no("endless");
    assert!(answer.json["reason"].as_str().unwrap().contains("longer than"), "{answer:?}");
    let mut child = hook().with(&["--time-limit", "300ms"]).0.spawn().unwrap();
    let mut open = child.stdin.take().unwrap();
    open.write_all(LS.as_bytes()).unwrap();
    let answer = Hook::answer(child);
    answer.is_no("open");
    assert_eq!(answer.json["reason"], "there is no answer within 300 milliseconds");
    drop(open);
}

#[tokio::test]
async fn a_credential_that_may_not_ask_is_a_no() {
    let daemon = Daemon::start().await;
    let issued = daemon.issue(Role::Agent { agent: "bot".parse().unwrap() });
    assert_eq!(ask(&daemon, &issued.token, &[], LS).await.code, 0);
    daemon.credentials.revoke(&issued.credential.id).unwrap();
    let (approver, operator) = (daemon.approver("you"), daemon.issue(Role::Operator).token);
    for token in [&issued.token, &approver, &operator, "nonsense", "two words", "a\nb", "ä"] {
        let answer = ask(&daemon, token, &[], LS).await;
        answer.is_no(token);
        assert!(!format!("{answer:?}").contains(token), "a message never has the token");
    }
    tokio::task::spawn_blocking(|| Hook::new().ask(LS).is_no("no token")).await.unwrap();
}

#[test]
fn settings_that_are_wrong_are_a_no() {
    for words in [
        &["--url", "nonsense"][..],
        &["--url", "https://127.0.0.1:7422"],
        &["--url", "ftp://127.0.0.1"],
        &["--url", "http://user:word@127.0.0.1:1"],
        &["--url", "http://127.0.0.1:1/?a=b"],
        &["--url", "http://127.0.0.1:99999"],
        &["--url", "http://192.0.2.1:1"],
        &["--url", "http://[2001:db8::1]:1"],
        &["--url", "http://[::1]:1"],
        &["--url", "http://127.0.0.1:1", "--ready-file", "x"],
        &["--ready-file", "/dev/null"],
        &["--ready-file", "/does/not/exist"],
        &["--token-file", "/does/not/exist"],
        &["--token-file", "/dev/zero"],
        &["--token-file", "/dev/null"],
        &["--wait", "9s"],
        &["--wait", "-1"],
        &["--time-limit", "10s"],
        &["--time-limit", "0"],
        &["--no-such-option"],
        &["more"],
    ] {
        Hook::new().env("BESTOW_TOKEN", "token").with(words).ask(LS).is_no(&words.join(" "));
    }
    for words in [&["hook"][..], &["hook", "pretooluse"], &["hook", "--url", "x", "pre-tool-use"]] {
        let mut command = Command::new(BESTOW);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Hook::answer(command.spawn().unwrap()).is_no(&words.join(" "));
    }
}

#[test]
fn another_machine_gets_no_token_unless_that_is_stated() {
    let hook = |words: &[&str]| {
        let words = [&["--url", "http://192.0.2.1:1", "--time-limit", "300ms"], words].concat();
        Hook::new().env("BESTOW_TOKEN", "token").with(&words).ask(LS)
    };
    let refused = hook(&[]);
    refused.is_no("refused");
    assert!(refused.json["reason"].as_str().unwrap().contains("--allow-plain-http"), "{refused:?}");
    let stated = hook(&["--allow-plain-http"]);
    stated.is_no("no machine has this address");
    assert!(!stated.json["reason"].as_str().unwrap().contains("--allow-plain-http"), "{stated:?}");
}

/// The ready file and the token as their commands write them.
#[test]
fn the_files_of_serve_and_token_are_all_that_the_hook_needs() {
    let mut project = Project::new();
    let made = project.bestow(&["token", "create", "--role", "agent", "--agent", "bot"]);
    std::fs::write(project.path().join("token"), made.stdout).unwrap();
    project.serve();
    let mut hook = Hook::new().with(&["--ready-file", "ready.json", "--token-file", "token"]);
    hook.0.current_dir(project.path());
    let answer = hook.ask(LS);
    assert_eq!((answer.code, &answer.json["allow"]), (0, &json!(true)), "{answer:?}");
    let help = Command::new(BESTOW).args(["hook", "pre-tool-use", "--help"]).output().unwrap();
    assert_eq!(help.status.code(), Some(0));
}

/// The trail of a real server, as `bestow audit show` prints it after calls through the hook.
#[test]
fn no_secret_of_a_call_stays_in_the_trail_of_a_server() {
    const SECRET: &str = "hunter2aB3xQ9zK7";
    let mut project = Project::new();
    project.serve();
    let token = project.agent();
    for call in [
        json!({ "toolName": "deploy", "toolInput": { "args": ["--token", SECRET] } }),
        json!({ "toolName": "deploy", "toolInput": { "secret": { "v": SECRET } } }),
        json!({ "toolName": "deploy", "toolInput": { "args": ["-p", SECRET], "command": "sshpass" } }),
        json!({ "toolName": "bash", "toolInput": { "command": format!("curl --cookie 's={SECRET}' https://h") } }),
        json!({ "toolName": "bash", "toolInput": { "command": format!("sudo -S <<< {SECRET}") } }),
    ] {
        Hook::at(project.address(), &token).ask(call.to_string());
    }
    let trail = project.bestow(&["audit", "show", "--state", "state", "--json"]);
    let trail = String::from_utf8(trail.stdout).unwrap();
    assert!(trail.matches("[redacted ").count() >= 5, "{trail}");
    assert!(!trail.contains(SECRET), "{trail}");
}
