//! A client that sends what a test says, line by line.

use std::{collections::VecDeque, pin::Pin, time::Duration};

use bestow_mcp::{Lines, Server, server};
use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    time,
};

use crate::support::{World, id};

/// The time after which a line counts as missing.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(90);

/// The versions of the protocol with a handshake.
pub(super) const WITH_HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The version without a handshake.
pub(super) const WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// A client of one server.
pub(super) struct Client {
    read: Pin<Box<dyn AsyncBufRead + Send>>,
    write: Pin<Box<dyn AsyncWrite + Send>>,
    /// The messages that nobody asked for yet.
    pub(super) others: VecDeque<Value>,
    next: u64,
    /// The fields that each request has in the version without a handshake.
    meta: Option<Value>,
}

impl Client {
    pub(super) fn over(read: impl AsyncRead + Send + 'static, write: impl AsyncWrite + Send + 'static) -> Client {
        let (read, write) = (Box::pin(BufReader::new(read)), Box::pin(write));
        Client { read, write, others: VecDeque::new(), next: 0, meta: None }
    }

    /// Starts the server of an agent in this process. Nothing is said yet.
    pub(super) fn silent(world: &World, agent: &str) -> Client {
        Client::served_by(server(&world.engine, id(agent)))
    }

    /// Starts a server in this process. Nothing is said yet.
    pub(super) fn served_by(server: Server) -> Client {
        let (own, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        tokio::spawn(async move {
            if let Ok(running) = server.serve(Lines::new(read, write)).await {
                let _ = running.waiting().await;
            }
        });
        let (read, write) = tokio::io::split(own);
        Client::over(read, write)
    }

    /// Starts the server of an agent in this process, and does the handshake.
    pub(super) async fn of(world: &World, agent: &str) -> Client {
        let mut client = Client::silent(world, agent);
        client.greet("2025-11-25").await;
        client
    }

    /// Does the handshake. Returns the result.
    pub(super) async fn greet(&mut self, version: &str) -> Value {
        self.greet_with(version, json!({})).await
    }

    /// Does the handshake of a client with these capabilities.
    pub(super) async fn greet_with(&mut self, version: &str, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": { "name": "a test", "version": "1" },
        });
        let greeted = self.result("initialize", params).await;
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        greeted
    }

    /// Speaks the version without a handshake from now on.
    pub(super) fn without_handshake(&mut self, version: &str) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
    }

    pub(super) async fn say(&mut self, message: &Value) {
        self.send(format!("{message}\n").as_bytes()).await;
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
        self.write.flush().await.unwrap();
    }

    /// Returns the next message. None at the end.
    pub(super) async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = time::timeout(LONGEST_WAIT, self.read.read_line(&mut line)).await.expect("no line arrives").unwrap();
        if read == 0 {
            return None;
        }
        Some(serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}")))
    }

    /// Returns the next message that is no answer to a request of this client.
    pub(super) async fn other(&mut self) -> Value {
        match self.others.pop_front() {
            Some(message) => message,
            None => self.hear().await.expect("a message"),
        }
    }

    /// Sends a request, and returns its id.
    pub(super) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.say(&message).await;
        self.next
    }

    /// Returns the answer to a request.
    pub(super) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear().await.expect("an answer");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.others.push_back(message);
        }
    }

    pub(super) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Returns the result of a request.
    pub(super) async fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params).await;
        answer.get("result").unwrap_or_else(|| panic!("{method}: {answer}")).clone()
    }

    /// Begins a call, and returns its id.
    pub(super) async fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Returns the result of a call.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Returns the answer to a call that succeeds.
    pub(super) async fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        structured(&self.call(tool, arguments).await)
    }

    /// Returns the text of a call that fails.
    pub(super) async fn error(&mut self, tool: &str, arguments: Value) -> String {
        failure(&self.call(tool, arguments).await)
    }
}

/// Returns the structured answer of a call that succeeded. Its text has the same content.
pub(super) fn structured(result: &Value) -> Value {
    assert_ne!(result["isError"], true, "{result}");
    let (answer, text) = (&result["structuredContent"], result["content"][0]["text"].as_str().unwrap());
    assert_eq!(*answer, serde_json::from_str::<Value>(text).unwrap());
    answer.clone()
}

/// Returns the text of a call that failed. Nothing in it looks like an approval.
pub(super) fn failure(result: &Value) -> String {
    assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None), "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
