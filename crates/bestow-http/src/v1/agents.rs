//! Agents: a person sees them, and sets their modes.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use bestow::{
    AgentId, Engine, Event, Permission, Profile,
    agent::Mode,
    control::Admin,
    decision::{PermissionState, ProvenanceStep, SavedDecisionId},
    event::camel_case,
    text::Reason,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    authorize::ActionBody,
    explain::ExplainResult,
    input::{Asked, Named, Sent},
    sender::Person,
    view::{AgentView, GrantView},
};
use crate::{identity::Entrance, problem::Problem};

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(set_mode))
        .routes(routes!(why))
        .routes(routes!(enable))
}

/// The agents.
#[derive(Debug, Serialize, ToSchema)]
struct AgentList {
    agents: Vec<AgentView>,
}

/// An agent, and its permission state.
#[derive(Debug, Serialize, ToSchema)]
struct AgentState {
    agent: AgentView,
    /// The mode, the rules, the policies of the run, the setting that allows questions, and the permissions.
    #[schema(value_type = Object)]
    state: Value,
    /// The state as a text for people.
    text: String,
}

impl AgentState {
    fn of(agent: AgentView, state: &PermissionState) -> AgentState {
        AgentState { agent, text: state.to_string(), state: camel_case(json!(state)) }
    }
}

/// Lists the agents of the owner. An operator sees all.
#[utoipa::path(
    get, path = "/v1/agents", tag = "agents",
    responses((status = 200, description = "The agents, by id.", body = AgentList))
)]
async fn list(State(entrance): State<Arc<Entrance>>, Person { admin, .. }: Person) -> Result<Json<AgentList>, Problem> {
    let view = |profile: &Arc<Profile>| AgentView::of(profile, entrance.engine());
    Ok(Json(AgentList { agents: admin.agents()?.iter().map(view).collect() }))
}

/// Returns an agent with its permission state. An agent uses `/v1/agents/me`.
#[utoipa::path(
    get, path = "/v1/agents/{agent}", tag = "agents",
    params(("agent" = String, Path, description = "The id of the agent.")),
    responses((status = 200, description = "The agent.", body = AgentState))
)]
async fn get(
    State(entrance): State<Arc<Entrance>>,
    Person { admin, .. }: Person,
    Named(agent): Named<AgentId>,
) -> Result<Json<AgentState>, Problem> {
    let view = AgentView::of(&*admin.profile(&agent)?, entrance.engine());
    Ok(Json(AgentState::of(view, &admin.state(&agent)?)))
}

/// A mode.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ModeBody {
    /// The mode: `default`, `untrusted`, `on_request`, `on_failure`, `never`, `plan`, `bypass` or `auto`.
    #[schema(value_type = String)]
    mode: Mode,
}

/// Sets the mode of an agent.
#[utoipa::path(
    put, path = "/v1/agents/{agent}/mode", tag = "agents", request_body = ModeBody,
    params(("agent" = String, Path, description = "The id of the agent.")),
    responses((status = 200, description = "The agent, in its mode.", body = AgentView))
)]
async fn set_mode(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, by }: Person,
    Named(agent): Named<AgentId>,
    Sent(ModeBody { mode }): Sent<ModeBody>,
) -> Result<Json<AgentView>, Problem> {
    admin.profile(&agent)?;
    let (orders, id) = (admin.clone(), agent.clone());
    entrance.work(&caller, async move { orders.set_mode(&id, mode, by).await }).await??;
    Ok(Json(AgentView::of(&*admin.profile(&agent)?, entrance.engine())))
}

/// A permission to explain.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OfPermission {
    /// The permission, percent-encoded.
    #[param(value_type = String)]
    permission: Permission,
}

/// The provenance of a permission.
#[derive(Debug, Serialize, ToSchema)]
struct Provenance {
    /// The grant of the agent first, the root last. It is empty if the agent does not hold the permission.
    chain: Vec<ProvenanceLink>,
}

