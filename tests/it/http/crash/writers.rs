//! The clients that write. Each notes what it asks for before it asks, and what it is told, and ends with its server.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;

use super::{
    super::{
        client::{Reply, Socket, whole_call},
        project::{Project, SECRET},
    },
    AGENTS,
    ledger::{About, Ledger},
    policy,
};

/// The most policies of each writer in one life. A run has a limited number.
const MOST_POLICIES: usize = 12;

/// The tokens of the clients.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    pub(super) operator: String,
    you: String,
    agents: BTreeMap<&'static str, String>,
}

impl Tokens {
    pub(super) fn of(&self, agent: &str) -> &str {
        &self.agents[agent]
    }
}

pub(super) fn tokens(project: &Project) -> Tokens {
    let of_agent = |agent: &'static str| (agent, project.token(&["--role", "agent", "--agent", agent]));
    Tokens {
        operator: project.token(&["--role", "operator"]),
        you: project.approver(),
        agents: AGENTS.into_iter().map(of_agent).collect(),
    }
}

/// A client in one life of the server. A function of it returns none when the server is gone.
pub(super) struct Writer {
    address: SocketAddr,
    directory: std::path::PathBuf,
    tokens: Tokens,
    ledger: Arc<Ledger>,
    life: usize,
}

/// Starts every writer, each in a task of its own.
pub(super) fn start(writer: &Arc<Writer>, all: &mut JoinSet<()>) {
    macro_rules! until_killed {
        ($($name:ident),*) => {$({
            let writer = Arc::clone(writer);
            all.spawn(async move {
                for step in 0.. {
                    if writer.$name(step).await.is_none() {
                        return;
                    }
                }
            });
        })*};
    }
    until_killed!(
        grants,
        questions,
        calls,
        modes,
        policies,
        policies_on_a_socket,
        sessions,
        credentials,
        agreements,
        enabled
    );
}

impl Writer {
    pub(super) fn new(project: &Project, tokens: Tokens, ledger: Arc<Ledger>, life: usize) -> Writer {
        Writer { address: project.address(), directory: project.path().to_owned(), tokens, ledger, life }
    }

