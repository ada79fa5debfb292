//! A thousand subscribers: the time until a request is on their screens, and until a decision is at the agent.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    connection::{Connection, post},
    figures::Figures,
    server::Server,
    socket::Socket,
};

/// The number of subscribers.
const SUBSCRIBERS: usize = 1_000;

/// The sockets of one credential. More are refused.
const SOCKETS: usize = 32;

/// The requests, one after the other.
const REQUESTS: usize = 100;

/// The subscribers of a server. Each tells when a text arrives.
struct Crowd {
    arrivals: mpsc::UnboundedReceiver<Instant>,
    tasks: JoinSet<()>,
}

impl Crowd {
    fn of(sockets: Vec<Socket>) -> Crowd {
        let (arrived, arrivals) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        for mut socket in sockets {
            let arrived = arrived.clone();
            tasks.spawn(async move { while arrived.send(socket.next().await.0).is_ok() {} });
        }
        Crowd { arrivals, tasks }
    }

    /// Waits for one text at each subscriber. Returns the times from `since` on, the shortest first.
    async fn all(&mut self, since: Instant) -> Vec<Duration> {
        let mut times = Vec::with_capacity(self.tasks.len());
        while times.len() < self.tasks.len() {
            times.push(self.arrivals.recv().await.unwrap() - since);
        }
        times.sort();
        times
    }
}

/// The times of one kind of steps.
#[derive(Default)]
struct Times {
    /// Of every subscriber.
    all: Vec<Duration>,
    /// Of the last subscriber of each step.
    last: Vec<Duration>,
}

impl Times {
    fn add(&mut self, step: Vec<Duration>) {
        self.last.extend(step.last());
        self.all.extend(step);
    }

    fn print(self, what: &str) {
        println!("  {what:55} {}", Figures::of(self.all));
        println!("  {:55} {}", "  the last of the subscribers", Figures::of(self.last));
    }
}

/// Prints the times with a thousand subscribers.
pub(crate) async fn measure() {
    println!("{SUBSCRIBERS} subscribers");
    bare().await;
    all_of_one_run().await;
    one_of_a_run().await;
}

/// Opens the sockets of a person that are subscribed to `run`.
async fn subscribed(server: &Server, run: &str, count: usize) -> Vec<Socket> {
    let mut sockets = Vec::with_capacity(count);
    while sockets.len() < count {
        let token = server.approver();
        for _ in 0..SOCKETS.min(count - sockets.len()) {
            let mut socket = Socket::open(server.address, "/ws", &token).await;
            socket.say(&json!({ "type": "subscribe", "runId": run }).to_string()).await;
            // The answer to a wrong message shows that the right one was heard.
            socket.say("{\"type\":\"nonsense\"}").await;
            socket.next().await;
            sockets.push(socket);
        }
    }
    sockets
}

/// Every subscriber watches the run: each request and each end goes to all of them.
async fn all_of_one_run() {
    let server = Server::bestow();
    let (mut person, run) = prepared(&server, "bot0").await;
    let mut crowd = Crowd::of(subscribed(&server, &run, SUBSCRIBERS).await);
    let mut host = Socket::open(server.address, "/ws", &server.agent("bot0")).await;
    let (mut shown, mut unblocked, mut ended) = (Times::default(), Vec::new(), Times::default());
    for number in 0..REQUESTS {
        let asked = ask(&mut host, number).await;
        shown.add(crowd.all(asked).await);
        let (decided, result) = decide(&mut person, &mut host, &run).await;
        unblocked.push(result - decided);
        ended.add(crowd.all(decided).await);
    }
    println!("  each of them watches the run:");
    shown.print("from `authorize` of the agent to the request on a screen");
    println!("  {:55} {}", "from a decision to the result at the agent", Figures::of(unblocked));
    ended.print("from a decision to the end on a screen");
}

/// Every subscriber but one watches another run.
async fn one_of_a_run() {
    let server = Server::bestow();
    let (_person, other) = prepared(&server, "bot1").await;
    let _others = Crowd::of(subscribed(&server, &other, SUBSCRIBERS - 1).await);
    let (mut person, run) = prepared(&server, "bot0").await;
    let mut host = Socket::open(server.address, "/ws", &server.agent("bot0")).await;
    let (mut shown, mut unblocked) = (Vec::new(), Vec::new());
    for number in 0..REQUESTS * 10 {
        let asked = ask(&mut host, number).await;
        let (at, request) = person.next_of("request_permission").await;
        shown.push(at - asked);
        let (decided, result) = answer(&mut person, &mut host, &run, &request).await;
        unblocked.push(result - decided);
        person.next_of("request_resolved").await;
    }
    println!("  one of them watches the run, the others watch another run of the same person:");
    println!("  {:55} {}", "from `authorize` of the agent to the request on a screen", Figures::of(shown));
    println!("  {:55} {}", "from a decision to the result at the agent", Figures::of(unblocked));
}

