//! `GET /v1/requests/ID/wait`: waits for the end of a request, for a bounded time.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{named::ticket, view::RequestState};
use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{
        input::{Asked, Named},
        sender::AgentSender,
    },
};

/// The longest wait, in milliseconds.
const LONGEST: u64 = 60_000;

/// The wait without a parameter, in milliseconds.
const USUAL: u64 = 30_000;

/// The length of the wait.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Patience {
    /// The time in milliseconds, at most 60,000. A longer one counts as 60,000. Without it, 30,000.
    wait_ms: Option<u64>,
}

/// Waits until a request of the agent has ended. After the time, the answer is that it still waits. A credential has a
/// limited number of calls that wait. A further one is answered at once.
#[utoipa::path(
    get, path = "/v1/requests/{request}/wait", tag = "requests",
    params(("request" = String, Path, description = "The id of the request, or its short code."), Patience),
    responses((status = 200, description = "The request.", body = RequestState))
)]
pub(super) async fn wait(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Named(named): Named<String>,
    Asked(Patience { wait_ms }): Asked<Patience>,
) -> Result<Json<RequestState>, Problem> {
    let ticket = ticket(entrance.engine(), &agent, &named)?;
    if let Some(_place) = entrance.place_to_wait(&caller) {
        ticket.wait(Duration::from_millis(wait_ms.unwrap_or(USUAL).min(LONGEST))).await;
    }
    // The credential may have been revoked during the wait.
    entrance.refuse_revoked(&caller)?;
    Ok(Json(RequestState::of_ticket(&ticket)))
}
