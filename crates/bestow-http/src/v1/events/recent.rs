//! `GET /v1/events/recent`: the kept events, for a client that begins.

use std::sync::Arc;

use axum::{Json, extract::State};
use bestow::event::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::{log::Kept, seen::Seen, stored::Told};
use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{input::Asked, openapi::Event, sender::Sender},
};

/// The events of one answer, if the client asks for no other number.
const USUAL: usize = 200;

/// The most events of one answer.
const MOST: usize = 1_000;

/// The wanted events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// The number of events: 200 without it, and at most 1,000.
    limit: Option<usize>,
    /// The events before the one with this number. Without it, the last events.
    before: Option<u64>,
}

/// Events that happened.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RecentEvents {
    /// The events, oldest first.
    #[schema(value_type = Vec<Event>)]
    events: Vec<Box<RawValue>>,
    /// The number of the last event of the engine. A stream that goes on after it has no gap.
    last: u64,
    /// True if the server keeps no earlier event that the client may see.
    complete: bool,
    /// The time from which on the server keeps events.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
}

/// Returns the last events that the server keeps.
#[utoipa::path(
    get, path = "/v1/events/recent", tag = "events", params(Wanted),
    responses((status = 200, description = "The events.", body = RecentEvents))
)]
pub(super) async fn recent(
    State(entrance): State<Arc<Entrance>>,
    sender: Sender,
    Asked(Wanted { limit, before }): Asked<Wanted>,
) -> Result<Json<RecentEvents>, Problem> {
    let seen = Seen::by(sender.caller())?;
    let Kept { mut events, last, since } = entrance.events().recent(before).await?;
    events.retain(|told| seen.may_see(told, entrance.engine()));
    let wanted = limit.unwrap_or(USUAL).min(MOST);
    let first = events.len().saturating_sub(wanted);
    let events = events.iter().skip(first).filter_map(|told| raw(told)).collect();
    Ok(Json(RecentEvents { events, last, complete: first == 0, since }))
}

fn raw(told: &Told) -> Option<Box<RawValue>> {
    RawValue::from_string(told.text.clone()).ok()
}
