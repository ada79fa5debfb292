//! The questions to the people of one owner, from a running server.

use std::time::Duration;

use bestow::{
    action::Operation,
    async_trait,
    event::Timestamp,
    host::{Clock as _, SystemClock},
};
use bestow_hosts::acp::foreground::{Card, Choice, Inbox, News, Parts, block};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _},
};

use crate::remote::{Server, Stream, connect, get, holder, post};

/// The path of the socket of an approver.
const SOCKET: &str = "/ws/permissions";

/// The time after which a lost server is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// The time in which a server answers a connection.
const PATIENCE: Duration = Duration::from_secs(10);

const LATE: &str = "it does not reply in time";

/// The inbox of the person whose token the server gets.
pub(crate) struct ServerInbox {
    server: Server,
    /// The agent whose permissions are reported.
    agent: Option<String>,
    socket: Option<WebSocketStream<Stream>>,
    /// The frame that is being understood.
    held: Option<Frame>,
    /// True if the person knows that the server is lost.
    is_lost: bool,
    clock: SystemClock,
}

/// A frame of the server.
#[derive(Deserialize)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
}

/// A request, and its state.
#[derive(Deserialize)]
struct State {
    id: String,
    question: Option<Question>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    agent_id: String,
    permissions: Vec<String>,
    action: Option<Action>,
    scopes: Vec<String>,
    once_only: bool,
    expires_at: String,
    text: String,
}

#[derive(Deserialize)]
struct Action {
    operation: Operation,
    resource: String,
    tier: String,
    destructive: bool,
}

#[derive(Deserialize)]
struct Waiting {
    requests: Vec<State>,
}

impl ServerInbox {
    /// Checks the credential. The inbox connects when it is read: from then on, its person counts as present.
    pub(crate) async fn open(server: Server, agent: Option<String>) -> Result<ServerInbox, String> {
        holder(&server, "approver").await?;
        let inbox = ServerInbox { server, agent, socket: None, held: None, is_lost: false, clock: SystemClock::new() };
        if let Some(agent) = &inbox.agent {
            inbox.agent_text(agent).await?;
        }
        Ok(inbox)
    }

