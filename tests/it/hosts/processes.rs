//! `bestow hook claude` and the like as real processes: against a real server, and with an engine of their own.
#![cfg(feature = "cli")]

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    thread,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    http::{client::Socket, project::Project},
    support::BESTOW,
};

const POLICY: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.claude]
kind = \"permanent\"
permissions = [\"@write:work\"]

[agents.codex]
kind = \"permanent\"
";

/// The words with which a hook opens an engine of its own.
const OWN: [&str; 6] = ["--agent", "claude", "--config", "agents.toml", "--state", "state"];

/// The words with which a hook asks the server.
const SERVED: [&str; 4] = ["--ready-file", "ready.json", "--token-file", "claude-token"];

/// The answer of a hook.
#[derive(Debug)]
struct Answer {
    code: i32,
    json: Value,
    told: String,
}

impl Answer {
    fn decision(&self) -> &str {
        self.json["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none")
    }

    /// Fails unless Claude Code takes the answer about a call as a denial, in both ways in which it looks at it.
    fn is_no(&self, case: &str) {
        assert_eq!((self.code, self.decision()), (2, "deny"), "{case}: {self:?}");
        assert!(self.told.starts_with("bestow: ") && !self.told.contains("panicked"), "{case}: {self:?}");
    }
}

/// A project with the hosts `claude` and `codex`.
fn project() -> Project {
    let project = Project::new();
    std::fs::create_dir(project.path().join("work")).unwrap();
    project.policy(POLICY);
    project
}

/// A project with a running server, and the token of `claude`.
fn served() -> Project {
    let mut project = project();
    let token = project.token(&["--role", "agent", "--agent", "claude"]);
    std::fs::write(project.path().join("claude-token"), token).unwrap();
    project.serve();
    project
}

fn start(project: &Project, words: &[&str]) -> (Child, ChildStdin) {
    let mut command = Command::new(BESTOW);
    command.arg("hook").args(words).current_dir(project.path()).env_remove("BESTOW_TOKEN").env_remove("BESTOW_URL");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

fn asking(project: &Project, words: &[&str], text: impl Into<Vec<u8>>) -> Child {
    let (child, mut stdin) = start(project, words);
    let text = text.into();
    // The hook may end before it has read everything.
    thread::spawn(move || drop(stdin.write_all(&text)));
    child
}

fn answer(child: Child) -> Answer {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let json = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
    Answer { code: output.status.code().unwrap(), json, told: String::from_utf8(output.stderr).unwrap() }
}

fn ask(project: &Project, words: &[&str], text: impl Into<Vec<u8>>) -> Answer {
    answer(asking(project, words, text))
}

fn claude(words: &[&'static str]) -> Vec<&'static str> {
    ["claude"].iter().chain(words).copied().collect()
}

/// Returns what Claude Code sends about a command.
fn event(project: &Project, name: &str, command: &str, subagent: Option<&str>) -> String {
    let cwd = project.path().join("work");
    let mut event = json!({
        "session_id": "s1",
        "cwd": cwd,
        "hook_event_name": name,
        "tool_name": "Bash",
        "tool_input": { "command": command },
    });
    if let Some(subagent) = subagent {
        event["agent_id"] = json!(subagent);
        event["agent_type"] = json!("Explore");
    }
    event.to_string()
}

#[test]
fn a_hook_allows_asks_and_denies_with_a_server_and_without_one() {
    for (project, words) in [(served(), claude(&SERVED)), (project(), claude(&OWN))] {
        let call = |command: &str| ask(&project, &words, event(&project, "PreToolUse", command, None));
        let (safe, dangerous, destructive) = (call("ls"), call("make"), call("rm -rf /"));
        assert_eq!((safe.code, safe.decision(), &*safe.told), (0, "allow", ""), "{safe:?}");
        assert_eq!((dangerous.code, dangerous.decision()), (0, "ask"), "{dangerous:?}");
        destructive.is_no("destructive");
        let of_subagent = ask(&project, &words, event(&project, "PreToolUse", "make", Some("a1")));
        of_subagent.is_no("nobody sees its prompt");
        assert!(of_subagent.told.contains("(code ") && of_subagent.told.contains("waits"), "{of_subagent:?}");
        let prompt = ask(&project, &words, event(&project, "PermissionRequest", "make", None));
        assert_eq!((prompt.code, &prompt.json), (0, &Value::Null), "the prompt of the host goes on");
        let prompt = ask(&project, &words, event(&project, "PermissionRequest", "make", Some("a1")));
        assert_eq!((prompt.code, &prompt.json["hookSpecificOutput"]["decision"]["behavior"]), (0, &json!("deny")));
        let prompt = ask(&project, &words, event(&project, "PermissionRequest", "ls", Some("a1")));
        assert_eq!((prompt.code, &prompt.json["hookSpecificOutput"]["decision"]["behavior"]), (0, &json!("allow")));
    }
}

/// The prompt of the host about its own tool is the decision of the person at the terminal.
#[test]
fn a_hook_answers_no_prompt_of_the_host_in_place_of_the_person() {
    for (project, words) in [(served(), claude(&SERVED)), (project(), claude(&OWN))] {
        let call = |name: &str, tool: &str, input: Value, mode: &str| {
            let cwd = project.path().join("work");
            let event = json!({
                "session_id": "s1",
                "cwd": cwd,
                "hook_event_name": name,
                "permission_mode": mode,
                "tool_name": tool,
                "tool_input": input,
            });
            ask(&project, &words, event.to_string())
        };
        for name in ["PreToolUse", "PermissionRequest"] {
            for (tool, input) in [
                ("ExitPlanMode", json!({ "plan": "x" })),
                ("AskUserQuestion", json!({ "questions": [{ "question": "which?" }] })),
                ("TodoWrite", json!({ "todos": [] })),
            ] {
                let told = call(name, tool, input, "default");
                assert_eq!((told.code, &told.json, &*told.told), (0, &Value::Null, ""), "{name} {tool}: {told:?}");
            }
            let planning = call(name, "Bash", json!({ "command": "ls" }), "plan");
            assert_eq!((planning.code, &planning.json), (0, &Value::Null), "{name}: {planning:?}");
        }
        call("PreToolUse", "Bash", json!({ "command": "rm -rf /" }), "plan").is_no("destructive");
    }
}

#[test]
fn sessions_begin_and_end_with_a_server_and_without_one() {
    for (project, words, is_served) in [(served(), claude(&SERVED), true), (project(), claude(&OWN), false)] {
        for (name, subagent, there) in [
            ("SessionStart", None, "claude:s1"),
            ("SubagentStart", Some("a1"), "claude:s1:a1"),
            ("SubagentStop", Some("a1"), "claude:s1"),
            ("SessionEnd", None, "claude"),
            ("PostToolUse", None, "claude"),
        ] {
            let told = ask(&project, &words, event(&project, name, "", subagent));
            assert_eq!((told.code, &told.json, &*told.told), (0, &Value::Null, ""), "{name}: {told:?}");
            let state = project.bestow(&["state", "--state", "state", "--agent", there]);
            assert!(state.status.success(), "{name}, served: {is_served}: {state:?}");
        }
        let gone = project.bestow(&["state", "--state", "state", "--agent", "claude:s1"]);
        assert!(!gone.status.success(), "{gone:?}");
    }
}

#[tokio::test]
async fn a_person_at_the_dashboard_answers_while_the_hook_waits() {
    let project = served();
    let you = project.approver();
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let mut screen = Socket::open(project.address(), "/ws/permissions", &headers).await.unwrap();
    assert_eq!(screen.next().await.unwrap()["type"], "connected");
    for (decision, code, expected) in [("approve", 0, "allow"), ("reject", 2, "deny")] {
        let hook = asking(&project, &claude(&SERVED), event(&project, "PreToolUse", "make", Some("a1")));
        let asked = screen.next().await.unwrap();
        assert_eq!((&asked["type"], &asked["data"]["agentId"]), (&json!("permission_request"), &json!("claude:s1:a1")));
        let body = json!({ "requestId": asked["data"]["id"], "decision": decision });
        assert_eq!(project.post(&you, "/api/permissions", &body).await.status, 200);
        assert_eq!(screen.next().await.unwrap()["type"], "request_resolved");
        let answer = tokio::task::spawn_blocking(move || answer(hook)).await.unwrap();
        assert_eq!((answer.code, answer.decision()), (code, expected), "{answer:?}");
    }
}

#[tokio::test]
async fn a_changed_input_is_what_the_host_calls() {
    let project = served();
    let you = project.approver();
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let mut screen = Socket::open(project.address(), "/ws/permissions", &headers).await.unwrap();
    screen.next().await.unwrap();
    let hook = asking(&project, &claude(&SERVED), event(&project, "PreToolUse", "make", None));
    let asked = screen.next().await.unwrap();
    let body = json!({ "requestId": asked["data"]["id"], "decision": "approve", "modifiedInput": "make test" });
    assert_eq!(project.post(&you, "/api/permissions", &body).await.status, 200);
    let answer = tokio::task::spawn_blocking(move || answer(hook)).await.unwrap();
    assert_eq!((answer.code, answer.decision()), (0, "allow"), "{answer:?}");
    assert_eq!(answer.json["hookSpecificOutput"]["updatedInput"], json!({ "command": "make test" }));
    drop(screen);
    let again = ask(&project, &claude(&SERVED), event(&project, "PreToolUse", "make test", Some("a1")));
    again.is_no("the approval was used");
}

#[tokio::test]
async fn a_server_that_is_killed_while_a_hook_waits_allows_nothing() {
    let mut project = served();
    let you = project.approver();
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let mut screen = Socket::open(project.address(), "/ws/permissions", &headers).await.unwrap();
    screen.next().await.unwrap();
    let hook = asking(&project, &claude(&SERVED), event(&project, "PreToolUse", "make", None));
    assert_eq!(screen.next().await.unwrap()["type"], "permission_request");
    project.end(Signal::KILL);
    tokio::task::spawn_blocking(move || answer(hook)).await.unwrap().is_no("killed");
    ask(&project, &claude(&SERVED), event(&project, "PreToolUse", "ls", None)).is_no("no server");
    let prompt = ask(&project, &claude(&SERVED), event(&project, "PermissionRequest", "ls", None));
    assert_eq!((prompt.code, &prompt.json["hookSpecificOutput"]["decision"]["behavior"]), (0, &json!("deny")));
    let report = ask(&project, &claude(&SERVED), event(&project, "SessionEnd", "", None));
    assert_eq!((report.code, &report.json), (1, &Value::Null), "a report that fails blocks nothing: {report:?}");
}

#[tokio::test]
async fn a_hook_that_a_signal_ends_denies_the_call() {
    let project = served();
    let you = project.approver();
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let mut screen = Socket::open(project.address(), "/ws/permissions", &headers).await.unwrap();
    screen.next().await.unwrap();
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM] {
        let hook = asking(&project, &claude(&SERVED), event(&project, "PreToolUse", "make", None));
        assert_eq!(screen.next().await.unwrap()["type"], "permission_request", "{signal:?}");
        kill_process(Pid::from_child(&hook), signal).unwrap();
        tokio::task::spawn_blocking(move || answer(hook)).await.unwrap().is_no("a signal");
        assert_eq!(screen.next().await.unwrap()["type"], "request_resolved", "{signal:?}");
    }
}

#[tokio::test]
async fn a_hook_that_is_killed_while_it_waits_leaves_no_question() {
    let project = served();
    let you = project.approver();
    let headers = [("authorization", &*format!("Bearer {you}"))];
    let mut screen = Socket::open(project.address(), "/ws/permissions", &headers).await.unwrap();
    screen.next().await.unwrap();
    let mut hook = asking(&project, &claude(&SERVED), event(&project, "PreToolUse", "make", None));
    assert_eq!(screen.next().await.unwrap()["type"], "permission_request");
    hook.kill().unwrap();
    hook.wait().unwrap();
    let ended = screen.next().await.unwrap();
    assert_eq!((&ended["type"], &ended["data"]["outcome"]), (&json!("request_resolved"), &json!("cancelled")));
}

#[test]
fn a_session_belongs_to_the_host_whose_credential_asks() {
    let project = served();
    let token = project.token(&["--role", "agent", "--agent", "codex"]);
    std::fs::write(project.path().join("codex-token"), token).unwrap();
    let write = json!({
        "session_id": "s1", "cwd": project.path().join("work"), "hook_event_name": "PreToolUse",
        "tool_name": "Write", "tool_input": { "file_path": project.path().join("work/a"), "content": "x" },
    });
    let of_claude = ask(&project, &claude(&SERVED), write.to_string());
    assert_eq!((of_claude.code, of_claude.decision()), (0, "allow"), "{of_claude:?}");
    let words = ["codex", "--ready-file", "ready.json", "--token-file", "codex-token", "--assume-directory"];
    ask(&project, &words, write.to_string()).is_no("it may not write there");
    for id in ["claude:s1", "codex:s1"] {
        assert!(project.bestow(&["state", "--state", "state", "--agent", id]).status.success(), "{id}");
    }
    let approver = project.approver();
    std::fs::write(project.path().join("approver-token"), approver).unwrap();
    let words = ["claude", "--ready-file", "ready.json", "--token-file", "approver-token"];
    ask(&project, &words, write.to_string()).is_no("a person has no sessions");
}

#[test]
fn an_approval_that_lasts_lets_the_call_of_a_subagent_pass_where_no_engine_runs() {
    let project = project();
    let call = || ask(&project, &claude(&OWN), event(&project, "PreToolUse", "make", Some("a1")));
    let waits = call();
    waits.is_no("it waits");
    let code = waits.told.split("(code ").nth(1).unwrap().split(')').next().unwrap().to_owned();
    let approved = project.bestow(&["approve", "--state", "state", "--scope", "always", &code]);
    assert!(approved.status.success(), "{approved:?}");
    let allowed = call();
    assert_eq!((allowed.code, allowed.decision()), (0, "allow"), "{allowed:?}");
    let other = ask(&project, &claude(&OWN), event(&project, "PreToolUse", "make", Some("a2")));
    other.is_no("the approval is for one subagent");
}

/// Returns the code of the request that a denial names.
fn code(answer: &Answer) -> String {
    answer.told.split("(code ").nth(1).unwrap().split(')').next().unwrap().to_owned()
}

/// The run belongs to the session, and not to the process of a hook.
#[test]
fn an_approval_for_one_use_or_for_the_session_is_left_to_the_next_hook_where_no_engine_runs() {
    for (scope, after) in [("once", "deny"), ("session", "allow")] {
        let project = project();
        let call = |name: &str, subagent| ask(&project, &claude(&OWN), event(&project, name, "make", subagent));
        let make = || call("PreToolUse", Some("a1"));
        let waits = make();
        waits.is_no("it waits");
        let approved = project.bestow(&["approve", "--state", "state", "--scope", scope, &code(&waits)]);
        assert!(approved.status.success(), "{approved:?}");
        call("PreToolUse", Some("a2")).is_no("the approval is for one subagent");
        let allowed = make();
        assert_eq!((allowed.code, allowed.decision()), (0, "allow"), "{scope}: {allowed:?}");
        let again = make();
        assert_eq!(again.decision(), after, "{scope}: {again:?}");
        if scope == "session" {
            call("SubagentStop", Some("a1"));
            make().is_no("the subagent has ended");
        }
    }
}

#[test]
fn an_approval_for_the_session_ends_with_the_session_and_with_another_engine() {
    let mut project = project();
    let call = |project: &Project, name: &str| ask(project, &claude(&OWN), event(project, name, "make", None));
    let approved = |project: &Project| {
        let waits = ask(project, &claude(&OWN), event(project, "PreToolUse", "make", Some("a1")));
        let words = ["approve", "--state", "state", "--scope", "session", &code(&waits)];
        assert!(project.bestow(&words).status.success());
        let allowed = ask(project, &claude(&OWN), event(project, "PreToolUse", "make", Some("a1")));
        assert_eq!(allowed.decision(), "allow", "{allowed:?}");
    };
    approved(&project);
    assert_eq!(call(&project, "SessionEnd").code, 0);
    ask(&project, &claude(&OWN), event(&project, "PreToolUse", "make", Some("a1"))).is_no("the session has ended");
    assert_eq!(call(&project, "SessionEnd").code, 0);
    approved(&project);
    project.serve();
    project.end(Signal::TERM);
    let again = ask(&project, &claude(&OWN), event(&project, "PreToolUse", "make", Some("a1")));
    again.is_no("a server has run on the directory");
    // After a server, an approval for the session would end before the next engine.
    project.serve();
    project.end(Signal::TERM);
    let words = ["approve", "--state", "state", "--scope", "session", &code(&again)];
    let refused = project.bestow(&words);
    assert!(!refused.status.success(), "{refused:?}");
}

#[test]
fn a_rule_of_the_host_allows_its_sessions_only_what_it_states_for_children() {
    let project = project();
    let rule = |verdict: &str, rest: &str| format!("[[agents.claude.rules]]\nverdict = \"{verdict}\"\n{rest}\n\n");
    let rules = [
        rule("allow", "command = \"make\"\nchildren = true"),
        rule("allow", "command = \"npm test\"\ncwd = \"anywhere\"\nchildren = true"),
        rule("allow", "command = \"npm run lint\""),
        rule("allow", "tool = \"Notes\"\nchildren = true"),
        rule("deny", "command = \"npm publish\""),
    ];
    let policy = POLICY.replace("[agents.claude]", "[agents.claude]\nworking_dir = \"work\"");
    let declared = "[[tools]]\nname = \"Notes\"\noperation = \"tool\"\n\n";
    project.policy(&format!("{policy}\n{declared}{}", rules.concat()));
    std::fs::create_dir(project.path().join("work/sub")).unwrap();
    let call = |command: &str, at: &str, subagent| {
        let mut event: Value = serde_json::from_str(&event(&project, "PreToolUse", command, subagent)).unwrap();
        event["cwd"] = json!(project.path().join(at));
        ask(&project, &claude(&OWN), event.to_string()).decision().to_owned()
    };
    for (command, at, expected) in [
        ("make", "work", "allow"),
        ("make", "work/sub", "ask"),
        ("cd sub && make", "work", "ask"),
        ("make", ".", "ask"),
        ("npm test", "work/sub", "allow"),
        ("npm test && make", "work", "allow"),
        ("npm test && make", "work/sub", "ask"),
        ("make && npm run lint", "work", "ask"),
        ("npm run lint", "work", "ask"),
        ("npm publish", "work", "deny"),
        ("make && npm publish", "work", "deny"),
    ] {
        assert_eq!(call(command, at, None), expected, "{command} in {at}");
    }
    assert_eq!(call("make", "work", Some("a1")), "allow", "a subagent is a descendant");
    let todo = json!({
        "session_id": "s1", "cwd": project.path().join("work/sub"), "hook_event_name": "PreToolUse",
        "tool_name": "Notes", "tool_input": { "todos": [] },
    });
    assert_eq!(ask(&project, &claude(&OWN), todo.to_string()).decision(), "allow");
}

#[test]
fn many_hooks_at_once_wait_for_each_other() {
    let project = project();
    let hooks: Vec<_> = (0..6)
        .map(|number| {
            let command = if number % 2 == 0 { "ls" } else { "rm -rf /" };
            asking(&project, &claude(&OWN), event(&project, "PreToolUse", command, None))
        })
        .collect();
    for (number, hook) in hooks.into_iter().enumerate() {
        let answer = answer(hook);
        if number % 2 == 0 {
            assert_eq!((answer.code, answer.decision()), (0, "allow"), "{answer:?}");
        } else {
            answer.is_no("destructive");
        }
    }
}

#[test]
fn a_server_on_the_state_directory_is_named_with_the_way_to_it() {
    let project = served();
    let answer = ask(&project, &claude(&OWN), event(&project, "PreToolUse", "ls", None));
    answer.is_no("a server runs there");
    for named in ["--ready-file", "--token-file", "bestow token create", "http://127.0.0.1:"] {
        assert!(answer.told.contains(named), "{named}: {answer:?}");
    }
}

#[test]
fn every_mistake_is_a_denial_in_the_form_of_the_host() {
    let project = project();
    let long = |size: usize| event(&project, "PreToolUse", &"x".repeat(size), None);
    let cut = event(&project, "PreToolUse", "ls", None);
    let not_a_host = claude(&["--agent", "nobody", "--config", "agents.toml", "--state", "state"]);
    for (case, words, text) in [
        ("cut", claude(&OWN), cut[..cut.len() - 3].to_owned()),
        ("empty", claude(&OWN), String::new()),
        ("10 MB", claude(&OWN), long(10 << 20)),
        ("40 MB", claude(&OWN), long(40 << 20)),
        ("no such agent", not_a_host, cut.clone()),
        ("no such file", claude(&["--agent", "claude", "--config", "none.toml", "--state", "state"]), cut.clone()),
        ("no such option", claude(&["--agnet", "claude"]), cut.clone()),
        ("no token", claude(&["--url", "http://127.0.0.1:1"]), cut.clone()),
        ("another machine", claude(&["--url", "http://192.0.2.1:1", "--token-file", "agents.toml"]), cut.clone()),
        ("a tool that lies", claude(&OWN), cut.replace("\"Bash\"", "\"Read\\nBash\"")),
        ("another session", claude(&OWN), cut.replace("\"s1\"", "\"\"")),
    ] {
        let answer = ask(&project, &words, text);
        answer.is_no(case);
        let why = answer.json["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default();
        assert!(!why.is_empty(), "{case}: {answer:?}");
    }
    ask(&project, &claude(&OWN), event(&project, "SomethingNew", "rm -rf /", None)).is_no("`SomethingNew`");
    let other = json!({ "session_id": "s1", "cwd": project.path(), "hook_event_name": "Stop" });
    let other = ask(&project, &claude(&OWN), other.to_string());
    assert_eq!((other.code, &other.json), (0, &Value::Null), "an event that needs no decision gets none");
    let copilot = ask(&project, &["copilot", "--agnet"], cut);
    assert_eq!((copilot.code, &copilot.json["permissionDecision"]), (0, &json!("deny")), "{copilot:?}");
}

/// The attack: the project that was cloned has a policy file and a state directory, in which everything is allowed.
#[test]
fn a_policy_file_where_the_agent_works_is_not_found() {
    let project = project();
    let all = "\n[[agents.claude.rules]]\nverdict = \"allow\"\ncommand = [\"make **\"]\ncwd = \"anywhere\"\n\
               children = true\n";
    project.policy(&format!("{POLICY}{all}"));
    let text = || event(&project, "PreToolUse", "make evil", None);
    assert_eq!(ask(&project, &claude(&OWN), text()).decision(), "allow", "the file allows the call");
    for words in [&["--agent", "claude"][..], &["--agent", "claude", "--state", "state"]] {
        let answered = ask(&project, &claude(words), text());
        answered.is_no("no policy file is named");
        assert!(answered.told.contains("`--config FILE`"), "{answered:?}");
    }
}

#[test]
fn a_tool_that_lies_about_its_name_is_judged_as_an_unknown_tool() {
    let project = project();
    let text = event(&project, "PreToolUse", "rm -rf /", None).replace("\"Bash\"", "\"mcp__read__Read\"");
    ask(&project, &claude(&OWN), text).is_no("every text of its input counts");
}

#[test]
fn a_host_that_never_ends_its_text_gets_a_denial_in_time() {
    let project = project();
    let words = claude(&["--agent", "claude", "--config", "agents.toml", "--time-limit", "300ms"]);
    let (mut child, stdin) = start(&project, &words);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let answered = answer(child);
    assert_eq!(answered.code, 2, "{answered:?}");
    assert!(text.contains("\"deny\""), "{text}");
    drop(stdin);
}

/// The attack: the host was started through a link. Its shell then goes with `cd ..` to the parent of the link.
#[test]
fn a_session_that_was_started_through_a_link_calls_nothing() {
    let project = project();
    let link = project.path().join("link");
    std::os::unix::fs::symlink(project.path().join("work"), &link).unwrap();
    let text = event(&project, "PreToolUse", "cd .. && ls", None);
    let mut command = Command::new(BESTOW);
    command.arg("hook").args(claude(&OWN)).current_dir(project.path()).env("PWD", &link);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let answered = child.wait_with_output().unwrap();
    let told = String::from_utf8(answered.stderr).unwrap();
    assert_eq!((answered.status.code(), told.contains("was started through a link")), (Some(2), true), "{told}");
}

/// Codex does not say where a command runs. The attack: the model chooses another directory, and the hook judges the
/// command in that of the session.
#[test]
fn a_command_of_codex_is_denied_unless_a_person_says_where_it_runs() {
    let project = project();
    let words = ["codex", "--agent", "codex", "--config", "agents.toml", "--state", "state"];
    let text = event(&project, "PreToolUse", "ls", None);
    ask(&project, &words, text.clone()).is_no("--assume-directory");
    let answered = ask(&project, &[&words[..], &["--assume-directory"]].concat(), text);
    assert_eq!((answered.code, &answered.json), (0, &Value::Null), "{answered:?}");
}

/// The attack: a tool leaves out white space around a path, and reads another file than the one that was judged.
#[test]
fn a_path_with_white_space_around_it_is_denied() {
    let project = project();
    for path in [" /etc/passwd", "\t~/.ssh", "\u{a0}/etc", "/etc/passwd ", "\u{feff}/etc", "\n/etc"] {
        let mut call: serde_json::Value = serde_json::from_str(&event(&project, "PreToolUse", "", None)).unwrap();
        for (tool, field) in [("Grep", "path"), ("Read", "file_path"), ("Glob", "pattern")] {
            call["tool_name"] = json!(tool);
            call["tool_input"] = json!({ "pattern": "." });
            call["tool_input"][field] = json!(path);
            ask(&project, &claude(&OWN), call.to_string()).is_no("white space");
        }
    }
}
