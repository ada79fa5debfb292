//! `GET /v1/requests` and `GET /v1/requests/ID`.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use bestow::{Error, decision::Refusal, journal::audit, request::Resolution};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    named::{ticket, unknown},
    view::RequestState,
};
use crate::{
    identity::{Caller, Entrance},
    problem::Problem,
    v1::{
        grants::OfAgent,
        input::{Asked, Named},
        sender::{AgentSender, Person, Sender},
        suggestions::unreadable,
    },
};

/// The waiting requests.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RequestList {
    requests: Vec<RequestState>,
}

/// Lists the requests that wait for a person.
#[utoipa::path(
    get, path = "/v1/requests", tag = "requests", params(OfAgent),
    responses((status = 200, description = "The waiting requests, oldest first.", body = RequestList))
)]
pub(super) async fn list(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
    Asked(OfAgent { agent_id }): Asked<OfAgent>,
) -> Result<Json<RequestList>, Problem> {
    if let Some(agent) = &agent_id {
        admin.profile(agent)?;
    }
    let mut pending = admin.pending()?;
    pending.retain(|pending| agent_id.as_ref().is_none_or(|agent| pending.request.from == *agent));
    pending.sort_by_key(|pending| (pending.request.since, pending.request.id));
    let server = Arc::clone(&entrance);
    let view =
        async move { pending.iter().map(|pending| RequestState::pending(pending, &admin, server.parts())).collect() };
    Ok(Json(RequestList { requests: entrance.work(&caller, view).await? }))
}

/// Returns a request: its own to an agent, and those of its owner to an approver.
#[utoipa::path(
    get, path = "/v1/requests/{request}", tag = "requests",
    params(("request" = String, Path, description = "The id of the request, or its short code.")),
    responses((status = 200, description = "The request.", body = RequestState))
)]
pub(super) async fn get(
    State(entrance): State<Arc<Entrance>>,
    sender: Sender,
    Named(named): Named<String>,
) -> Result<Json<RequestState>, Problem> {
    let state = match sender {
        Sender::Agent(AgentSender { caller, agent }) => match ticket(entrance.engine(), &agent, &named) {
            Ok(ticket) => RequestState::of_ticket(&ticket),
            Err(why) if why.status == StatusCode::NOT_FOUND => {
                let (id, owner) = (agent.id().clone(), agent.profile()?.owner.clone());
                ended_long_ago(&entrance, &caller, named, move |how: &Resolution| how.from == id && how.owner == owner)
                    .await?
            }
            Err(why) => return Err(why),
        },
        Sender::Person(Person { caller, admin, .. }) => match admin.waiting(&named) {
            Ok(pending) => {
                let server = Arc::clone(&entrance);
                let view = async move { RequestState::pending(&pending, &admin, server.parts()) };
                entrance.work(&caller, view).await?
            }
            Err(Error::Refused(Refusal::AlreadyResolved(how))) => RequestState::ended(&how),
            Err(Error::Refused(Refusal::UnknownRequest(_) | Refusal::UnknownCode(_))) => {
                let own = caller.owner();
                let is_own = move |how: &Resolution| own.as_ref().is_none_or(|own| *own == how.owner);
                ended_long_ago(&entrance, &caller, named, is_own).await?
            }
            Err(why) => return Err(why.into()),
        },
    };
    Ok(Json(state))
}

/// Returns a request that the engine has forgotten, by the trail. One that the sender may not see looks like one that
/// never was.
async fn ended_long_ago(
    entrance: &Arc<Entrance>,
    caller: &Caller,
    named: String,
    is_own: impl Fn(&Resolution) -> bool + Send + 'static,
) -> Result<RequestState, Problem> {
    let trail = entrance.trail().ok_or_else(unknown)?;
    let read = entrance.work(caller, async move { audit::resolution(trail, &named, is_own) }).await?;
    read.map_err(|why| unreadable(&why))?.map(|how| RequestState::ended(&how)).ok_or_else(unknown)
}
