//! Runs: people and the host program begin, join, start and end them. An agent never does.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{AgentId, Engine, Event, agent::RunId, user::OwnerId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    input::{Asked, Named, Sent},
    owner::OfOwner,
    sender::Person,
};
use crate::{identity::Entrance, problem::Problem};

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(list, begin)).routes(routes!(end)).routes(routes!(join)).routes(routes!(start))
}

/// A run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RunView {
    #[schema(value_type = String)]
    run_id: RunId,
    #[schema(value_type = String)]
    owner_id: OwnerId,
    /// The agents in it.
    #[schema(value_type = Vec<String>)]
    agents: Vec<AgentId>,
    /// True while programs that this server has started act for its agents.
    is_running: bool,
}

/// The runs.
#[derive(Debug, Serialize, ToSchema)]
struct RunList {
    runs: Vec<RunView>,
}

/// Lists the runs that agents are in. An agent is always in one.
#[utoipa::path(
    get, path = "/v1/runs", tag = "runs", params(OfOwner),
    responses((status = 200, description = "The runs.", body = RunList))
)]
async fn list(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Asked(owner): Asked<OfOwner>,
) -> Result<Json<RunList>, Problem> {
    let owner = owner.owner(&person)?;
    let runs = entrance.runs().all(&owner)?.into_iter();
    let view = |(run_id, agents)| RunView {
        is_running: entrance.runs().is_running(&owner, &run_id),
        owner_id: owner.clone(),
        run_id,
        agents,
    };
    Ok(Json(RunList { runs: runs.map(view).collect() }))
}

/// A run to begin.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewRun {
    /// The agents that enter it. Each leaves the run that it was in. Without this field, all agents with a `command` in
    /// the policy file.
    #[schema(value_type = Option<Vec<String>>)]
    agents: Option<Vec<AgentId>>,
    /// The working directory of the agents. A run of agents with another one is refused.
    cwd: Option<String>,
}

/// Begins a run, with a new id. Grants and decisions for the session, and requests, of the runs before end.
#[utoipa::path(
    post, path = "/v1/runs", tag = "runs", request_body = NewRun, params(OfOwner),
    responses((status = 201, description = "The agents are in the run.", body = RunView))
)]
async fn begin(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Asked(owner): Asked<OfOwner>,
    Sent(NewRun { agents, cwd }): Sent<NewRun>,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let owner_id = owner.owner(&person)?;
    let approver = person.admin.approver(&owner_id, person.by);
    let (runs, owner) = (entrance.runs(), owner_id.clone());
    let work = async move { runs.prepare(&approver, &owner, agents, cwd.as_deref()).await };
    let (run_id, agents) = entrance.work(&person.caller, work).await??;
    Ok((StatusCode::CREATED, Json(RunView { run_id, owner_id, agents, is_running: false })))
}

/// An agent that enters a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JoinBody {
    #[schema(value_type = String)]
    agent_id: AgentId,
}

/// Puts an agent into a run in which other agents of its owner are. The policies and denials of that run apply to it.
#[utoipa::path(
    post, path = "/v1/runs/{run}/join", tag = "runs", request_body = JoinBody,
    params(("run" = String, Path, description = "The id of the run."), OfOwner),
    responses((status = 200, description = "The run.", body = RunView))
)]
async fn join(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Named(run): Named<RunId>,
    Asked(owner): Asked<OfOwner>,
    Sent(JoinBody { agent_id }): Sent<JoinBody>,
) -> Result<Json<RunView>, Problem> {
    let owner_id = owner.owner(&person)?;
    let approver = person.admin.approver(&owner_id, person.by);
    let (runs, owner, run_id) = (entrance.runs(), owner_id.clone(), run.clone());
    let work = async move { runs.join(&approver, &owner, &run, &agent_id).await };
    let agents = entrance.work(&person.caller, work).await??;
    let is_running = entrance.runs().is_running(&owner_id, &run_id);
    Ok(Json(RunView { run_id, owner_id, agents, is_running }))
}