    /// Returns the state of an agent as a text.
    async fn agent_text(&self, agent: &str) -> Result<String, String> {
        let state: Value = self.read(&format!("/v1/agents/{agent}")).await.map_err(|why| {
            format!("{why}; `--agent {agent}` must name an agent of the owner whose approver the token is for")
        })?;
        Ok(state.get("text").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    async fn connected(&self) -> Result<WebSocketStream<Stream>, String> {
        let server = &self.server;
        let failed = |why: &dyn std::fmt::Display| format!("{server}: {why}");
        let stream =
            timeout(PATIENCE, connect(server)).await.map_err(|_| failed(&LATE))?.map_err(|why| failed(&why))?;
        let authority = server.authority.to_str().unwrap_or_default();
        let url = format!("ws://{authority}{}{SOCKET}", server.prefix);
        let mut request = url.into_client_request().map_err(|why| failed(&why))?;
        request.headers_mut().insert("authorization", server.authorization.clone());
        match timeout(PATIENCE, client_async(request, stream)).await.map_err(|_| failed(&LATE))? {
            Ok((socket, _)) => Ok(socket),
            Err(why) => Err(failed(&why)),
        }
    }

    /// Waits for the next frame. Returns none if the server is lost.
    async fn frame(&mut self) -> Option<Frame> {
        loop {
            match self.socket.as_mut()?.next().await {
                Some(Ok(Message::Text(text))) => {
                    // A frame of a later version is passed over.
                    if let Ok(frame) = serde_json::from_str(&text) {
                        return Some(frame);
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Connects again, as soon as that is possible.
    async fn found_again(&mut self) -> News {
        loop {
            if !self.is_lost {
                self.is_lost = true;
                return News::Said(format!("{} is lost: no question arrives until it is back.", self.server));
            }
            sleep(AGAIN).await;
            if let Ok(socket) = self.connected().await {
                (self.socket, self.is_lost) = (Some(socket), false);
                return News::Said(format!("{} is back.", self.server));
            }
        }
    }

    async fn news(&self, frame: &Frame) -> Option<News> {
        let told = frame.data.get(if frame.kind == "permission_request" { "id" } else { "requestId" });
        let request = told?.as_str()?;
        // The ids of this dialect have a prefix.
        let request = request.rsplit('_').next().unwrap_or(request);
        match &*frame.kind {
            "permission_request" => {
                let state: State = self.read(&format!("/v1/requests/{request}")).await.ok()?;
                Some(News::Asked(Box::new(card(&state)?)))
            }
            "request_resolved" => {
                let outcome = frame.data.get("outcome").and_then(Value::as_str).unwrap_or("ended").to_owned();
                let is_granted = outcome == "granted";
                Some(News::Ended { request: request.to_owned(), is_granted, text: format!("It was {outcome}.") })
            }
            _ => None,
        }
    }

    async fn read<T: for<'d> Deserialize<'d>>(&self, path: &str) -> Result<T, String> {
        let reply = get(&self.server, path).await.map_err(|why| format!("{}: {why}", self.server))?;
        reply.understood().map_err(|why| format!("{}: {why}", self.server))
    }

    fn now(&self) -> Timestamp {
        // Without a clock, nothing that ends is given.
        self.clock.now().unwrap_or(Timestamp::from_millis(0))
    }
}

/// Returns the card of a request that waits.
fn card(state: &State) -> Option<Card> {
    let question = state.question.as_ref()?;
    let action = question.action.as_ref();
    let objects = action.map_or_else(|| question.permissions.clone(), |action| vec![action.resource.clone()]);
    let choices = question.scopes.iter().filter_map(|scope| match &**scope {
        "once" => Some(Choice::Once),
        "session" => Some(Choice::Session),
        "until" => Some(Choice::Hour),
        _ => None,
    });
    let parts = Parts {
        request: state.id.clone(),
        agent: question.agent_id.clone(),
        operation: action.map(|action| action.operation),
        objects,
        text: question.text.clone(),
        tier: action.map_or_else(|| "dangerous".to_owned(), |action| action.tier.clone()),
        expires_at: question.expires_at.clone(),
    };
    Some(Card::new(parts, choices.collect(), question.once_only || action.is_some_and(|action| action.destructive)))
}

#[async_trait]
impl Inbox for ServerInbox {
    async fn next(&mut self) -> Option<News> {
        loop {
            if self.socket.is_none() && !self.is_lost {
                self.socket = self.connected().await.ok();
            }
            if self.held.is_none() {
                self.held = self.frame().await;
            }
            let Some(frame) = &self.held else {
                self.socket = None;
                return Some(self.found_again().await);
            };
            let news = self.news(frame).await;
            self.held = None;
            if news.is_some() {
                return news;
            }
        }
    }

    async fn answer(&mut self, request: &str, choice: Choice) -> Result<(), String> {
        let body = match choice.scope(self.now()) {
            Some(scope) => json!({ "decision": "allow", "scope": scope.to_string() }),
            None => json!({ "decision": "deny" }),
        };
        let path = format!("/v1/requests/{request}/answer");
        let failed = |why: String| format!("{}: {why}", self.server);
        let reply = post(&self.server, &path, body.to_string(), Duration::ZERO).await.map_err(failed)?;
        reply.understood::<Value>().map(drop).map_err(failed)
    }

    async fn report(&mut self) -> Result<String, String> {
        let waiting: Waiting = self.read("/v1/requests").await?;
        let waiting: Vec<_> = waiting.requests.into_iter().filter_map(|state| state.question).collect();
        let mut text = match &*waiting {
            [] => "No request waits for an answer.\n".to_owned(),
            _ => "These requests wait for an answer:\n\n".to_owned(),
        };
        waiting.iter().for_each(|question| text.push_str(&format!("{}\n", block(&question.text))));
        if let Some(agent) = &self.agent {
            text.push_str(&format!("\n{}", block(&self.agent_text(agent).await?)));
        }
        Ok(text)
    }
}
