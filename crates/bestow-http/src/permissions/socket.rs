//! `/ws/permissions`: the requests that wait, as they come, and answers to them.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        Query, State, WebSocketUpgrade,
        rejection::QueryRejection,
        ws::{CloseFrame, Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use bestow::{
    Outcome,
    event::Timestamp,
    request::{Request, Resolution},
    user::{ApproverSession, Prompt},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{self, MissedTickBehavior},
};

use super::{
    decide::{self, Decision, Submitted},
    item,
};
use crate::{
    body::{self, Fields},
    credentials::Role,
    identity::{Caller, Entrance},
    places::ConnectionPlace,
    problem::Problem,
};

/// The time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// The time after which a client that accepts no frame is cut off.
const LONGEST_SEND: Duration = Duration::from_secs(10);

/// The number of heartbeats without any frame of the client after which it counts as gone.
const SILENT_HEARTBEATS: u32 = 3;

/// The longest frame and message of a client, in bytes.
const LONGEST_FRAME: usize = 1 << 18;

/// The read buffer of a socket, in bytes. There are many sockets, and their messages are short.
const BUFFER: usize = 4 << 10;

/// The close code for a client without a valid credential.
const NOT_AUTHENTICATED: u16 = 4001;

/// The close code for the end of the engine.
const GOING_AWAY: u16 = 1001;

/// The subprotocol of this dialect. A browser that offers a token as a subprotocol has to offer a second one, which the
/// server can choose: a token is never echoed.
const PROTOCOL: &str = "bestow";

/// The owner that a client names. It must be the owner of its credential.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Named {
    user_id: Option<String>,
}

/// Opens the socket of an approver.
pub(super) async fn open(
    State(entrance): State<Arc<Entrance>>,
    headers: HeaderMap,
    named: Result<Query<Named>, QueryRejection>,
    place: Option<Extension<ConnectionPlace>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => limited(upgrade),
        Err(why) => {
            let detail = format!("this path is a WebSocket: {}", why.body_text());
            return Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", detail).into_response();
        }
    };
    let caller = match entrance.caller_of_socket(&headers) {
        Ok(caller) => caller,
        // Clients of this dialect expect the close code. No message is sent before it.
        Err(problem) if problem.status == StatusCode::UNAUTHORIZED => return upgrade.on_upgrade(unauthenticated),
        Err(problem) => return problem.into_response(),
    };
    let opened = entrance.place_for_socket(&caller).and_then(|own| Ok((own, attended(&caller, named)?)));
    match opened {
        Ok((own, (session, owner))) => {
            let places = (own, place);
            let channel = move |socket| Channel { entrance, caller, socket, silent: 0, _places: places };
            upgrade.on_upgrade(move |socket| channel(socket).run(session, owner))
        }
        Err(problem) => problem.into_response(),
    }
}

fn limited(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(LONGEST_FRAME).max_frame_size(LONGEST_FRAME);
    upgrade.read_buffer_size(BUFFER).write_buffer_size(0).max_write_buffer_size(LONGEST_FRAME)
}

async fn unauthenticated(mut socket: WebSocket) {
    let close = close(NOT_AUTHENTICATED, "send the credential of an approver");
    let _ = time::timeout(LONGEST_SEND, socket.send(close)).await;
}