/// The begin of the programs of a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StartRunBody {
    /// A text that each program gets as a message.
    input: Option<String>,
}

/// Starts the programs that the policy file has for the agents of a run.
#[utoipa::path(
    post, path = "/v1/runs/{run}/start", tag = "runs", request_body = StartRunBody,
    params(("run" = String, Path, description = "The id of the run."), OfOwner),
    responses((status = 204, description = "The programs are started."))
)]
async fn start(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Named(run): Named<RunId>,
    Asked(owner): Asked<OfOwner>,
    Sent(StartRunBody { input }): Sent<StartRunBody>,
) -> Result<StatusCode, Problem> {
    let (owner, runs) = (owner.owner(&person)?, entrance.runs());
    let work = async move { runs.start(&owner, &run, input.as_deref()).await };
    entrance.work(&person.caller, work).await??;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends a run: its programs, what waits for a person, and everything that was valid for it.
#[utoipa::path(
    delete, path = "/v1/runs/{run}", tag = "runs",
    params(("run" = String, Path, description = "The id of the run."), OfOwner),
    responses((status = 204, description = "The run ends."))
)]
async fn end(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Named(run): Named<RunId>,
    Asked(owner): Asked<OfOwner>,
) -> Result<StatusCode, Problem> {
    let owner = owner.owner(&person)?;
    let approver = person.admin.approver(&owner, person.by);
    let runs = entrance.runs();
    entrance.work(&person.caller, async move { runs.stop(&approver, &owner, &run).await }).await??;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
/// A run is complete if each of the agents that were named has entered it, or each with a `command`.
pub(super) fn stored_run(events: &[Event], body: &[u8], engine: &Engine) -> Option<Response> {
    let begun: Vec<_> = events.iter().filter_map(entered).collect();
    let (first, run_id) = begun.last().map(|(agent, run)| (*agent, (*run).clone()))?;
    let agents: Vec<_> = begun.iter().filter(|(_, run)| **run == run_id).map(|(agent, _)| (*agent).clone()).collect();
    let owner_id = engine.agent(first).and_then(|agent| agent.profile()).ok()?.owner.clone();
    let wanted = match serde_json::from_slice::<NewRun>(body).ok()?.agents {
        Some(named) => named,
        None => {
            let all = engine.agents().ok()?.into_iter();
            let own = all.filter(|profile| profile.owner == owner_id && profile.bot.is_some());
            own.map(|profile| profile.id.clone()).collect()
        }
    };
    let is_whole = wanted.iter().all(|agent| agents.contains(agent));
    let view = RunView { run_id, owner_id, agents, is_running: false };
    is_whole.then(|| (StatusCode::CREATED, Json(view)).into_response())
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_join(events: &[Event], entrance: &Entrance) -> Option<Response> {
    let (agent, run_id) = events.iter().find_map(entered)?;
    let owner_id = entrance.engine().agent(agent).and_then(|agent| agent.profile()).ok()?.owner.clone();
    let mut agents = entrance.runs().all(&owner_id).ok()?.remove(run_id).unwrap_or_default();
    if !agents.contains(agent) {
        // The run may have ended since.
        agents.push(agent.clone());
    }
    let is_running = entrance.runs().is_running(&owner_id, run_id);
    Some(Json(RunView { run_id: run_id.clone(), owner_id, agents, is_running }).into_response())
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_end(events: &[Event]) -> Option<Response> {
    let has_ended = events.iter().any(|event| matches!(event, Event::RunEnded { .. }));
    has_ended.then(|| StatusCode::NO_CONTENT.into_response())
}

/// Returns an agent that entered a run, and the run.
fn entered(event: &Event) -> Option<(&AgentId, &RunId)> {
    if let Event::RunBegan { agent, run, .. } = event { Some((agent, run)) } else { None }
}