    /// Sends a request. Returns none if no whole reply comes.
    async fn send(&self, token: &str, method: &str, path: &str, key: Option<&str>, body: &Value) -> Option<Reply> {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![("authorization", &*bearer), ("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let body = if method == "GET" { String::new() } else { body.to_string() };
        whole_call(self.address, method, path, &headers, &body).await
    }

    async fn post(&self, token: &str, path: &str, body: &Value) -> Option<Value> {
        let reply = self.send(token, "POST", path, None, body).await?;
        assert!(reply.status < 300, "{path} {body}: {reply:?}");
        Some(reply.json)
    }

    /// Gives a permission, repeats that with the same key, and sometimes revokes it.
    async fn grants(&self, step: usize) -> Option<()> {
        let permission = format!("@write:/srv/a/{}/{step}", self.life);
        let (about, key) = (About::Held("granted", permission.clone()), format!("k{}-{step}", self.life));
        let body = json!({ "agentId": "granted", "permissions": [permission], "reason": "r", "scope": "always" });
        self.ledger.asks(&about, "no", "yes");
        let once = || self.send(&self.tokens.you, "POST", "/v1/grants", Some(&key), &body);
        // The same write twice at the same time, and once again.
        let (one, other) = tokio::join!(once(), once());
        let done = [&one, &other].into_iter().flatten().find(|reply| reply.status == 201)?;
        self.ledger.told(&about, "yes");
        let again = once().await?;
        assert_eq!((again.status, &again.json), (201, &done.json), "{again:?}");
        if step % 2 == 1 {
            self.ledger.asks(&about, "yes", "no");
            let path = format!("/v1/grants/{}", done.json["grantIds"][0].as_str().unwrap());
            let reply = self.send(&self.tokens.you, "DELETE", &path, None, &json!({})).await?;
            assert_eq!(reply.status, 200, "{reply:?}");
            self.ledger.told(&about, "no");
        }
        Some(())
    }

    /// Asks for a permission, which a person gives or denies, or which the agent withdraws.
    async fn questions(&self, step: usize) -> Option<()> {
        let permission = format!("@write:/srv/b/{}/{step}", self.life);
        let held = About::Held("asker", permission.clone());
        self.ledger.asks(&held, "no", "no");
        let asked = self
            .post(self.tokens.of("asker"), "/v1/requests", &json!({ "permissions": [permission], "reason": "r" }))
            .await?;
        let id = asked["id"].as_str().unwrap().to_owned();
        let waits = About::Waits(id.clone());
        self.ledger.told(&waits, "yes");
        self.ledger.asks(&waits, "yes", "no");
        match step % 4 {
            0 | 1 => {
                self.ledger.asks(&held, "no", "yes");
                let answer = json!({ "decision": "allow", "scope": "always" });
                self.post(&self.tokens.you, &format!("/v1/requests/{id}/answer"), &answer).await?;
                self.ledger.told(&held, "yes");
            }
            2 => {
                self.post(&self.tokens.you, &format!("/v1/requests/{id}/answer"), &json!({ "decision": "deny" }))
                    .await?;
            }
            _ => {
                let path = format!("/v1/requests/{id}");
                let reply = self.send(self.tokens.of("asker"), "DELETE", &path, None, &json!({})).await?;
                assert_eq!(reply.status, 200, "{reply:?}");
            }
        }
        self.ledger.told(&waits, "no");
        Some(())
    }

    /// Asks about a call, which a person approves once or for good, and which is made or not.
    async fn calls(&self, step: usize) -> Option<()> {
        let command = format!("node c{}-{step}.js", self.life);
        let call = json!({ "toolName": "bash", "toolInput": { "command": command } });
        let asked = self.post(self.tokens.of("caller"), "/api/hooks/classify", &call).await?;
        assert_eq!(asked["allow"], false, "{command}: {asked}");
        let id = asked["requestId"].as_str().unwrap().to_owned();
        let waits = About::Waits(id.strip_prefix("hook_").unwrap().to_owned());
        self.ledger.told(&waits, "yes");
        let for_good = step % 3 == 2;
        let (scope, decision) = if for_good { ("always", "approve_always") } else { ("once", "approve") };
        let saved = About::Saved("caller", "allow", scope, command.clone());
        self.ledger.asks(&waits, "yes", "no");
        self.ledger.asks(&saved, "no", "yes");
        self.post(&self.tokens.you, "/api/permissions", &json!({ "requestId": id, "decision": decision })).await?;
        self.ledger.told(&waits, "no");
        self.ledger.told(&saved, "yes");
        if step % 3 == 1 {
            self.ledger.asks(&saved, "yes", "no");
            let used = self.post(self.tokens.of("caller"), "/api/hooks/classify", &call).await?;
            assert_eq!(used["allow"], true, "{command}: {used}");
            self.ledger.told(&saved, "no");
        }
        if for_good {
            let listed = self.send(&self.tokens.you, "GET", "/v1/decisions", None, &json!({})).await?.json;
            let listed = listed["savedDecisions"].as_array().unwrap().clone();
            let own = listed.iter().find(|saved| saved["resource"] == *command).expect("it is listed");
            self.ledger.asks(&saved, "yes", "no");
            let path = format!("/v1/decisions/{}", own["id"].as_str().unwrap());
            let reply = self.send(&self.tokens.you, "DELETE", &path, None, &json!({})).await?;
            assert_eq!(reply.status, 200, "{reply:?}");
            self.ledger.told(&saved, "no");
        }
        Some(())
    }

    async fn modes(&self, step: usize) -> Option<()> {
        let mode = ["plan", "never", "untrusted", "default"][step % 4];
        let about = About::Mode("moded");
        self.ledger.asks(&about, "default", mode);
        let reply = self.send(&self.tokens.you, "PUT", "/v1/agents/moded/mode", None, &json!({ "mode": mode })).await?;
        assert_eq!(reply.status, 200, "{reply:?}");
        self.ledger.told(&about, mode);
        Some(())
    }

    /// Returns the run of an agent.
    async fn run_of(&self, agent: &str) -> Option<String> {
        let path = format!("/v1/agents/{agent}");
        let reply = self.send(&self.tokens.operator, "GET", &path, None, &json!({})).await?;
        Some(reply.json["agent"]["runId"].as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned())
    }

    /// Waits until the server is gone.
    async fn rest(&self) -> Option<()> {
        let mut you = self.socket(&self.tokens.you).await?;
        while you.next().await.is_ok() {}
        None
    }

    /// Adds to the policies of a run.
    async fn policies(&self, step: usize) -> Option<()> {
        if step == MOST_POLICIES {
            return self.rest().await;
        }
        let run = self.run_of("guarded").await?;
        let glob = format!("/srv/d/{}/{step}/**", self.life);
        let about = About::Denies(glob.clone());
        self.ledger.asks(&about, "no", "yes");
        let patch = json!({ "tool": "write", "mode": "write", "deny": [glob] });
        let reply = self.send(&self.tokens.you, "PATCH", &format!("/v1/runs/{run}/policies"), None, &patch).await?;
        assert_eq!(reply.status, 200, "{reply:?}");
        self.ledger.told(&about, "yes");
        Some(())
    }

    async fn socket(&self, token: &str) -> Option<Socket> {
        Socket::opened(self.address, "/ws", &[("authorization", &format!("Bearer {token}"))]).await
    }

    /// Waits until the server has carried out everything that this socket said.
    async fn heard(socket: &mut Socket) -> Option<()> {
        say(socket, &json!({ "type": "subscribe", "runId": "nowhere", "requestId": "heard" })).await?;
        loop {
            let frame = socket.next().await.ok()?;
            if frame["requestId"] == "heard" {
                return Some(());
            }
            assert_ne!(frame["type"], "error", "{frame}");
        }
    }

    async fn policies_on_a_socket(&self, _: usize) -> Option<()> {
        let mut you = self.socket(&self.tokens.you).await?;
        let run = self.run_of("guarded").await?;
        for step in 0..MOST_POLICIES {
            let glob = format!("/srv/w/{}/{step}/**", self.life);
            let about = About::Denies(glob.clone());
            self.ledger.asks(&about, "no", "yes");
            say(
                &mut you,
                &json!({ "type": "update_policy", "runId": run, "tool": "read", "mode": "read", "deny": [glob] }),
            )
            .await?;
            Writer::heard(&mut you).await?;
            self.ledger.told(&about, "yes");
        }
        self.rest().await
    }

    /// A person denies and allows commands for the session.
    async fn sessions(&self, _: usize) -> Option<()> {
        let (mut you, mut host) = (self.socket(&self.tokens.you).await?, self.socket(self.tokens.of("judged")).await?);
        let run = self.run_of("judged").await?;
        say(&mut you, &json!({ "type": "subscribe", "runId": run })).await?;
        for step in 0_usize.. {
            let (verdict, decision) = [("deny", "deny-session"), ("allow", "allow-session")][step % 2];
            let command = format!("node s{}-{step}-{verdict}.js", self.life);
            let saved = About::Saved("judged", verdict, "session", command.clone());
            say(&mut host, &json!({ "type": "authorize", "operation": "command.execute", "resource": command }))
                .await?;
            let asked = next_of(&mut host, "authorize_result").await?;
            assert_eq!(asked["decision"], "ask", "{asked}");
            let id = asked["permissionRequestId"].as_str().unwrap().to_owned();
            self.ledger.asks(&saved, "no", "yes");
            let decided =
                json!({ "type": "permission_decision", "runId": run, "permissionRequestId": id, "decision": decision });
            say(&mut you, &decided).await?;
            let end = next_of(&mut host, "permission_result").await?;
            assert_eq!(end["permissionRequestId"], id);
            self.ledger.told(&saved, "yes");
        }
        None
    }

    /// Runs `bestow token`, which works with and without a server. None if the server was killed before it answered.
    async fn token(&self, words: &[&str]) -> Option<Value> {
        let mut command = tokio::process::Command::new(crate::support::BESTOW);
        command.arg("token").args(words).arg("--json").args(SECRET);
        command.current_dir(&self.directory);
        let output = command.output().await.unwrap();
        let is_killed = String::from_utf8_lossy(&output.stderr).contains("cannot be reached");
        assert!(output.status.success() || is_killed, "{words:?}: {output:?}");
        (!is_killed).then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Creates, rotates and revokes credentials.
    async fn credentials(&self, step: usize) -> Option<()> {
        let words = ["create", "--role", "approver", "--owner", "you", "--by", "bea"];
        let made = self.token(&words).await?;
        let (id, first) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap().to_owned());
        let about = |token: &str| About::Token(token.to_owned());
        self.ledger.told(&about(&first), "yes");
        match step % 3 {
            0 => {
                // The sender revokes its own credential over the wire.
                self.ledger.asks(&about(&first), "yes", "no");
                let reply = self.send(&first, "DELETE", "/v1/session", None, &json!({})).await?;
                assert_eq!(reply.status, 204, "{reply:?}");
                self.ledger.told(&about(&first), "no");
            }
            1 => {
                self.ledger.asks(&about(&first), "yes", "no");
                let next = self.token(&["rotate", id]).await?["token"].as_str().unwrap().to_owned();
                self.ledger.told(&about(&first), "no");
                self.ledger.told(&about(&next), "yes");
            }
            _ => {
                self.ledger.asks(&about(&first), "yes", "no");
                self.token(&["revoke", id]).await?;
                self.ledger.told(&about(&first), "no");
            }
        }
        // The server of this life may be gone: then so is this writer.
        self.send(&self.tokens.you, "GET", "/v1/session", None, &json!({})).await.map(drop)
    }

    /// Adds a line to the policy file, and agrees to it. Until then it gives nothing.
    async fn agreements(&self, step: usize) -> Option<()> {
        let mut lines: Vec<String> = self.ledger.held_by("filed");
        let line = format!("@write:/srv/f/{}/{step}", self.life);
        let about = About::Held("filed", line.clone());
        self.ledger.asks(&about, "no", "no");
        lines.push(line.clone());
        let file = self.directory.join("agents.toml");
        std::fs::write(self.directory.join("next.toml"), policy(&lines)).unwrap();
        std::fs::rename(self.directory.join("next.toml"), file).unwrap();
        loop {
            let change = self.send(&self.tokens.you, "GET", "/v1/config/change", None, &json!({})).await?.json;
            let waits = change["change"]["wouldGain"].as_array();
            if !waits.is_some_and(|gains| gains.iter().any(|gain| gain["permission"] == *line)) {
                continue;
            }
            self.ledger.asks(&about, "no", "yes");
            let path = format!("/v1/config/change/{}/agree", change["change"]["number"]);
            let reply = self.send(&self.tokens.you, "POST", &path, None, &json!({})).await?;
            match reply.status {
                200 => break,
                // The file was read again meanwhile.
                409 => {}
                _ => panic!("{reply:?}"),
            }
        }
        self.ledger.told(&about, "yes");
        Some(())
    }

    /// Enables one destructive call for this run of the server.
    async fn enabled(&self, _: usize) -> Option<()> {
        let call = json!({
            "agentId": "enabled",
            "toolName": "bash",
            "toolInput": { "command": format!("sudo rm x{}", self.life) },
            "reason": "r",
        });
        self.post(&self.tokens.you, "/api/permissions/enable", &call).await?;
        // One is enough.
        self.rest().await
    }
}

async fn say(socket: &mut Socket, message: &Value) -> Option<()> {
    socket.send(Message::text(message.to_string())).await.ok()
}

/// Returns the next frame of a type. Others are passed over.
async fn next_of(socket: &mut Socket, kind: &str) -> Option<Value> {
    loop {
        let frame = socket.next().await.ok()?;
        if frame["type"] == kind {
            return Some(frame);
        }
        assert_ne!(frame["type"], "error", "{frame}");
    }
}
