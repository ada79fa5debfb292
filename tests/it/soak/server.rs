//! The clients of a server: they give and revoke, ask and answer, come and go, and break off.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_tungstenite::tungstenite::Message;

use super::{
    super::http::{
        client::{Events, Reply, Socket, call},
        project::Project,
    },
    Times, policy,
};

/// The number of attempts to open a socket or a stream.
const MOST_TRIES: usize = 2_000;

/// The clients of one server.
#[derive(Clone)]
pub(super) struct Clients {
    address: SocketAddr,
    directory: PathBuf,
    you: String,
    asker: String,
    bot: String,
    pub(super) times: Times,
}

/// The running clients.
pub(super) struct Load {
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Load {
    /// Returns true if a client has ended before its time.
    pub(super) fn is_ended(&mut self) -> bool {
        self.tasks.try_join_next().is_some()
    }

    /// Lets each client end its step.
    pub(super) async fn stop(mut self) {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
    }
}

impl Clients {
    /// Starts the server of a project, and creates the credentials.
    pub(super) fn of(project: &mut Project) -> Clients {
        let of = |agent: &str| project.token(&["--role", "agent", "--agent", agent]);
        let (you, asker, bot) = (project.approver(), of("asker"), of("bot"));
        project.serve();
        let (address, directory) = (project.address(), project.path().to_owned());
        Clients { address, directory, you, asker, bot, times: Times::default() }
    }

    pub(super) fn start(&self) -> Load {
        let (mut tasks, (stop, _)) = (JoinSet::new(), watch::channel(false));
        macro_rules! again_and_again {
            ($($name:ident each $millis:literal ms),*) => {$({
                let (clients, stopped) = (Arc::new(self.clone()), stop.subscribe());
                tasks.spawn(async move {
                    let mut tick = interval(Duration::from_millis($millis));
                    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
                    let mut step = 0;
                    while !*stopped.borrow() {
                        tick.tick().await;
                        clients.$name(step).await;
                        step += 1;
                    }
                });
            })*};
        }
        again_and_again!(
            gives_and_revokes each 100 ms,
            asks_and_answers each 100 ms,
            classifies each 50 ms,
            subscribes each 200 ms,
            streams each 200 ms,
            dies each 200 ms,
            reloads each 250 ms
        );
        Load { tasks, stop }
    }

    async fn send(&self, token: &str, method: &str, path: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", &*bearer), ("content-type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let began = Instant::now();
        let reply = call(self.address, method, path, &headers, &body).await;
        self.times.add(began);
        // On a busy machine, a request may end before its answer comes.
        let is_late = reply.status == 409 && reply.body.contains("has already ended: expired");
        assert!(reply.status < 300 || is_late, "{method} {path} {body}: {reply:?}");
        reply
    }

    async fn gives_and_revokes(&self, step: u64) {
        let permission = format!("@write:/srv/given/{step}");
        let body = json!({ "agentId": "granted", "permissions": [permission], "reason": "r", "scope": "always" });
        let given = self.send(&self.you, "POST", "/v1/grants", &body).await;
        let path = format!("/v1/grants/{}", given.json["grantIds"][0].as_str().unwrap());
        self.send(&self.you, "DELETE", &path, &Value::Null).await;
    }

    async fn asks_and_answers(&self, step: u64) {
        let body = json!({ "permissions": [format!("@write:/srv/asked/{step}")], "reason": "r" });
        let asked = self.send(&self.asker, "POST", "/v1/requests", &body).await;
        let path = format!("/v1/requests/{}", asked.json["id"].as_str().unwrap());
        match step % 3 {
            0 => drop(self.send(&self.asker, "DELETE", &path, &Value::Null).await),
            1 => drop(self.send(&self.you, "POST", &format!("{path}/answer"), &json!({ "decision": "deny" })).await),
            _ => {
                let answer = json!({ "decision": "allow", "scope": "always" });
                self.send(&self.you, "POST", &format!("{path}/answer"), &answer).await;
                let held = self.send(&self.asker, "GET", "/v1/grants", &Value::Null).await;
                for grant in held.json["grants"].as_array().unwrap() {
                    let path = format!("/v1/grants/{}", grant["id"].as_str().unwrap());
                    self.send(&self.you, "DELETE", &path, &Value::Null).await;
                }
            }
        }
    }

    async fn classifies(&self, _: u64) {
        let body = json!({ "toolName": "bash", "toolInput": { "command": "ls -la src" } });
        self.send(&self.bot, "POST", "/api/hooks/classify", &body).await;
    }

    /// Opens a socket. A credential has a limited number of sockets, and a busy server learns late that one is gone.
    async fn socket(&self, token: &str) -> Socket {
        let bearer = format!("Bearer {token}");
        for _ in 0..MOST_TRIES {
            match Socket::open(self.address, "/ws", &[("authorization", &bearer)]).await {
                Ok(socket) => return socket,
                Err(status) => assert_eq!(status, 429),
            }
        }
        panic!("the places of sockets do not become free");
    }

    /// A program subscribes, hears something, and is gone without a word.
    async fn subscribes(&self, _: u64) {
        let mut you = self.socket(&self.you).await;
        you.say(&json!({ "type": "subscribe", "runId": "nowhere", "requestId": "heard" }).to_string()).await;
        you.next().await.unwrap();
    }

    async fn streams(&self, _: u64) {
        let bearer = format!("Bearer {}", self.you);
        for _ in 0..MOST_TRIES {
            match Events::open(self.address, "/v1/events", &[("authorization", &bearer)]).await {
                Ok(mut events) => return assert!(events.next().await.is_some()),
                Err(reply) => assert_eq!(reply.status, 429, "{reply:?}"),
            }
        }
        panic!("the places of streams do not become free");
    }

    /// A bot asks, and dies before anybody answers.
    async fn dies(&self, step: u64) {
        let mut bot = self.socket(&self.bot).await;
        let command = format!("node {step}.js");
        let ask = json!({ "type": "authorize", "operation": "command.execute", "resource": command });
        bot.send(Message::text(ask.to_string())).await.unwrap();
        assert!(bot.next().await.is_ok());
    }

    async fn reloads(&self, step: u64) {
        let next = self.directory.join("next.toml");
        std::fs::write(&next, policy(step)).unwrap();
        std::fs::rename(next, self.directory.join("agents.toml")).unwrap();
    }
}
