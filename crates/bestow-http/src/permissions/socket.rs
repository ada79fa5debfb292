//! `/ws/permissions`: the requests that wait, as they come, and answers to them.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Query, State, WebSocketUpgrade, rejection::QueryRejection, ws::rejection::WebSocketUpgradeRejection},
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

use super::{
    decide::{self, Decision, Submitted},
    frame::Received,
    item,
};
use crate::{
    credentials::Role,
    identity::{Caller, Entrance},
    places::ConnectionPlace,
    problem::Problem,
    socket::{self, Ended, Incoming, Socket},
};

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
    let upgrade = match socket::limited(upgrade) {
        Ok(upgrade) => upgrade,
        Err(problem) => return problem.into_response(),
    };
    let caller = match entrance.caller_of_socket(&headers, place.as_deref()) {
        Ok(caller) => caller,
        // Clients of this dialect expect the close code.
        Err(problem) if problem.status == StatusCode::UNAUTHORIZED => {
            let times = entrance.socket_times();
            return upgrade.on_upgrade(move |socket| socket::unauthenticated(socket, times));
        }
        Err(problem) => return problem.into_response(),
    };
    let opened = entrance.place_for_socket(&caller).and_then(|own| Ok((own, attended(&caller, named)?)));
    match opened {
        Ok((own, (session, owner))) => {
            let channel = move |socket| Channel(Socket::new(entrance, caller, socket, (own, place)));
            upgrade.on_upgrade(move |socket| channel(socket).run(session, owner))
        }
        Err(problem) => problem.into_response(),
    }
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
    caller.refuse_other_owner(user_id.as_deref())?;
    Ok((approver.attend()?, owner.to_string()))
}

/// The connection of one approver.
struct Channel(Socket);

impl Channel {
    async fn run(mut self, session: ApproverSession, owner: String) {
        let _ = self.talk(session, owner).await;
    }

    async fn talk(&mut self, mut session: ApproverSession, owner: String) -> Result<(), Ended> {
        let timestamp = self.now()?;
        self.say("connected", json!({ "userId": owner, "timestamp": timestamp })).await?;
        loop {
            tokio::select! {
                shown = session.next() => match shown {
                    Some(prompt) => self.show(&prompt).await?,
                    None => return self.0.going_away().await,
                },
                received = self.0.next() => self.hear(received?).await?,
            }
        }
    }

    async fn say(&mut self, kind: &str, data: Value) -> Result<(), Ended> {
        self.0.say(&framed(kind, data)).await
    }

    async fn beat(&mut self) -> Result<(), Ended> {
        let timestamp = self.now()?;
        self.say("heartbeat", json!({ "timestamp": timestamp })).await?;
        self.0.beat().await
    }

    async fn show(&mut self, prompt: &Prompt) -> Result<(), Ended> {
        let frames = &self.0.entrance.frames().permissions;
        let text = match prompt {
            Prompt::Ask(request) => {
                frames.asked.text(request, || framed("permission_request", card(request)).to_string())
            }
            Prompt::Settled(resolution) => {
                frames.ended.text(resolution, || framed("request_resolved", outcome(resolution)).to_string())
            }
            // This dialect has no frame for a message to the user of an agent.
            Prompt::Said { .. } | _ => return Ok(()),
        };
        self.0.say_text(text).await
    }

    async fn hear(&mut self, incoming: Incoming) -> Result<(), Ended> {
        match incoming {
            Incoming::Text(text) => {
                let (kind, data) = match self.understood(text.as_bytes()).await {
                    Ok(reply) => reply,
                    Err(problem) => ("error", json!({ "message": problem.detail, "code": problem.code })),
                };
                self.say(kind, data).await
            }
            Incoming::Binary => {
                self.say("error", json!({ "message": "a frame is a text frame with JSON", "code": "binary" })).await
            }
            Incoming::Beat => self.beat().await,
        }
    }

    /// Returns the reply to a frame: its type and its data.
    async fn understood(&mut self, text: &[u8]) -> Result<(&'static str, Value), Problem> {
        match Received::read(text)? {
            Received::Ping => Ok(("pong", json!({ "timestamp": self.0.entrance.engine().now()?.as_millis() }))),
            Received::Decision(submitted) => self.decide(submitted).await,
        }
    }

    async fn decide(&mut self, submitted: Submitted) -> Result<(&'static str, Value), Problem> {
        if let Err(problem) = decide::apply(&self.0.entrance, &self.0.caller, &submitted).await {
            let data = json!({ "message": problem.detail, "code": problem.code, "requestId": submitted.request });
            return Ok(("error", data));
        }
        let timestamp = self.0.entrance.engine().now()?.as_millis();
        let Submitted { request, decision, .. } = submitted;
        let mut data = json!({ "requestId": request, "decision": decision, "timestamp": timestamp });
        if let (Some(scope), Value::Object(fields)) = (decision.scope(), &mut data) {
            fields.insert("scope".to_owned(), json!(scope));
        }
        Ok(("decision_ack", data))
    }

    fn now(&self) -> Result<u64, Ended> {
        self.0.now().map(Timestamp::as_millis)
    }
}

fn framed(kind: &str, data: Value) -> Value {
    json!({ "type": kind, "data": data })
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
