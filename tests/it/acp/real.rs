//! Other implementations of the protocol, as `scripts/counterparts/acp` installs them.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tokio::process::Command;

use super::process::{POLICY, Process, own, project};
use crate::{
    hosts::real::model::{Dialect, Model},
    http::project::Project,
    support::{BESTOW, ROOT},
};

/// The example agent of the SDK in TypeScript.
const AGENT: &str = "sdk/node_modules/@agentclientprotocol/sdk/dist/examples/agent.js";

/// The example client of the SDK in TypeScript.
const CLIENT: &str = "sdk/node_modules/@agentclientprotocol/sdk/dist/examples/client.js";

/// The adapter of Claude Code.
const CLAUDE: &str = "claude/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";

/// The example client of the SDK in Rust. It allows everything.
const WILLING: &str = "rust/bin/yolo_one_shot_client";

/// Returns the path of a counterpart. None if it is not installed: then the test passes with a notice, except in CI.
fn counterpart(name: &str) -> Option<String> {
    let path = PathBuf::from(ROOT).join("target/counterparts/acp").join(name);
    if path.exists() {
        return Some(path.to_str().unwrap().to_owned());
    }
    assert!(std::env::var_os("CI").is_none(), "{name} is missing: run scripts/counterparts/acp");
    eprintln!("notice: not run, because {name} is missing: run scripts/counterparts/acp");
    None
}

/// A policy for the example agent: what it names as an edit is allowed or denied.
fn policy(permissions: &str, verdict: &str) -> String {
    let children = if verdict == "allow" { "children = true\n" } else { "" };
    format!(
        "{}\n[[agents.coder.rules]]\nverdict = \"{verdict}\"\ntool = \"acp.edit\"\n{children}",
        POLICY.replace("[\"@write:site\"]", permissions)
    )
}

/// Speaks with the example agent as an editor, up to its request or its end.
async fn until_asked(wrapper: &mut Process, cwd: &Path) -> Value {
    let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    wrapper.say(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
    assert_eq!(wrapper.hear().await["result"]["protocolVersion"], 1);
    let params = json!({ "cwd": cwd, "mcpServers": [] });
    wrapper.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params })).await;
    let session = wrapper.hear().await["result"]["sessionId"].clone();
    let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Go" }] });
    wrapper.say(&json!({ "jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params })).await;
    loop {
        let told = wrapper.hear().await;
        if told["method"] != "session/update" {
            return told;
        }
        assert_eq!(told["params"]["sessionId"], session);
        if told["params"]["update"]["rawOutput"]["success"] == true {
            return told;
        }
    }
}

#[tokio::test]
async fn the_example_agent_in_typescript_does_what_the_engine_allows() {
    let Some(agent) = counterpart(AGENT) else { return };
    let project = project();
    project.policy(&policy("[\"@write:/home/user/project\"]", "allow"));
    let mut wrapper = Process::start(&mut own(project.path(), &["--unanswered", "deny"], &["node", &agent]));
    let done = until_asked(&mut wrapper, project.path()).await;
    assert_eq!(done["params"]["update"]["rawOutput"]["success"], true, "{done}");
}

#[tokio::test]
async fn the_example_agent_in_typescript_leaves_what_the_engine_denies() {
    let Some(agent) = counterpart(AGENT) else { return };
    let project = project();
    project.policy(&policy("[\"@write:/home/user/project\"]", "deny"));
    let mut wrapper = Process::start(&mut own(project.path(), &[], &["node", &agent]));
    let done = until_asked(&mut wrapper, project.path()).await;
    assert_eq!(done["result"]["stopReason"], "end_turn", "it never asks the editor, and changes nothing: {done}");
}

#[tokio::test]
async fn the_example_agent_in_typescript_asks_the_editor_where_nobody_else_answers() {
    let Some(agent) = counterpart(AGENT) else { return };
    let project = project();
    let mut wrapper = Process::start(&mut own(project.path(), &[], &["node", &agent]));
    let asked = until_asked(&mut wrapper, project.path()).await;
    assert_eq!(asked["method"], "session/request_permission", "{asked}");
    let outcome = json!({ "outcome": "selected", "optionId": "allow" });
    wrapper.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "outcome": outcome } })).await;
    let done = wrapper.hear().await;
    assert_eq!(done["params"]["update"]["rawOutput"]["success"], true, "{done}");
}

