//! The answers to writes that an earlier server carried out, made again from the events of each write.
//!
//! What a write did is as it was. What an answer shows besides, such as the state of a request, is as it is now.

use std::{path::PathBuf, sync::Arc};

use axum::{
    extract::MatchedPath,
    http::{Method, StatusCode, request::Parts},
    response::Response,
};
use bestow::{
    Event,
    event::KeyedWrite,
    journal::{JournalError, audit},
};
use http_body_util::BodyExt;

use super::store::Kept;
use crate::{
    credentials::Role,
    identity::{Caller, Entrance},
    problem::Problem,
    v1::{agents, config, decisions, grants, new_agents, policies, processes, requests, runs, tools},
};

/// Returns the answer to a write whose steps are `before`. None if there are none, or if they are not the whole write.
pub(super) async fn answer(
    entrance: &Arc<Entrance>,
    caller: &Caller,
    head: &Parts,
    body: &[u8],
    before: &[Arc<KeyedWrite>],
) -> Result<Option<Kept>, Problem> {
    if before.is_empty() {
        return Ok(None);
    }
    let trail = entrance.trail().ok_or_else(|| unknown("this server has no trail"))?;
    let steps = before.to_vec();
    let read = entrance.work(caller, async move { events(&trail, &steps) }).await?;
    let events = read.map_err(|why| unknown(&why.to_string()))?;
    let Some(response) = of_events(entrance, caller, head, body, &events) else { return Ok(None) };
    let (head, body) = response.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    Ok(Some(Kept::of(&head, body)))
}

fn unknown(why: &str) -> Problem {
    let detail = format!("the write with this key was carried out, but what it did cannot be read: {why}");
    Problem::new(StatusCode::CONFLICT, "idempotency_outcome_unknown", detail)
}

/// Returns the events of the steps of a write.
fn events(trail: &PathBuf, steps: &[Arc<KeyedWrite>]) -> Result<Vec<Event>, JournalError> {
    let mut events = Vec::new();
    for step in steps {
        for record in audit::records_after(trail, step.first.saturating_sub(1))? {
            let event = record?.recorded.event;
            if matches!(&event, Event::WriteKeyed { write } if write == step) {
                break;
            }
            events.push(event);
        }
    }
    Ok(events)
}

/// Returns the answer to a write that caused these events. The kinds of writes that are not listed leave no events, or
/// end with the server.
fn of_events(
    entrance: &Arc<Entrance>,
    caller: &Caller,
    head: &Parts,
    body: &[u8],
    events: &[Event],
) -> Option<Response> {
    let path = head.extensions.get::<MatchedPath>()?.as_str();
    let is_person = !matches!(caller.credential().role, Role::Agent { .. });
    let engine = entrance.engine();
    match (&head.method, path) {
        (&Method::POST, "/v1/grants") => grants::stored_grants(events),
        (&Method::DELETE, "/v1/grants/{grant}") => grants::stored_revocation(events, is_person),
        (&Method::POST, "/v1/grants/{grant}/undo") => grants::stored_grants(events),
        (&Method::DELETE, "/v1/decisions/{decision}") => decisions::stored_revocation(events),
        (&Method::POST, "/v1/decisions/{decision}/undo") => decisions::stored_undo(events),
        (&Method::POST, "/v1/agents") => new_agents::stored_agent(events, engine),
        (&Method::DELETE, "/v1/agents/{agent}") => new_agents::stored_retirement(events),
        (&Method::PUT, "/v1/agents/{agent}/mode") => agents::stored_mode(events, &caller.admin().ok()?.0, engine),
        (&Method::POST, "/v1/agents/{agent}/enable") => agents::stored_approval(events),
        (&Method::POST, "/v1/requests") => requests::stored_request(events, &caller.agent().ok()?),
        (&Method::DELETE, "/v1/requests/{request}") | (&Method::POST, "/v1/requests/{request}/answer") => {
            requests::stored_end(events)
        }
        (&Method::POST, "/v1/runs") => runs::stored_run(events, body, engine),
        (&Method::POST, "/v1/runs/{run}/join") => runs::stored_join(events, entrance),
        (&Method::DELETE, "/v1/runs/{run}") => runs::stored_end(events),
        (&Method::PATCH, "/v1/runs/{run}/policies") => policies::stored_policies(events),
        (&Method::PUT, "/v1/tools") => tools::stored_declaration(events),
        (&Method::POST, "/v1/processes") => processes::stored_start(events, StatusCode::CREATED),
        (&Method::POST, "/v1/processes/{process}/stop") => processes::stored_stop(events),
        (&Method::POST, "/v1/processes/{process}/restart") => processes::stored_start(events, StatusCode::OK),
        (&Method::POST, "/v1/config/change/{number}/agree") => {
            let number = head.uri.path().split('/').nth(4)?.parse().ok()?;
            config::stored_agreement(events, number)
        }
        _ => None,
    }
}
