//! The time of `/api/hooks/classify`, from the request of a hook to the answer.

use std::{
    fs::File,
    io::Write,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    connection::{Connection, post},
    figures::Figures,
    server::{Server, directory},
};

/// The calls of each kind, for each agent.
const CALLS: usize = 2_000;

/// Commands of which the engine decides at once.
const COMMANDS: [(&str, &str); 3] = [
    ("allowed: ls -la", "ls -la"),
    ("allowed: a pipeline of four", "cat src/main.rs | grep -n todo | sort -u | head -5"),
    ("blocked: rm -rf /", "rm -rf /"),
];

/// Prints the times of each kind of calls: of one agent, and of four at once.
pub(crate) async fn measure() {
    println!("/api/hooks/classify over keep-alive, each decision stored on the disk before the answer");
    println!("  for comparison: one append and `fdatasync`   {}", Figures::of(syncs()));
    for agents in [1, 4] {
        let server = Server::bestow();
        let hooks: Vec<_> = (0..agents).map(|number| server.agent(&format!("bot{number}"))).collect();
        for (what, command) in COMMANDS {
            let mut running = JoinSet::new();
            for token in &hooks {
                running.spawn(decided(Hook::open(&server, token).await, command));
            }
            print(agents, what, running.join_all().await.concat());
        }
        let mut running = JoinSet::new();
        for token in &hooks {
            running.spawn(queued(Hook::open(&server, token).await, Hook::open(&server, &server.approver()).await));
        }
        let (waiting, approved): (Vec<_>, Vec<_>) = running.join_all().await.into_iter().unzip();
        print(agents, "queued for a person", waiting.concat());
        print(agents, "allowed: approved before", approved.concat());
    }
}

/// Returns the times of synced appends of a record's size.
fn syncs() -> Vec<Duration> {
    let directory = directory();
    let mut file = File::create(directory.path().join("raw")).unwrap();
    let mut sync = || {
        let started = Instant::now();
        file.write_all(&[b'.'; 1_000]).unwrap();
        file.sync_data().unwrap();
        started.elapsed()
    };
    (0..CALLS).map(|_| sync()).collect()
}

fn print(agents: usize, what: &str, times: Vec<Duration>) {
    println!("  {agents} at once, {what:28} {}", Figures::of(times));
}

/// A client with its connection.
struct Hook {
    connection: Connection,
    token: String,
}

impl Hook {
    async fn open(server: &Server, token: &str) -> Hook {
        Hook { connection: Connection::open(server.address).await, token: token.to_owned() }
    }

    /// Asks about a command. Returns the time until the answer, and the answer.
    async fn ask(&mut self, command: &str) -> (Duration, Value) {
        let body = json!({ "toolName": "bash", "toolInput": { "command": command } });
        self.call("/api/hooks/classify", &body).await
    }

    async fn call(&mut self, path: &str, body: &Value) -> (Duration, Value) {
        let request = post(path, &self.token, &body.to_string());
        let started = Instant::now();
        let answer = self.connection.call(&request).await;
        (started.elapsed(), serde_json::from_slice(answer).unwrap())
    }
}

async fn decided(mut hook: Hook, command: &str) -> Vec<Duration> {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        times.push(hook.ask(command).await.0);
    }
    times
}

/// Asks about commands that a person approves, each another one. Returns the times of the first call of each, and of
/// the second one, after the approval.
async fn queued(mut hook: Hook, mut person: Hook) -> (Vec<Duration>, Vec<Duration>) {
    let mut times = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
    for number in 0..CALLS {
        let command = format!("node script{number}.js --port {number}");
        let (waiting, answer) = hook.ask(&command).await;
        person.call("/api/permissions", &json!({ "requestId": answer["requestId"], "decision": "approve" })).await;
        let (approved, answer) = hook.ask(&command).await;
        assert_eq!(answer["allow"], true, "{answer}");
        times.0.push(waiting);
        times.1.push(approved);
    }
    times
}
