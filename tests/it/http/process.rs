//! `bestow serve` and `bestow token`, as processes of their own.
#![cfg(feature = "cli")]

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Reply, call};
use crate::support::BESTOW;

const POLICY: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"
";

/// A project with a policy file, and the server of it.
pub(super) struct Project {
    directory: TempDir,
    server: Option<(Child, SocketAddr)>,
}

impl Project {
    pub(super) fn new() -> Project {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("agents.toml"), POLICY).unwrap();
        Project { directory, server: None }
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    fn bestow(&self, words: &[&str]) -> Output {
        Command::new(BESTOW).args(words).current_dir(self.path()).output().unwrap()
    }

    pub(super) fn json(&self, words: &[&str]) -> Value {
        let output = self.bestow(words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(super) fn token(&self, words: &[&str]) -> String {
        let words: Vec<_> = ["token", "create", "--json"].iter().chain(words).copied().collect();
        self.json(&words)["token"].as_str().unwrap().to_owned()
    }

    pub(super) fn agent(&self) -> String {
        self.token(&["--role", "agent", "--agent", "bot"])
    }

    pub(super) fn approver(&self) -> String {
        self.token(&["--role", "approver", "--owner", "you", "--by", "ann", "--expires", "30d"])
    }

    /// Starts the server, and returns when it says that it listens.
    pub(super) fn serve(&mut self) {
        let words = ["serve", "--state", "state", "--listen", "127.0.0.1:0", "--ready-file", "ready.json"];
        let mut command = Command::new(BESTOW);
        command.args(words).current_dir(self.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_slice(&std::fs::read(self.path().join("ready.json")).unwrap()).unwrap();
        let url = ready["url"].as_str().unwrap();
        assert_eq!(line, format!("listening on {url}\n"));
        assert_eq!(ready["pid"], child.id());
        self.server = Some((child, url.strip_prefix("http://").unwrap().parse().unwrap()));
    }

    /// Ends the server with a signal. Returns its exit code.
    fn end(&mut self, signal: Signal) -> Option<i32> {
        let (mut child, _) = self.server.take().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap().code()
    }

    async fn post(&self, token: &str, path: &str, body: &Value) -> Reply {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "application/json")];
        call(self.server.as_ref().unwrap().1, "POST", path, &headers, &body.to_string()).await
    }

    pub(super) async fn classify(&self, token: &str, command: &str) -> Value {
        let body = json!({ "toolName": "bash", "toolInput": { "command": command } });
        self.post(token, "/api/hooks/classify", &body).await.json
    }

    /// Reads a path of the server.
    pub(super) async fn get(&self, token: &str, path: &str) -> Reply {
        let address = self.server.as_ref().unwrap().1;
        call(address, "GET", path, &[("authorization", &format!("Bearer {token}"))], "").await
    }

    async fn pending(&self, token: &str) -> Vec<Value> {
        let reply = self.get(token, "/api/permissions").await;
        reply.json["pending"].as_array().unwrap().clone()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.server {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The server is killed while a request waits, and after an approval: both are there when it starts again.
#[tokio::test]
async fn what_waits_and_what_was_approved_survive_a_kill() {
    let mut project = Project::new();
    let (bot, you) = (project.agent(), project.approver());
    project.serve();
    let waiting = project.classify(&bot, "node a.js").await["requestId"].clone();
    let approved = project.classify(&bot, "node b.js").await["requestId"].clone();
    let body = json!({ "requestId": approved, "decision": "approve" });
    assert_eq!(project.post(&you, "/api/permissions", &body).await.status, 200);
    project.end(Signal::KILL);
    project.serve();
    let [item] = &project.pending(&you).await[..] else { panic!("one waits") };
    assert_eq!(item["id"], waiting, "with its id");
    assert_eq!(item["toolInput"], json!({ "command": "node a.js" }));
    assert_eq!(project.classify(&bot, "node b.js").await["allow"], true, "the approval was acknowledged");
    project.end(Signal::KILL);
    project.serve();
    assert_eq!(project.classify(&bot, "node b.js").await["allow"], false, "and it was used");
}

#[tokio::test]
async fn a_signal_ends_the_server_with_code_0_and_its_ready_file() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut project = Project::new();
        let bot = project.agent();
        project.serve();
        assert_eq!(project.classify(&bot, "ls").await["allow"], true);
        assert_eq!(project.end(signal), Some(0), "{signal:?}");
        assert!(!project.path().join("ready.json").exists());
    }
}

#[tokio::test]
async fn credentials_change_while_the_server_runs() {
    let mut project = Project::new();
    project.serve();
    let bot = project.agent();
    assert_eq!(project.classify(&bot, "ls").await["allow"], true, "created meanwhile");
    let listed = project.json(&["token", "list", "--json"]);
    let id = listed["credentials"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["credentials"][0]["agent"], "bot");
    let rotated = project.json(&["token", "rotate", &id, "--json"])["token"].as_str().unwrap().to_owned();
    assert_eq!(project.classify(&bot, "ls").await["allow"], false);
    assert_eq!(project.classify(&rotated, "ls").await["allow"], true);
    let revoked = project.bestow(&["token", "revoke", &id]);
    assert!(String::from_utf8_lossy(&revoked.stdout).contains("is revoked"), "{revoked:?}");
    assert_eq!(project.classify(&rotated, "ls").await["allow"], false);
}

#[test]
fn an_address_that_other_machines_reach_needs_a_statement() {
    let project = Project::new();
    let output = project.bestow(&["serve", "--state", "state", "--listen", "0.0.0.0:0"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && told.contains("--behind-tls-proxy"), "{told}");
}

#[test]
fn a_name_or_an_origin_that_can_match_nothing_is_refused() {
    let project = Project::new();
    for (option, value) in [
        ("--allow-host", ""),
        ("--allow-host", "a:80"),
        ("--allow-host", "http://a"),
        ("--allow-origin", "evil"),
        ("--allow-origin", "https://a/"),
        ("--allow-origin", "https://a:b"),
    ] {
        let output = project.bestow(&["serve", "--state", "state", option, value]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(64) && told.contains(option), "{option} {value}: {told}");
    }
}

#[test]
fn options_of_another_role_and_unknown_ids_are_errors_that_name_them() {
    let project = Project::new();
    for (words, code, named) in [
        (&["--role", "agent"][..], 64, "--agent"),
        (&["--role", "approver"], 64, "--owner"),
        (&["--role", "operator", "--agent", "bot"], 64, "--agent"),
        (&["--role", "agent", "--agent", "bot", "--owner", "you"], 64, "--owner"),
        (&["--role", "boss"], 64, "boss"),
        (&["--role", "agent", "--agent", "bot", "--expires", "0s"], 64, "--expires"),
        (&["--role", "agent", "--agent", "bot", "--name", "a\nb"], 1, "name"),
    ] {
        let all: Vec<_> = ["token", "create"].iter().chain(words).copied().collect();
        let output = project.bestow(&all);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && told.contains(named), "{words:?}: {output:?}");
    }
    for (words, named) in
        [(&["token", "revoke", "000000000000"][..], "000000000000"), (&["token", "rotate", "nonsense"], "12 digits")]
    {
        let output = project.bestow(words);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(named), "{words:?}: {told}");
    }
}
