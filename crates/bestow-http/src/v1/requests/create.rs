//! `POST /v1/requests` and `DELETE /v1/requests/ID`: an agent asks for permissions, and withdraws a request.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{Agent, Event, Permission, PermissionRequest, grant::Scope, text::Reason};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    named::{own_id, ticket, unknown},
    view::RequestState,
};
use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{
        input::{self, Named, Sent},
        sender::AgentSender,
    },
};

/// Permissions that the agent asks for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateRequest {
    /// The permissions, at most 32.
    #[schema(value_type = Vec<String>, min_items = 1, max_items = 32, example = json!(["@write:/work/site"]))]
    permissions: Vec<Permission>,
    /// The reason, for the person who decides.
    #[schema(value_type = String)]
    reason: Reason,
    /// The widest scope that is wanted: `once`, `session`, `always` or `until TIME`.
    #[schema(value_type = Option<String>)]
    scope: Option<Scope>,
}

/// Asks for permissions that the agent lacks. An equal request that waits is joined. Permissions that are held are not
/// asked for.
#[utoipa::path(
    post, path = "/v1/requests", tag = "requests", request_body = CreateRequest,
    responses((status = 201, description = "The request, which may have ended already.", body = RequestState))
)]
pub(super) async fn create(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Sent(CreateRequest { permissions, reason, scope }): Sent<CreateRequest>,
) -> Result<(StatusCode, Json<RequestState>), Problem> {
    let request = PermissionRequest::new(input::several(permissions)?, reason);
    let request = scope.map_or(request.clone(), |scope| request.at_most(scope));
    let ticket = entrance.work(&caller, async move { agent.request(request).await }).await??;
    Ok((StatusCode::CREATED, Json(RequestState::of_ticket(&ticket))))
}

/// Withdraws a request of the agent.
#[utoipa::path(
    delete, path = "/v1/requests/{request}", tag = "requests",
    params(("request" = String, Path, description = "The id of the request, or its short code.")),
    responses((status = 200, description = "The cancelled request.", body = RequestState))
)]
pub(super) async fn cancel(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Named(named): Named<String>,
) -> Result<Json<RequestState>, Problem> {
    let id = own_id(entrance.engine(), &agent, &named)?;
    let canceller = agent.clone();
    let cancelled = entrance.work(&caller, async move { canceller.cancel(id).await }).await?;
    cancelled.map_err(|why| {
        let problem = Problem::from(why);
        if problem.status == StatusCode::NOT_FOUND { unknown() } else { problem }
    })?;
    Ok(Json(RequestState::of_ticket(&ticket(entrance.engine(), &agent, &id.to_string())?)))
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(in crate::v1) fn stored_request(events: &[Event], agent: &Agent) -> Option<Response> {
    let id = events.iter().find_map(|event| {
        if let Event::Requested { request } | Event::Joined { request } = event {
            return Some(request.id);
        }
        let Event::Resolved { resolution, .. } = event else { return None };
        Some(resolution.request)
    })?;
    let state = match agent.ticket(id) {
        Ok(ticket) => RequestState::of_ticket(&ticket),
        // It ended so long ago that the engine has forgotten it.
        Err(_) => RequestState::waiting(id),
    };
    Some((StatusCode::CREATED, Json(state)).into_response())
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(in crate::v1) fn stored_end(events: &[Event]) -> Option<Response> {
    let ended = events.iter().find_map(|event| {
        let Event::Resolved { resolution, .. } = event else { return None };
        Some(resolution)
    })?;
    Some(Json(RequestState::ended(ended)).into_response())
}
