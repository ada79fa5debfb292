//! The time of `/api/hooks/classify`, from the request of a hook to the answer.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    connection::{Connection, post},
    figures::Figures,
    server::Server,
};

/// The calls of each agent.
const CALLS: usize = 3_000;

/// A kind of calls: its name, and the command of a call.
type Kind = (&'static str, fn(usize) -> String);

/// Calls that are allowed, that are blocked, that are queued for a person, and a mixture.
const KINDS: [Kind; 4] = [
    ("allowed: ls -la", |_| "ls -la".to_owned()),
    ("blocked: rm -rf /", |_| "rm -rf /".to_owned()),
    ("a long pipeline", |_| "cat src/main.rs | grep -n todo | sort -u | head -5".to_owned()),
    ("queued, each another", |number| format!("node script{number}.js --port {number}")),
];

/// Prints the times of each kind of calls: of one agent, and of four at once.
pub(crate) async fn measure() {
    println!("/api/hooks/classify over keep-alive");
    for agents in [1, 4] {
        let server = Server::bestow();
        let tokens: Vec<_> = (0..agents).map(|number| server.agent(&format!("bot{number}"))).collect();
        for kind in KINDS {
            let mut running = JoinSet::new();
            for token in &tokens {
                running.spawn(calls(server.address, token.clone(), kind));
            }
            let figures = Figures::of(running.join_all().await.concat());
            println!("  {agents} agents, {:22} {figures}", kind.0);
        }
    }
}

async fn calls(address: SocketAddr, token: String, (_, command): Kind) -> Vec<Duration> {
    let mut connection = Connection::open(address).await;
    let mut times = Vec::with_capacity(CALLS);
    for number in 0..CALLS {
        let body = json!({ "toolName": "bash", "toolInput": { "command": command(number) } });
        let request = post("/api/hooks/classify", &token, &body.to_string());
        let started = Instant::now();
        connection.call(&request).await;
        times.push(started.elapsed());
    }
    times
}
