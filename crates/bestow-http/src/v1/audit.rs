//! The audit trail: an operator exports and verifies it.

use std::{path::PathBuf, sync::Arc};

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bestow::{
    AgentId,
    event::Timestamp,
    journal::{
        Head,
        audit::{self, Filter, Record},
    },
};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{input::Asked, sender::Person};
use crate::{identity::Entrance, problem::Problem};

/// The lines that are read before the client has taken them.
const AHEAD: usize = 64;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(export)).routes(routes!(verify))
}

/// The selection of records.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Selection {
    /// Selects records that name this agent.
    #[param(value_type = Option<String>)]
    agent_id: Option<AgentId>,
    /// Selects records at or after this time (RFC 3339).
    #[param(value_type = Option<String>)]
    since: Option<Timestamp>,
    /// Selects records before this time (RFC 3339).
    #[param(value_type = Option<String>)]
    until: Option<Timestamp>,
}

/// Returns the directory of the trail, to an operator.
fn directory(entrance: &Entrance, person: &Person) -> Result<PathBuf, Problem> {
    if !person.admin.is_of_every_owner() {
        return Err(Problem::forbidden("only the credential of an operator can read the audit trail"));
    }
    entrance.trail().ok_or_else(|| Problem::not_found("this server keeps no audit trail"))
}

/// Exports the audit trail as JSON lines, oldest first. The records are those of `bestow audit show --json`.
#[utoipa::path(
    get, path = "/v1/audit", tag = "audit", params(Selection),
    responses((status = 200, description = "One record in each line.", body = String,
        content_type = "application/jsonl"))
)]
async fn export(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Asked(Selection { agent_id, since, until }): Asked<Selection>,
) -> Result<Response, Problem> {
    let directory = directory(&entrance, &person)?;
    let place = entrance.place_for_socket(&person.caller)?;
    let filter = Filter { agent: agent_id, since, until, ..Filter::default() };
    let (sender, lines) = mpsc::channel(AHEAD);
    // The thread ends when the trail does, or when the client is gone.
    tokio::task::spawn_blocking(move || {
        let _place = place;
        read(&directory, &filter, &sender)
    });
    let caller = person.caller;
    let lines = stream::unfold((lines, entrance, caller), async |(mut lines, entrance, caller)| {
        let line: Result<String, std::io::Error> = lines.recv().await?;
        let line = line.and_then(|line| {
            let is_valid = entrance.still_accepts(&caller);
            if is_valid { Ok(line) } else { Err(std::io::Error::other("the credential is no longer valid")) }
        });
        Some((line, (lines, entrance, caller)))
    });
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl"))];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// Sends the records that match. An error ends the reply before its end, so the client does not take it for whole.
fn read(directory: &PathBuf, filter: &Filter, sender: &mpsc::Sender<Result<String, std::io::Error>>) {
    let records = match audit::records(directory) {
        Ok(records) => records,
        Err(why) => return drop(sender.blocking_send(Err(std::io::Error::other(why)))),
    };
    for record in records {
        let line = match record {
            Ok(record) if filter.wants(&record) => line(&record),
            Ok(_) => continue,
            Err(why) => Err(std::io::Error::other(why)),
        };
        let is_last = line.is_err();
        if sender.blocking_send(line).is_err() || is_last {
            return;
        }
    }
}

fn line(record: &Record) -> Result<String, std::io::Error> {
    Ok(format!("{}\n", record.to_json().map_err(std::io::Error::other)?))
}

/// A head that was noted earlier.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Noted {
    /// A head from an earlier answer. The trail must contain it.
    expect: Option<String>,
}

/// The result of a verification.
#[derive(Debug, Serialize, ToSchema)]
struct Verification {
    /// True if every record follows from the one before, and the noted head is there.
    intact: bool,
    /// The end of the chain. Keep a copy elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// The first event that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<u64>,
    /// The mistake and its place, or a torn end that was never acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Reads the whole trail, and finds the first record that was altered, is missing, or is in another place.
#[utoipa::path(
    get, path = "/v1/audit/head", tag = "audit", params(Noted),
    responses((status = 200, description = "The end of the chain.", body = Verification))
)]
async fn verify(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Asked(Noted { expect }): Asked<Noted>,
) -> Result<Json<Verification>, Problem> {
    let directory = directory(&entrance, &person)?;
    let expected: Option<Head> = expect.map(|text| text.parse()).transpose().map_err(|why| {
        Problem::new(axum::http::StatusCode::BAD_REQUEST, "invalid_query", format!("`expect`: {why}"))
    })?;
    let verified = entrance.work(&person.caller, async move { audit::verify(directory, expected) }).await?;
    Ok(Json(match verified {
        Ok(verified) => Verification {
            intact: true,
            head: Some(verified.head.to_string()),
            first: Some(verified.first),
            problem: verified.torn,
        },
        Err(why) => Verification { intact: false, head: None, first: None, problem: Some(why.to_string()) },
    }))
}
