//! `GET /v1/grants` and `GET /v1/grants/ID`.

use std::sync::Arc;

use axum::{Json, extract::State};
use bestow::{AgentId, grant::GrantId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{
        input::{Asked, Named},
        sender::{Person, Sender},
        view::GrantView,
    },
};

/// The filter of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::v1) struct OfAgent {
    /// Selects one agent.
    #[param(value_type = Option<String>)]
    pub(in crate::v1) agent_id: Option<AgentId>,
}

/// The grants that are valid now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GrantList {
    grants: Vec<GrantView>,
}

/// Lists grants: its own to an agent, and those of its owner's agents to an approver.
#[utoipa::path(
    get, path = "/v1/grants", tag = "grants", params(OfAgent),
    responses((status = 200, description = "The grants that are valid now.", body = GrantList))
)]
pub(super) async fn list(
    State(_): State<Arc<Entrance>>,
    sender: Sender,
    Asked(OfAgent { agent_id }): Asked<OfAgent>,
) -> Result<Json<GrantList>, Problem> {
    let grants = match sender {
        Sender::Agent(sender) => {
            if agent_id.is_some_and(|named| named != *sender.agent.id()) {
                return Err(Problem::forbidden("an agent sees its own grants only"));
            }
            sender.agent.grants()?
        }
        Sender::Person(Person { admin, .. }) => admin.grants(agent_id.as_ref())?,
    };
    Ok(Json(GrantList { grants: grants.iter().map(|grant| GrantView::of(grant)).collect() }))
}

/// Returns a grant.
#[utoipa::path(
    get, path = "/v1/grants/{grant}", tag = "grants",
    params(("grant" = String, Path, description = "The id of the grant, such as `g4`.")),
    responses((status = 200, description = "The grant.", body = GrantView))
)]
pub(super) async fn get(
    State(_): State<Arc<Entrance>>,
    sender: Sender,
    Named(id): Named<GrantId>,
) -> Result<Json<GrantView>, Problem> {
    let grants = match sender {
        Sender::Agent(sender) => sender.agent.grants()?,
        Sender::Person(Person { admin, .. }) => admin.grants(None)?,
    };
    let found = grants.iter().find(|grant| grant.id == id).ok_or_else(unknown)?;
    Ok(Json(GrantView::of(found)))
}

fn unknown() -> Problem {
    Problem::not_found("there is no such grant")
}
