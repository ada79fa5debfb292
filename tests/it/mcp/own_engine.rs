//! The real `bestow mcp` with an engine of its own.
#![cfg(feature = "cli")]

use std::{path::Path, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, Command},
};

use super::client::{Client, LONGEST_WAIT};
use crate::{http::project::Project, support::BESTOW};

/// A running `bestow mcp`.
pub(super) struct Mcp {
    pub(super) client: Client,
    pub(super) child: Child,
    stderr: ChildStderr,
}

impl Mcp {
    pub(super) fn start(directory: &Path, words: &[&str]) -> Mcp {
        let mut command = Command::new(BESTOW);
        command.arg("mcp").args(words).current_dir(directory).kill_on_drop(true);
        command.env_remove("BESTOW_URL").env_remove("BESTOW_TOKEN");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let stderr = child.stderr.take().unwrap();
        Mcp { client, child, stderr }
    }

    /// Starts it, and does the handshake.
    pub(super) async fn greeted(directory: &Path, words: &[&str]) -> Mcp {
        let mut mcp = Mcp::start(directory, words);
        mcp.client.greet("2025-06-18").await;
        mcp
    }

    /// Returns the exit code, and the text on standard error, after standard input has ended.
    pub(super) async fn end(self) -> (Option<i32>, String) {
        let Mcp { client, mut child, mut stderr } = self;
        drop(client);
        let ended = async {
            let mut told = String::new();
            stderr.read_to_string(&mut told).await.unwrap();
            (child.wait().await.unwrap().code(), told)
        };
        tokio::time::timeout(LONGEST_WAIT, ended).await.expect("it ends")
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }
}

const OWN: [&str; 4] = ["--agent", "bot", "--config", "agents.toml"];

#[tokio::test]
async fn an_agent_is_served_on_standard_input_and_output() {
    let project = Project::new();
    let mut mcp = Mcp::greeted(project.path(), &OWN).await;
    let held = mcp.client.ok("check_permission", json!({ "permissions": ["@network"] })).await;
    assert_eq!(held["results"][0]["held"], "not_held");
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let waiting = mcp.client.ok("request_permission", asked).await;
    let code = waiting["code"].as_str().unwrap().to_owned();
    // A person answers on the command line, through the control socket of this engine.
    let answered = project.bestow(&["approve", "--state", "state", "--token-file", "state/approver-token", &code]);
    assert!(answered.status.success(), "{}", String::from_utf8_lossy(&answered.stderr));
    let ended =
        mcp.client.ok("await_permission", json!({ "request_id": waiting["request_id"], "wait_seconds": 50 })).await;
    assert_eq!(ended["status"], "granted");
    assert_eq!(mcp.end().await, (Some(0), String::new()));
}

#[tokio::test]
async fn a_signal_ends_it_with_code_0() {
    let project = Project::new();
    for signal in [Signal::TERM, Signal::INT] {
        let mcp = Mcp::greeted(project.path(), &OWN).await;
        mcp.signal(signal);
        assert_eq!(mcp.end().await, (Some(0), String::new()), "{signal:?}");
    }
}

#[tokio::test]
async fn what_waits_survives_a_kill_and_is_no_yes() {
    let project = Project::new();
    let mut mcp = Mcp::greeted(project.path(), &OWN).await;
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let id = mcp.client.ok("request_permission", asked).await["request_id"].clone();
    mcp.client.begin_call("await_permission", json!({ "request_id": id, "wait_seconds": 50 })).await;
    mcp.signal(Signal::KILL);
    assert_eq!(mcp.client.hear().await, None, "a call that waited has no answer");
    let mut again = Mcp::greeted(project.path(), &OWN).await;
    assert_eq!(again.client.ok("await_permission", json!({ "request_id": id })).await["status"], "pending");
}

#[tokio::test]
async fn a_server_on_the_state_directory_is_named_with_the_way_to_it() {
    let mut project = Project::new();
    project.serve();
    let (code, told) = Mcp::start(project.path(), &OWN).end().await;
    assert_eq!(code, Some(1));
    for named in ["state/server.json", "--token-file", "--role agent --agent bot", &project.address().to_string()] {
        assert!(told.contains(named), "{named}: {told}");
    }
}

#[tokio::test]
async fn a_second_client_on_the_state_directory_is_told_to_use_a_server() {
    let project = Project::new();
    let first = Mcp::greeted(project.path(), &OWN).await;
    let (code, told) = Mcp::start(project.path(), &OWN).end().await;
    assert!(code == Some(1) && told.contains("bestow serve"), "{told}");
    assert_eq!(first.end().await.0, Some(0));
}

#[tokio::test]
async fn settings_that_are_wrong_end_it_with_the_reason() {
    let project = Project::new();
    for (words, code, named) in [
        (&["--agent", "nobody", "--config", "agents.toml"][..], 1, "nobody"),
        (&["--agent", "bot"], 64, "--config"),
        (&["--agent", "bot", "--config", "nothing.toml"], 1, "nothing.toml"),
        (&["--agent", "bot", "--url", "http://127.0.0.1:1"], 64, "--url"),
        (&["--agent", "two words"], 64, "--agent"),
        (&["--state", "state", "--token-file", "token"], 64, "--state"),
        (&["--token-file", "token", "--elicit"], 64, "--elicit"),
        (&[], 1, "--token-file"),
        (&["--token-file", "nothing"], 1, "nothing"),
    ] {
        let (found, told) = Mcp::start(project.path(), words).end().await;
        assert_eq!(found, Some(code), "{words:?}: {told}");
        assert!(told.contains(named), "{words:?}: {told}");
    }
}
