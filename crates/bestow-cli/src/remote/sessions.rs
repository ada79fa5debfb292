//! The sessions of a host on a running server: one request for each call.

use std::time::Duration;

use bestow::{AgentId, async_trait, command::Shell};
use bestow_hosts::{Answer, Call, Caller, Failure, SessionId, Sessions, SubagentId};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task;

use super::{
    post::post,
    settings::{Server, Source},
};

/// The sessions of the host whose token the server gets. The ready file and the token file are read for each call, so a
/// server that was started again is found.
pub(crate) struct RemoteSessions(pub(crate) Source);

impl RemoteSessions {
    async fn ask<T: DeserializeOwned>(&self, path: &str, body: &Value, wait: Duration) -> Result<T, Failure> {
        let source = self.0.clone();
        let server = task::spawn_blocking(move || Server::of(source)).await;
        let server = server.map_err(|why| why.to_string()).and_then(|server| server).map_err(Failure::Server)?;
        let failed = |why: String| Failure::Server(format!("{server}: {why}"));
        let reply = post(&server, path, body.to_string(), wait).await.map_err(failed)?;
        reply.understood().map_err(failed)
    }
}

#[async_trait]
impl Sessions for RemoteSessions {
    async fn call(&self, call: Call) -> Result<Answer, Failure> {
        // A longer wait than the server's limit is that limit.
        let wait = u64::try_from(call.wait.as_millis()).unwrap_or(u64::MAX);
        let body = json!({
            "caller": caller(&call.caller),
            "host": call.coding_agent,
            "toolName": call.tool,
            "toolInput": call.input,
            "waitMs": wait,
            "unanswered": call.unanswered,
            "canReplaceInput": call.can_replace_input,
        });
        self.ask("/v1/hosts/call", &body, call.wait).await
    }

    async fn begin(&self, caller_: Caller) -> Result<AgentId, Failure> {
        let begun: Value = self.ask("/v1/hosts/begin", &caller(&caller_), Duration::ZERO).await?;
        let id = begun.get("agentId").and_then(Value::as_str).unwrap_or_default();
        id.parse().map_err(|why| Failure::Server(format!("the reply of the server has no agent: {why}")))
    }

    async fn end(&self, session: SessionId, subagent: Option<SubagentId>) -> Result<(), Failure> {
        let body = json!({ "session": session, "subagent": subagent });
        self.ask::<Value>("/v1/hosts/end", &body, Duration::ZERO).await.map(drop)
    }
}

fn caller(of: &Caller) -> Value {
    let subagent = of.subagent.as_ref().map(|subagent| json!({ "id": subagent.id, "type": subagent.kind.as_deref() }));
    let mut body = json!({ "session": of.session, "subagent": subagent, "workingDir": of.working_dir });
    if let (Some(fields), true) = (body.as_object_mut(), of.shell != Shell::Unknown) {
        fields.insert("shell".to_owned(), json!(of.shell));
    }
    body
}