/// A directory with a program `npx`, with which the example client in TypeScript starts its agent.
fn npx(directory: &Path, words: &[&str]) -> String {
    let bin = directory.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let words: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
    std::fs::write(bin.join("npx"), format!("#!/bin/sh\nexec {}\n", words.join(" "))).unwrap();
    std::fs::set_permissions(bin.join("npx"), std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

#[tokio::test]
async fn the_example_client_in_typescript_drives_the_wrapper_and_the_example_agent() {
    let (Some(agent), Some(client)) = (counterpart(AGENT), counterpart(CLIENT)) else { return };
    let project = project();
    project.policy(&policy("[\"@write:/home/user/project\"]", "allow"));
    let state = project.path().join("state");
    let config = project.path().join("agents.toml");
    let words = [BESTOW, "acp", "wrap", "--agent", "coder", "--config", config.to_str().unwrap(), "--state"];
    let words = [&words[..], &[state.to_str().unwrap(), "--unanswered", "deny", "--", "node", &agent]].concat();
    let mut command = Command::new("node");
    command.arg(client).env("PATH", npx(project.path(), &words)).current_dir(project.path());
    let (said, code, told) = Process::start(&mut command).end().await;
    assert_eq!(code, Some(0), "{told}");
    assert!(said.contains("successfully updated") && said.contains("end_turn"), "{said} {told}");
    assert!(!said.contains("Permission requested"), "the engine has answered: {said}");
}

#[tokio::test]
async fn the_willing_client_in_rust_is_not_asked_about_what_the_engine_denies() {
    let (Some(agent), Some(client)) = (counterpart(AGENT), counterpart(WILLING)) else { return };
    let project = project();
    for (verdict, end, is_asked) in
        [("deny", "prefer not to make that change", false), ("ask", "successfully updated", true)]
    {
        project.policy(&policy("[\"@write:/home/user/project\"]", verdict));
        let state = format!("state-{verdict}");
        let wrapped = format!("{BESTOW} acp wrap --agent coder --config agents.toml --state {state} -- node {agent}");
        let mut command = Command::new(&client);
        command.args(["--command", &wrapped, "Go"]).current_dir(project.path());
        let (said, code, told) = Process::start(&mut command).end().await;
        assert_eq!(code, Some(0), "{told}");
        assert!(said.contains(end), "{verdict}: {said} {told}");
        assert_eq!(told.contains("Auto-approving"), is_asked, "{told}");
    }
}

/// Lets the adapter of Claude Code make one call behind the wrapper, with a model that this test plays. Returns the
/// result of the tool for the model, the requests to the editor, and the remarks of the wrapper.
async fn called(adapter: &str, project: &Project, mode: &str, tool: &str, input: Value) -> (Value, usize, String) {
    let model = Model::calling(Dialect::Messages, tool, input);
    let home = project.path().join("home");
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    let settings = json!({ "permissions": { "defaultMode": mode } });
    std::fs::write(home.join(".claude/settings.json"), settings.to_string()).unwrap();
    let mut command = own(project.path(), &["--unanswered", "deny"], &["node", adapter]);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home);
    command.env("ANTHROPIC_API_KEY", "none").env("ANTHROPIC_BASE_URL", format!("http://{}", model.address));
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
    let mut wrapper = Process::start(&mut command);
    let (mut asked, mut session) = (0, Value::Null);
    let cwd = project.path().join("site");
    for (id, method) in ["initialize", "session/new", "session/prompt"].into_iter().enumerate() {
        let prompt = json!([{ "type": "text", "text": "go" }]);
        let params = match method {
            "initialize" => json!({ "protocolVersion": 1, "clientCapabilities": {} }),
            "session/new" => json!({ "cwd": cwd, "mcpServers": [] }),
            _ => json!({ "sessionId": session, "prompt": prompt }),
        };
        wrapper.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let answer = loop {
            let told = wrapper.hear().await;
            asked += usize::from(told["method"] == "session/request_permission");
            if told["id"] == id {
                break told;
            }
        };
        assert!(answer["error"].is_null(), "{answer}");
        session = answer["result"]["sessionId"].clone();
    }
    let (_, code, told) = wrapper.end().await;
    assert_eq!(code, Some(0), "{told}");
    (model.result(), asked, told)
}

/// The engine answers the request of a published agent, and the editor is not asked.
#[tokio::test]
async fn the_adapter_of_claude_code_makes_the_call_that_the_engine_allows_and_no_other() {
    let Some(adapter) = counterpart(CLAUDE) else { return };
    let project = project();
    std::fs::create_dir(project.path().join("site")).unwrap();
    let target = |name: &str| project.path().join(name);
    let write = |name: &str| json!({ "file_path": target(name), "content": "by the model" });
    let (result, asked, _) = called(&adapter, &project, "default", "Write", write("site/made")).await;
    assert_eq!(std::fs::read_to_string(target("site/made")).unwrap(), "by the model", "{result}");
    assert_eq!(asked, 0);
    let (result, asked, told) = called(&adapter, &project, "default", "Write", write("made")).await;
    assert!(
        result["is_error"] == true && !target("made").exists() && told.contains("refused `Write"),
        "{result} {told}"
    );
    assert_eq!(asked, 0);
    let destructive = json!({ "command": "rm -rf /", "description": "clean" });
    let (result, asked, told) = called(&adapter, &project, "default", "Bash", destructive).await;
    assert!(result["is_error"] == true && told.contains("Destructive command"), "{result} {told}");
    assert_eq!(asked, 0);
    let shown = project.bestow(&["audit", "show", "--state", "state", "--json"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("site/made") && shown.contains("rm -rf /"), "{shown}");
}

/// The trap: an agent decides for itself in another mode, and asks nobody.
#[tokio::test]
async fn the_adapter_of_claude_code_asks_nobody_in_a_mode_in_which_it_decides_itself() {
    let Some(adapter) = counterpart(CLAUDE) else { return };
    let project = project();
    std::fs::create_dir(project.path().join("site")).unwrap();
    let target = project.path().join("site/made");
    project.policy(&POLICY.replace("permissions = [\"@write:site\"]", "permissions = []"));
    let input = json!({ "file_path": target, "content": "x" });
    let (result, _, told) = called(&adapter, &project, "acceptEdits", "Write", input.clone()).await;
    assert!(target.exists() && !told.contains("refused"), "docs/acp.md says so: {result} {told}");
    std::fs::remove_file(&target).unwrap();
    let (result, _, told) = called(&adapter, &project, "default", "Write", input).await;
    assert!(!target.exists() && told.contains("refused"), "{result} {told}");
}

#[tokio::test]
async fn the_example_agent_in_rust_begins_behind_the_wrapper() {
    let Some(agent) = counterpart("rust/bin/simple_agent") else { return };
    let project = project();
    let mut wrapper = Process::start(&mut own(project.path(), &[], &[&agent]));
    let params = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    wrapper.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })).await;
    let told = wrapper.hear().await;
    assert_eq!((&told["id"], &told["result"]["protocolVersion"]), (&json!(1), &json!(1)), "{told}");
}

