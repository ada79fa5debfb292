//! `GET /api/hooks/requests/ID`: the state of a request, for the agent that made it.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use bestow::{
    Error, Outcome,
    decision::Refusal,
    request::{Resolution, Ticket},
};
use serde_json::{Value, json};

use super::item;
use crate::{
    body,
    identity::{Caller, Entrance},
    problem::Problem,
    shown,
};

/// Tells an agent how its request stands: `status`, the remark of the person, and the input that was approved instead.
pub(super) async fn state(
    State(_): State<Arc<Entrance>>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let agent = caller.agent()?;
    let Path(text) = path.map_err(|_| Problem::not_found("this is not the id of a request"))?;
    let unknown = || Problem::not_found(format!("this agent has made no request {:?}", body::shortened(&text)));
    let id = item::parse_id(&text).map_err(|_| unknown())?;
    let is_unknown = |why: &Error| matches!(why, Error::Refused(Refusal::UnknownRequest(_) | Refusal::NotYours(_)));
    let ticket = agent.ticket(id).map_err(|why| if is_unknown(&why) { unknown() } else { why.into() })?;
    Ok(Json(told(&text, &ticket)))
}

fn told(id: &str, ticket: &Ticket) -> Value {
    let Some(resolution) = ticket.poll() else { return json!({ "requestId": id, "status": "pending" }) };
    let mut told = json!({ "requestId": id, "status": status(&resolution), "reason": resolution.to_string() });
    let feedback = resolution.feedback.as_ref().map(|feedback| ("feedback", json!(feedback.to_string())));
    let updated = resolution.updated_input.as_deref().map(|action| ("updatedInput", shown::tool_input(action)));
    if let Value::Object(fields) = &mut told {
        fields.extend(feedback.into_iter().chain(updated).map(|(name, value)| (name.to_owned(), value)));
    }
    told
}

fn status(resolution: &Resolution) -> &'static str {
    match resolution.outcome {
        Outcome::Granted => "approved",
        Outcome::Denied => "rejected",
        Outcome::Expired => "expired",
        Outcome::Cancelled => "cancelled",
        Outcome::Unavailable => "unavailable",
    }
}
