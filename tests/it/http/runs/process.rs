//! Runs of `bestow serve` as a process of its own, with bots from `agents.toml`.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{say, subscribe};
use crate::http::{client::Socket, project::Project};

const POLICY: &str = r#"
[defaults]
owner = "you"
working_dir = "."

[agents.bot]
kind = "subagent"
permissions = ["@write:out"]
command = ["sh", "bot.sh"]
"#;

/// A bot that asks about a command, and says how that ended.
const BOT: &str = r#"
read -r hello
echo '{"type":"authorize","operation":"command.execute","resource":"node build.js"}'
while read -r line; do
    case "$line" in *'"type":"permission_result"'*'granted'*) echo '{"type":"message","text":"built"}'; exit 0 ;; esac
done
"#;

/// A bot that writes where its agent may and where it may not, and says what worked.
const WRITES: &str = r#"
read -r hello
if echo inside > out/file; then inside=yes; else inside=no; fi
if echo outside > elsewhere; then outside=yes; else outside=no; fi
echo "{\"type\":\"message\",\"text\":\"$inside $outside\"}"
"#;

async fn next_of(socket: &mut Socket, kind: &str) -> Value {
    loop {
        let frame = socket.next().await.unwrap();
        if frame["type"] == kind {
            return frame;
        }
        assert_ne!(frame["type"], "error", "{frame}");
    }
}

async fn start(socket: &mut Socket) -> String {
    say(socket, json!({ "type": "prepare_run" })).await;
    let run = next_of(socket, "run_prepared").await["runId"].as_str().unwrap().to_owned();
    say(socket, json!({ "type": "start_run", "runId": run })).await;
    run
}

#[tokio::test]
async fn a_bot_of_the_policy_file_runs_and_its_question_is_answered() {
    let mut project = Project::new();
    project.policy(POLICY);
    std::fs::write(project.path().join("bot.sh"), BOT).unwrap();
    std::fs::create_dir(project.path().join("out")).unwrap();
    let token = project.approver();
    project.serve();
    let mut you = project.socket(&token).await;
    let run = start(&mut you).await;
    let request = next_of(&mut you, "request_permission").await["requestId"].clone();
    let decision =
        json!({ "type": "permission_decision", "runId": run, "permissionRequestId": request, "decision": "allow" });
    say(&mut you, decision).await;
    assert_eq!(next_of(&mut you, "agent_output").await["text"], "built");
    next_of(&mut you, "strategy_completed").await;
}

/// The server is killed while a bot waits for a person. Nothing that the bot left is approved, and the run is over.
#[tokio::test]
async fn after_a_kill_in_the_middle_of_a_run_the_run_is_over_and_can_be_started_again() {
    let mut project = Project::new();
    project.policy(POLICY);
    std::fs::write(project.path().join("bot.sh"), BOT).unwrap();
    std::fs::create_dir(project.path().join("out")).unwrap();
    let token = project.approver();
    project.serve();
    let mut you = project.socket(&token).await;
    let run = start(&mut you).await;
    let request = next_of(&mut you, "request_permission").await["requestId"].clone();
    project.end(Signal::KILL);
    assert!(you.next().await.is_err());
    project.serve();
    let mut you = project.socket(&token).await;
    // The run had nothing bound to it but the request, which still waits under its id.
    subscribe(&mut you, &run).await;
    let waiting = you.next().await.unwrap();
    assert_eq!((&waiting["type"], &waiting["requestId"]), (&json!("request_permission"), &request));
    say(&mut you, json!({ "type": "stop_run", "runId": run })).await;
    assert_eq!(next_of(&mut you, "request_resolved").await["outcome"], "cancelled");
    assert_eq!(next_of(&mut you, "strategy_error").await["code"], "CANCELLED");
    start(&mut you).await;
    next_of(&mut you, "request_permission").await;
}

/// A file that says nothing about it has a confined bot.
#[tokio::test]
async fn a_bot_writes_only_where_its_agent_may() {
    let mut project = Project::new();
    std::fs::write(project.path().join("bot.sh"), WRITES).unwrap();
    std::fs::create_dir(project.path().join("out")).unwrap();
    let token = project.approver();
    for sandbox in ["", "sandbox = true\n"] {
        project.policy(&format!("{POLICY}{sandbox}"));
        project.serve();
        let mut you = project.socket(&token).await;
        start(&mut you).await;
        let output = loop {
            let output = next_of(&mut you, "agent_output").await;
            if output["stream"] == "message" {
                break output;
            }
        };
        assert_eq!(output["text"], "yes no", "{sandbox}");
        next_of(&mut you, "strategy_completed").await;
        project.end(Signal::TERM);
        assert!(project.path().join("out/file").exists());
        assert!(!project.path().join("elsewhere").exists());
    }
}