/// One link of a provenance.
#[derive(Debug, Serialize, ToSchema)]
struct ProvenanceLink {
    kind: LinkKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<GrantView>,
    text: String,
}

/// The kind of a link: `replaced` supports nothing, because another object is at the path now.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum LinkKind {
    Grant,
    FreeReading,
    Replaced,
}

/// Explains by which grants an agent holds a permission.
#[utoipa::path(
    get, path = "/v1/agents/{agent}/why", tag = "agents",
    params(("agent" = String, Path, description = "The id of the agent."), OfPermission),
    responses((status = 200, description = "The chain of grants.", body = Provenance))
)]
async fn why(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
    Named(agent): Named<AgentId>,
    Asked(OfPermission { permission }): Asked<OfPermission>,
) -> Result<Json<Provenance>, Problem> {
    let chain = entrance.work(&caller, async move { admin.why(&agent, &permission) }).await??;
    let link = |step: &ProvenanceStep| {
        let (kind, grant) = match step {
            ProvenanceStep::Grant(grant) => (LinkKind::Grant, Some(GrantView::of(grant))),
            ProvenanceStep::Replaced(grant) => (LinkKind::Replaced, Some(GrantView::of(grant))),
            ProvenanceStep::FreeReading => (LinkKind::FreeReading, None),
        };
        ProvenanceLink { kind, grant, text: step.to_string() }
    };
    Ok(Json(Provenance { chain: chain.iter().map(link).collect() }))
}

/// Explains the decision that an action of an agent would get now. Nothing is decided, asked or consumed.
#[utoipa::path(
    post, path = "/v1/agents/{agent}/explain", tag = "agents", request_body = ActionBody,
    params(("agent" = String, Path, description = "The id of the agent.")),
    responses((status = 200, description = "The explanation.", body = ExplainResult))
)]
pub(super) async fn explain(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
    Named(agent): Named<AgentId>,
    Sent(body): Sent<ActionBody>,
) -> Result<Json<ExplainResult>, Problem> {
    let action = body.action()?;
    let explained = entrance.work(&caller, async move { admin.explain(&agent, &action) }).await??;
    Ok(Json(ExplainResult::of(&explained)))
}

/// An action to enable.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EnableBody {
    action: ActionBody,
    #[schema(value_type = String)]
    reason: Reason,
}

/// An enabled action.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Enabled {
    /// The saved decision. Revoking it withdraws the approval.
    #[schema(value_type = String)]
    saved_decision_id: SavedDecisionId,
}

/// Enables exactly this action of an agent once, even if it is destructive. Rules that deny it still apply.
#[utoipa::path(
    post, path = "/v1/agents/{agent}/enable", tag = "agents", request_body = EnableBody,
    params(("agent" = String, Path, description = "The id of the agent.")),
    responses((status = 200, description = "The action passes once.", body = Enabled))
)]
async fn enable(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, by }: Person,
    Named(agent): Named<AgentId>,
    Sent(EnableBody { action, reason }): Sent<EnableBody>,
) -> Result<Json<Enabled>, Problem> {
    let (approver, action) = (admin.approver_of(&agent, by)?, action.action()?);
    let saved = entrance.work(&caller, async move { approver.enable(agent, &action, reason).await }).await??;
    Ok(Json(Enabled { saved_decision_id: saved }))
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_mode(events: &[Event], admin: &Admin, engine: &Engine) -> Option<Response> {
    let agent = events.iter().find_map(|event| {
        let Event::ModeChanged { agent, .. } = event else { return None };
        Some(agent)
    })?;
    let profile = admin.profile(agent).ok()?;
    Some(Json(AgentView::of(&profile, engine)).into_response())
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_approval(events: &[Event]) -> Option<Response> {
    let made = |event: &Event| if let Event::RulingMade { ruling } = event { Some(ruling.id) } else { None };
    let saved_decision_id = events.iter().find_map(made)?;
    Some(Json(Enabled { saved_decision_id }).into_response())
}