fn close(code: u16, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// Opens the stream of requests, if the client names the owner of its credential or no owner.
fn attended(
    caller: &Caller,
    named: Result<Query<Named>, QueryRejection>,
) -> Result<(ApproverSession, String), Problem> {
    let approver = caller.approver()?;
    let Query(Named { user_id }) =
        named.map_err(|why| Problem::new(StatusCode::BAD_REQUEST, "invalid_query", why.body_text()))?;
    let Role::Approver { owner, .. } = &caller.credential().role else {
        return Err(Problem::forbidden("this needs the credential of an approver"));
    };
    if user_id.is_some_and(|said| said != owner.as_str()) {
        return Err(Problem::forbidden("this credential belongs to another `userId`"));
    }
    Ok((approver.attend()?, owner.to_string()))
}

/// The connection of one approver.
struct Channel {
    entrance: Arc<Entrance>,
    caller: Caller,
    socket: WebSocket,
    /// The heartbeats since the last frame of the client.
    silent: u32,
    /// The place of the credential, and the place of the connection in the server.
    _places: (OwnedSemaphorePermit, Option<Extension<ConnectionPlace>>),
}

/// The end of a connection.
struct Ended;

impl Channel {
    async fn run(mut self, session: ApproverSession, owner: String) {
        let _ = self.talk(session, owner).await;
    }

    async fn talk(&mut self, mut session: ApproverSession, owner: String) -> Result<(), Ended> {
        let timestamp = self.now()?;
        self.say("connected", json!({ "userId": owner, "timestamp": timestamp })).await?;
        let mut heartbeat = time::interval_at(time::Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                shown = session.next() => match shown {
                    Some(prompt) => self.show(&prompt).await?,
                    None => return self.close(GOING_AWAY, "the server ends, or this client reads too slowly").await,
                },
                received = self.socket.recv() => match received {
                    Some(Ok(message)) => self.hear(message).await?,
                    Some(Err(_)) | None => return Err(Ended),
                },
                _ = heartbeat.tick() => self.beat().await?,
            }
        }
    }

    /// Sends a frame, if the credential is still valid.
    async fn say(&mut self, kind: &str, data: Value) -> Result<(), Ended> {
        if !self.entrance.still_accepts(&self.caller) {
            return self.close(NOT_AUTHENTICATED, "the credential is no longer valid").await;
        }
        self.send(Message::text(json!({ "type": kind, "data": data }).to_string())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Ended> {
        match time::timeout(LONGEST_SEND, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Ended),
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) -> Result<(), Ended> {
        self.send(close(code, reason)).await?;
        Err(Ended)
    }

    async fn beat(&mut self) -> Result<(), Ended> {
        self.silent += 1;
        if self.silent > SILENT_HEARTBEATS {
            return Err(Ended);
        }
        let timestamp = self.now()?;
        self.say("heartbeat", json!({ "timestamp": timestamp })).await?;
        // A client that is there answers this without the help of its program.
        self.send(Message::Ping(Vec::new().into())).await
    }

    async fn show(&mut self, prompt: &Prompt) -> Result<(), Ended> {
        match prompt {
            Prompt::Ask(request) => self.say("permission_request", card(request)).await,
            Prompt::Settled(resolution) => self.say("request_resolved", outcome(resolution)).await,
            // This dialect has no frame for a message to the user of an agent.
            Prompt::Said { .. } | _ => Ok(()),
        }
    }

    async fn hear(&mut self, message: Message) -> Result<(), Ended> {
        self.silent = 0;
        match message {
            Message::Text(text) => {
                let (kind, data) = match self.understood(text.as_bytes()).await {
                    Ok(reply) => reply,
                    Err(problem) => ("error", json!({ "message": problem.detail, "code": problem.code })),
                };
                self.say(kind, data).await
            }
            Message::Binary(_) => {
                self.say("error", json!({ "message": "a frame is a text frame with JSON", "code": "binary" })).await
            }
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => Err(Ended),
        }
    }

    /// Returns the reply to a frame: its type and its data.
    async fn understood(&mut self, text: &[u8]) -> Result<(&'static str, Value), Problem> {
        let mut fields = Fields(body::object_in(text)?);
        let kind = fields.required("type")?;
        match kind.as_str() {
            "ping" => Ok(("pong", json!({ "timestamp": self.entrance.engine().now()?.as_millis() }))),
            "decision" => {
                let Value::Object(data) = fields.object("data")? else { return Err(unknown_type(&kind)) };
                self.decide(Submitted::read(Fields(data))?).await
            }
            _ => Err(unknown_type(&kind)),
        }
    }

    async fn decide(&mut self, submitted: Submitted) -> Result<(&'static str, Value), Problem> {
        if let Err(problem) = decide::apply(&self.entrance, &self.caller, &submitted).await {
            let data = json!({ "message": problem.detail, "code": problem.code, "requestId": submitted.request });
            return Ok(("error", data));
        }
        let timestamp = self.entrance.engine().now()?.as_millis();
        let Submitted { request, decision, .. } = submitted;
        Ok(("decision_ack", json!({ "requestId": request, "decision": decision, "timestamp": timestamp })))
    }

    fn now(&self) -> Result<u64, Ended> {
        self.entrance.engine().now().map(Timestamp::as_millis).map_err(|_| Ended)
    }
}

fn unknown_type(kind: &str) -> Problem {
    let detail = format!("no frame has the type {:?}: a client sends `decision` or `ping`", body::shortened(kind));
    Problem::new(StatusCode::BAD_REQUEST, "unknown_type", detail)
}

fn card(request: &Request) -> Value {
    let item = item::Item::of(request);
    let mut data = json!(item);
    if let Value::Object(fields) = &mut data {
        fields.insert("command".to_owned(), item::command(request).into());
    }
    data
}

/// Returns the data about the end of a request, for every client that has it on its screen.
fn outcome(resolution: &Resolution) -> Value {
    let decision = if resolution.outcome == Outcome::Granted { Decision::Approve } else { Decision::Reject };
    json!({
        "requestId": item::id_of(resolution),
        "outcome": resolution.outcome,
        "decision": decision,
        "timestamp": resolution.at.as_millis(),
    })
}
