//! The policies for the tools of a run: a person sees them and adds to them.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use bestow::{
    Approver, Event,
    agent::RunId,
    decision::Verdict,
    event::camel_case,
    path::SanitizedPath,
    stdio::{PolicyMode, UpdatePolicy},
    tool::{ToolName, ToolPolicies, ToolPolicy},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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
    OpenApiRouter::new().routes(routes!(get, update))
}

/// The policies of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RunPolicies {
    #[schema(value_type = String)]
    run_id: RunId,
    /// The tools that were declared or used or that a saved decision of this run is about, by name.
    tools: Vec<ToolPolicyView>,
    /// The policies of every other tool, from its first use on.
    later_tools: PoliciesView,
}

/// The policies of tools that are not named.
#[derive(Debug, Serialize, ToSchema)]
struct PoliciesView {
    /// The names of the policies.
    names: Vec<String>,
    #[schema(value_type = Object)]
    policies: Value,
}

impl PoliciesView {
    fn of(policies: &ToolPolicies) -> PoliciesView {
        let names = policies.names().into_iter().map(str::to_owned).collect();
        PoliciesView { names, policies: camel_case(json!(policies)) }
    }
}

/// The policies of one tool.
#[derive(Debug, Serialize, ToSchema)]
struct ToolPolicyView {
    tool: String,
    /// The names of everything that applies: policies first, then saved decisions for this run.
    names: Vec<String>,
    #[schema(value_type = Object)]
    policies: Value,
}

impl ToolPolicyView {
    fn of(policy: &ToolPolicy) -> ToolPolicyView {
        ToolPolicyView {
            tool: policy.tool.to_string(),
            names: policy.names.iter().map(ToString::to_string).collect(),
            policies: camel_case(json!(*policy.policies)),
        }
    }
}

fn policies(approver: &Approver, run: RunId) -> Result<Json<RunPolicies>, Problem> {
    let tools = approver.guards(&run)?.iter().map(ToolPolicyView::of).collect();
    let later_tools = PoliciesView::of(&*approver.later_policies(&run)?);
    Ok(Json(RunPolicies { run_id: run, tools, later_tools }))
}

/// Returns the policies for the tools of a run.
#[utoipa::path(
    get, path = "/v1/runs/{run}/policies", tag = "policies",
    params(("run" = String, Path, description = "The id of the run."), OfOwner),
    responses((status = 200, description = "The policies.", body = RunPolicies))
)]
async fn get(
    State(_): State<Arc<Entrance>>,
    person: Person,
    Named(run): Named<RunId>,
    Asked(owner): Asked<OfOwner>,
) -> Result<Json<RunPolicies>, Problem> {
    policies(&owner.approver(&person)?, run)
}

/// An addition to the path policies of one tool, or of all tools that the run has and will have.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PolicyUpdate {
    /// The tool. Without it, all tools.
    #[schema(value_type = Option<String>)]
    tool: Option<ToolName>,
    /// The access: `read` or `write`.
    #[schema(value_type = String)]
    mode: PolicyMode,
    /// Globs that are allowed from now on.
    #[serde(default)]
    allow: Vec<String>,
    /// Globs that are denied from now on.
    #[serde(default)]
    deny: Vec<String>,
    /// The verdict for all other paths from now on: `allow`, `ask` or `deny`.
    #[schema(value_type = Option<String>)]
    default: Option<Verdict>,
    /// The directory of globs without a leading `/`. Without it, the working directory of the run's agents.
    #[schema(value_type = Option<String>)]
    base: Option<SanitizedPath>,
}

/// Adds to the policies of a run. Requests that the policies now answer end.
#[utoipa::path(
    patch, path = "/v1/runs/{run}/policies", tag = "policies", request_body = PolicyUpdate,
    params(("run" = String, Path, description = "The id of the run."), OfOwner),
    responses((status = 200, description = "The policies after the change.", body = RunPolicies))
)]
async fn update(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Named(run): Named<RunId>,
    Asked(owner): Asked<OfOwner>,
    Sent(PolicyUpdate { tool, mode, allow, deny, default, base }): Sent<PolicyUpdate>,
) -> Result<Json<RunPolicies>, Problem> {
    let approver = owner.approver(&person)?;
    let changer = approver.clone();
    let update = UpdatePolicy { run_id: run.clone(), tool, mode, allow, deny, default, base, request_id: None };
    let changing = async move { changer.update_policy(&update.run_id, update.patch()).await };
    entrance.work(&person.caller, changing).await??;
    policies(&approver, run)
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_policies(events: &[Event]) -> Option<Response> {
    let (mut run_id, mut tools, mut later_tools) = (None, Vec::new(), PoliciesView::of(&ToolPolicies::default()));
    for event in events {
        if let Event::PolicyUpdated { run, tool, policies, rules, .. } = event {
            run_id = Some(run.clone());
            let names = policies.iter().map(ToString::to_string).collect();
            let view = ToolPolicyView { tool: tool.to_string(), names, policies: camel_case(json!(**rules)) };
            tools.push(view);
        } else if let Event::PolicyForAll { run, rules, .. } = event {
            run_id = Some(run.clone());
            later_tools = PoliciesView::of(rules);
        }
    }
    Some(Json(RunPolicies { run_id: run_id?, tools, later_tools }).into_response())
}