/// One message goes to a thousand sockets, without any work.
async fn bare() {
    let server = Server::bare();
    let mut sockets = Vec::with_capacity(SUBSCRIBERS);
    for _ in 0..SUBSCRIBERS {
        sockets.push(Socket::open(server.address, "/ws", "none").await);
    }
    let mut crowd = Crowd::of(sockets);
    let mut connection = Connection::open(server.address).await;
    let (request, mut told) = (post("/tell", "none", ""), Times::default());
    for _ in 0..REQUESTS {
        let started = Instant::now();
        connection.call(&request).await;
        told.add(crowd.all(started).await);
    }
    told.print("axum alone: from a call to a message at each socket");
}

/// Returns the socket of a person, and the run into which the person put the agent.
async fn prepared(server: &Server, agent: &str) -> (Socket, String) {
    let mut person = Socket::open(server.address, "/ws", &server.approver()).await;
    person.say(&json!({ "type": "prepare_run", "agents": [agent] }).to_string()).await;
    let prepared = person.next_of("run_prepared").await.1;
    (person, prepared["runId"].as_str().unwrap().to_owned())
}

/// Lets the agent ask about a command. Returns the time when it asked.
async fn ask(host: &mut Socket, number: usize) -> Instant {
    let resource = format!("node script{number}.js --port {number}");
    let asked = Instant::now();
    host.say(&json!({ "type": "authorize", "operation": "command.execute", "resource": resource }).to_string()).await;
    host.next_of("authorize_result").await;
    asked
}

/// Lets the person decide about the next request. Returns the time of the decision, and the time when the agent had it.
async fn decide(person: &mut Socket, host: &mut Socket, run: &str) -> (Instant, Instant) {
    let request = person.next_of("request_permission").await.1;
    let times = answer(person, host, run, &request).await;
    person.next_of("request_resolved").await;
    times
}

async fn answer(person: &mut Socket, host: &mut Socket, run: &str, request: &serde_json::Value) -> (Instant, Instant) {
    let decision = json!({
        "type": "permission_decision",
        "runId": run,
        "permissionRequestId": request["requestId"],
        "decision": "allow",
    });
    let decided = Instant::now();
    person.say(&decision.to_string()).await;
    (decided, host.next_of("permission_result").await.0)
}

/// Prints the memory of a server for each subscriber that waits.
pub(crate) async fn memory() {
    println!("memory of the server for each idle subscriber, of {SUBSCRIBERS}");
    let server = Server::bestow();
    let run = prepared(&server, "bot0").await.1;
    let _first = subscribed(&server, &run, SOCKETS).await;
    let before = server.memory();
    let _more = subscribed(&server, &run, SUBSCRIBERS).await;
    grown("/ws", &server, before);
    for path in ["/ws/permissions", "/v1/events/ws"] {
        let server = Server::bestow();
        let (_first, before) = (listening(&server, path, SOCKETS).await, server.memory());
        let _more = listening(&server, path, SUBSCRIBERS).await;
        grown(path, &server, before);
    }
    let server = Server::bare();
    let mut sockets = vec![Socket::open(server.address, "/ws", "none").await];
    let before = server.memory();
    for _ in 0..SUBSCRIBERS {
        sockets.push(Socket::open(server.address, "/ws", "none").await);
    }
    grown("axum alone", &server, before);
}

/// Opens sockets that listen to everything of a person.
async fn listening(server: &Server, path: &str, count: usize) -> Vec<Socket> {
    let mut sockets = Vec::with_capacity(count);
    while sockets.len() < count {
        let token = server.approver();
        for _ in 0..SOCKETS.min(count - sockets.len()) {
            sockets.push(Socket::open(server.address, path, &token).await);
        }
    }
    sockets
}

fn grown(what: &str, server: &Server, before: u64) {
    let each = (server.memory() - before) as f64 / SUBSCRIBERS as f64 / 1024.0;
    println!("  {what:16} {each:5.1} KiB");
}
