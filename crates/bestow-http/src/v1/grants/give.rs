//! `POST /v1/grants`: gives permissions to an agent.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{
    AgentId, Event, Permission,
    grant::{GrantId, Hold, Scope},
    text::Reason,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{
        input::{self, Sent},
        sender::{Person, Sender},
    },
};

/// Permissions for an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GiveBody {
    /// The agent that receives them.
    #[schema(value_type = String)]
    agent_id: AgentId,
    /// The permissions, at most 32. All of them are given, or none.
    #[schema(value_type = Vec<String>, min_items = 1, max_items = 32)]
    permissions: Vec<Permission>,
    /// The reason. The receiver learns it.
    #[schema(value_type = String)]
    reason: Reason,
    /// The scope: `once`, `session`, `always` (the default) or `until TIME`.
    #[schema(value_type = Option<String>)]
    scope: Option<Scope>,
    /// The use: `use` (the default), or `pass_on` for passing on only. A person decides it.
    #[schema(value_type = Option<String>)]
    hold: Option<Hold>,
}

/// The new grants.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Given {
    /// The ids, in the order of the permissions. An equal grant that is there already keeps its id.
    #[schema(value_type = Vec<String>)]
    grant_ids: Vec<GrantId>,
}

/// Gives permissions to an agent. An agent passes on what it holds. A person gives any permission that is not
/// protected.
#[utoipa::path(
    post, path = "/v1/grants", tag = "grants", request_body = GiveBody,
    responses((status = 201, description = "The grants are in force.", body = Given))
)]
pub(super) async fn give(
    State(entrance): State<Arc<Entrance>>,
    sender: Sender,
    Sent(GiveBody { agent_id, permissions, reason, scope, hold }): Sent<GiveBody>,
) -> Result<(StatusCode, Json<Given>), Problem> {
    let (permissions, scope) = (input::several(permissions)?, scope.unwrap_or(Scope::Always));
    let given = match sender {
        Sender::Agent(_) if hold.is_some() => {
            return Err(Problem::forbidden("`hold`: only a person decides if an agent may use what it receives"));
        }
        Sender::Agent(from) => {
            let agent = from.agent;
            let granting = async move { agent.grant_for(agent_id, permissions, scope, reason).await };
            entrance.work(&from.caller, granting).await??
        }
        Sender::Person(Person { caller, admin, by }) => {
            let approver = admin.approver_of(&agent_id, by)?;
            let giving = async move {
                match hold.unwrap_or(Hold::Use) {
                    Hold::Use => approver.give(agent_id, permissions, scope, reason).await,
                    Hold::PassOn => approver.give_to_pass_on(agent_id, permissions, scope, reason).await,
                }
            };
            entrance.work(&caller, giving).await??
        }
    };
    Ok((StatusCode::CREATED, Json(Given { grant_ids: given })))
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(in crate::v1) fn stored_grants(events: &[Event]) -> Option<Response> {
    let grant_ids: Vec<_> = events.iter().filter_map(Event::granted).collect();
    (!grant_ids.is_empty()).then(|| (StatusCode::CREATED, Json(Given { grant_ids })).into_response())
}