/// Starts a server with an approver, whose token is in a file.
fn with_approver() -> Project {
    let mut project = project();
    std::fs::write(project.path().join("mine"), project.approver()).unwrap();
    project.serve();
    project
}

/// The command line of the foreground agent of a project.
fn foreground(project: &Project) -> Vec<String> {
    let file = |name: &str| project.path().join(name).to_str().unwrap().to_owned();
    let words = ["acp", "agent", "--agent", "coder", "--ready-file"].map(str::to_owned);
    [&[BESTOW.to_owned()], &words[..], &[file("ready.json"), "--token-file".to_owned(), file("mine")]].concat()
}

#[tokio::test]
async fn the_example_client_in_typescript_is_told_what_waits() {
    let Some(client) = counterpart(CLIENT) else { return };
    let project = with_approver();
    let words = foreground(&project);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let mut command = Command::new("node");
    command.arg(client).env("PATH", npx(project.path(), &words)).current_dir(project.path());
    let (said, code, told) = Process::start(&mut command).end().await;
    assert_eq!(code, Some(0), "{told}");
    assert!(said.contains("No request waits") && said.contains("end_turn"), "{said} {told}");
}

#[tokio::test]
async fn the_willing_client_in_rust_answers_a_question_of_the_server_once() {
    let Some(client) = counterpart(WILLING) else { return };
    let project = with_approver();
    let agent = project.token(&["--role", "agent", "--agent", "coder"]);
    assert_eq!(project.classify(&agent, "make").await["allow"], false);
    let mut command = Command::new(client);
    command.args(["--command", &foreground(&project).join(" "), "watch"]).current_dir(project.path());
    let process = Process::start(&mut command);
    let approver = project.approver();
    while !project.pending(&approver).await.is_empty() {
        tokio::task::yield_now().await;
    }
    let allowed: Vec<_> = [project.classify(&agent, "make").await, project.classify(&agent, "make").await]
        .iter()
        .map(|answer| answer["allow"] == true)
        .collect();
    assert_eq!(allowed, [true, false], "it chose the option for one use");
    process.signal(rustix::process::Signal::KILL);
}
