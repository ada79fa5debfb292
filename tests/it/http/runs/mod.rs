//! The dialect of `sources/000` and `sources/001` on `/ws`, by the numbers of its acceptance cases (A1 to A36).

mod decisions;
mod doors;
mod lifecycle;
mod policies;
#[cfg(feature = "cli")]
mod process;
#[cfg(feature = "cli")]
mod programs;
mod races;

use serde_json::{Value, json};

use super::{client::Socket, daemon::Daemon};

/// Opens a socket with a credential.
async fn opened(daemon: &Daemon, token: &str) -> Result<Socket, u16> {
    Socket::open(daemon.address, "/ws", &[("authorization", &format!("Bearer {token}"))]).await
}

/// Opens the socket of a person of `you`.
async fn person(daemon: &Daemon) -> Socket {
    opened(daemon, &daemon.approver("you")).await.unwrap()
}

/// Opens the socket of a tool host that acts as an agent, and reads its first frame.
async fn tool_host(daemon: &Daemon, agent: &str) -> Socket {
    let mut host = opened(daemon, &daemon.agent(agent)).await.unwrap();
    let hello = host.next().await.unwrap();
    assert_eq!((&hello["type"], &hello["agentId"]), (&json!("hello"), &json!(agent)));
    host
}

async fn say(socket: &mut Socket, message: Value) {
    socket.say(&message.to_string()).await;
}

/// Subscribes to a run. Nothing is answered, so an error to a further message shows that the server has heard it.
async fn subscribe(socket: &mut Socket, run: &str) {
    say(socket, json!({ "type": "subscribe", "runId": run })).await;
}

/// Waits until the server has carried out everything that this socket said.
async fn heard(socket: &mut Socket) {
    say(socket, json!({ "type": "subscribe", "runId": "nowhere", "requestId": "heard" })).await;
    let error = socket.next().await.unwrap();
    assert_eq!((&error["code"], &error["requestId"]), (&json!("SUBSCRIBE_ERROR"), &json!("heard")), "{error}");
}

/// A run of `bot` in which every write asks, a person who is subscribed to it, and the tool host of `bot`.
struct Stage {
    daemon: Daemon,
    you: Socket,
    host: Socket,
    run: String,
}

impl Stage {
    async fn new() -> Stage {
        Stage::on(Daemon::start().await).await
    }

    async fn on(daemon: Daemon) -> Stage {
        Stage::of(daemon, "bot").await
    }

    /// Sets the stage with another agent than `bot`.
    async fn of(daemon: Daemon, agent: &str) -> Stage {
        let run = daemon.world.engine.run_of(&agent.parse().unwrap()).unwrap().to_string();
        let mut you = person(&daemon).await;
        subscribe(&mut you, &run).await;
        say(&mut you, json!({ "type": "update_policy", "runId": run, "mode": "write", "default": "ask" })).await;
        assert_eq!(you.next().await.unwrap()["type"], "policy_for_all");
        let host = tool_host(&daemon, agent).await;
        Stage { daemon, you, host, run }
    }

    /// Lets the tool `write_file` ask about a write. Returns the decision.
    async fn write(&mut self, path: &str) -> Value {
        self.by("write_file", "fs.write", path).await
    }

    async fn by(&mut self, tool: &str, operation: &str, resource: &str) -> Value {
        let wanted = json!({ "type": "authorize", "operation": operation, "resource": resource, "toolName": tool });
        say(&mut self.host, wanted).await;
        self.told("authorize_result").await
    }

    /// Returns the next frame of the tool host, which has this type.
    async fn told(&mut self, kind: &str) -> Value {
        let frame = self.host.next().await.unwrap();
        assert_eq!(frame["type"], kind, "{frame}");
        frame
    }

    /// Returns the next frame of the person, which has this type.
    async fn seen(&mut self, kind: &str) -> Value {
        let frame = self.you.next().await.unwrap();
        assert_eq!(frame["type"], kind, "{frame}");
        frame
    }

    /// Returns the id of the request that the person sees next.
    async fn asked(&mut self) -> String {
        self.seen("request_permission").await["requestId"].as_str().unwrap().to_owned()
    }

    async fn decide(&mut self, request: &str, decision: &str) {
        let decision = json!({
            "type": "permission_decision",
            "runId": self.run,
            "permissionRequestId": request,
            "decision": decision,
        });
        say(&mut self.you, decision).await;
    }

    /// Asks about a write, and lets the person decide. Returns the result at the tool host.
    async fn decided(&mut self, path: &str, decision: &str) -> Value {
        assert_eq!(self.write(path).await["decision"], "ask");
        let request = self.asked().await;
        self.decide(&request, decision).await;
        self.told("permission_result").await
    }
}
