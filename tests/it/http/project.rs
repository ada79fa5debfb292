//! A project with a policy file, and `bestow serve` as a process of its own.
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

use super::client::{Reply, Socket, call};
use crate::support::{BESTOW, is_order};

/// The option with the secret of the project's state directory.
pub(crate) const SECRET: [&str; 2] = ["--token-file", "state/approver-token"];

const POLICY: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"
";

/// A project with a policy file, and the server of it.
pub(crate) struct Project {
    directory: TempDir,
    server: Option<(Child, SocketAddr)>,
}

impl Project {
    pub(crate) fn new() -> Project {
        let directory = tempfile::tempdir().unwrap();
        let project = Project { directory, server: None };
        project.policy(POLICY);
        project
    }

    /// Replaces the policy file.
    pub(crate) fn policy(&self, text: &str) {
        std::fs::write(self.path().join("agents.toml"), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn bestow(&self, words: &[&str]) -> Output {
        let mut command = Command::new(BESTOW);
        command.args(words).current_dir(self.path());
        // No terminal shows that a person is there, so an order of one needs the secret.
        if is_order(words) && !words.contains(&"--token-file") {
            command.args(SECRET);
        }
        command.output().unwrap()
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let output = self.bestow(words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn token(&self, words: &[&str]) -> String {
        let words: Vec<_> = ["token", "create", "--json"].iter().chain(words).copied().collect();
        self.json(&words)["token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn agent(&self) -> String {
        self.token(&["--role", "agent", "--agent", "bot"])
    }

    pub(crate) fn approver(&self) -> String {
        self.token(&["--role", "approver", "--owner", "you", "--by", "ann", "--expires", "30d"])
    }

    /// Starts the server, and returns when it says that it listens.
    pub(crate) fn serve(&mut self) {
        self.serve_at("127.0.0.1:0");
    }

    /// Starts the server at an address.
    pub(crate) fn serve_at(&mut self, address: &str) {
        self.serve_as(Command::new(BESTOW), address);
    }

    /// Starts the server by a command that ends with the program.
    pub(crate) fn serve_as(&mut self, mut command: Command, address: &str) {
        let words = ["serve", "--state", "state", "--listen", address, "--ready-file", "ready.json"];
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
    pub(crate) fn end(&mut self, signal: Signal) -> Option<i32> {
        let (mut child, _) = self.server.take().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap().code()
    }

    /// Returns the memory that the server occupies, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let id = self.server.as_ref().unwrap().0.id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
    }

    /// Returns the id of the server's process.
    pub(crate) fn process(&self) -> u32 {
        self.server.as_ref().unwrap().0.id()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().1
    }

    /// Opens `/ws` with a token.
    pub(crate) async fn socket(&self, token: &str) -> Socket {
        let headers = [("authorization", &*format!("Bearer {token}"))];
        Socket::open(self.address(), "/ws", &headers).await.unwrap()
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: &Value) -> Reply {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "application/json")];
        call(self.address(), "POST", path, &headers, &body.to_string()).await
    }

    pub(crate) async fn classify(&self, token: &str, command: &str) -> Value {
        let body = json!({ "toolName": "bash", "toolInput": { "command": command } });
        self.post(token, "/api/hooks/classify", &body).await.json
    }

    /// Reads a path of the server.
    pub(crate) async fn get(&self, token: &str, path: &str) -> Reply {
        call(self.address(), "GET", path, &[("authorization", &format!("Bearer {token}"))], "").await
    }

    pub(crate) async fn delete(&self, token: &str, path: &str) -> Reply {
        call(self.address(), "DELETE", path, &[("authorization", &format!("Bearer {token}"))], "").await
    }

    pub(crate) async fn pending(&self, token: &str) -> Vec<Value> {
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
