//! Agents, grants and saved decisions as this dialect shows them.

use bestow::{
    AgentId, Engine, Kind, Permission, Profile,
    agent::{Mode, RunId},
    decision::{SavedDecision, SavedDecisionId, Verdict},
    event::Timestamp,
    grant::{Grant, GrantId, Hold, Origin, Scope},
    request::RequestId,
    user::OwnerId,
};
use serde::Serialize;
use utoipa::ToSchema;

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentView {
    #[schema(value_type = String)]
    id: AgentId,
    #[schema(value_type = String)]
    owner_id: OwnerId,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The kind: `foreground`, `cron`, `heartbeat`, `subagent`, `system` or `permanent`.
    #[schema(value_type = String)]
    kind: Kind,
    working_dir: String,
    /// The mode: `default`, `untrusted`, `on_request`, `on_failure`, `never`, `plan`, `bypass` or `auto`.
    #[schema(value_type = String)]
    mode: Mode,
    /// The agent that created this one.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<AgentId>,
    /// The run of the agent. It is missing if the agent has just been retired.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
}

impl AgentView {
    pub(super) fn of(profile: &Profile, engine: &Engine) -> AgentView {
        AgentView {
            id: profile.id.clone(),
            owner_id: profile.owner.clone(),
            name: profile.name.as_ref().map(|name| name.as_str().to_owned()),
            kind: profile.kind,
            working_dir: profile.working_dir.as_str().to_owned(),
            mode: profile.mode,
            parent: profile.parent.clone(),
            run_id: engine.run_of(&profile.id).ok(),
        }
    }
}

/// A grant: a permission of one agent, and its source.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GrantView {
    #[schema(value_type = String, example = "g4")]
    id: GrantId,
    /// The agent that holds the permission.
    #[schema(value_type = String)]
    agent_id: AgentId,
    #[schema(value_type = String)]
    permission: Permission,
    /// The use of the permission: `use`, or `pass_on` for passing on only.
    #[schema(value_type = String)]
    hold: Hold,
    origin: OriginView,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The scope: `once`, `session`, `always` or `until TIME`.
    #[schema(value_type = String)]
    scope: Scope,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// The number of agents through which the permission was passed on.
    depth: u8,
    /// The grant as a text for people.
    text: String,
}

/// The source of a grant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum OriginView {
    /// Another agent, which passed the permission on.
    Agent {
        #[serde(rename = "agentId")]
        #[schema(value_type = String)]
        agent_id: AgentId,
    },
    /// A line of the policy file.
    File { place: String },
    /// The host program.
    Operator,
    /// A person.
    Person {
        by: String,
        means: String,
        #[schema(value_type = Option<String>)]
        #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
        request_id: Option<RequestId>,
    },
}

impl GrantView {
    pub(super) fn of(grant: &Grant) -> GrantView {
        GrantView {
            id: grant.id,
            agent_id: grant.to.clone(),
            permission: grant.pinned.permission.clone(),
            hold: grant.hold,
            origin: match &grant.origin {
                Origin::Agent { from } => OriginView::Agent { agent_id: from.clone() },
                Origin::Config(place) => OriginView::File { place: place.to_string() },
                Origin::Operator => OriginView::Operator,
                Origin::Person { by, means, request } => {
                    OriginView::Person { by: by.to_string(), means: means.to_string(), request_id: *request }
                }
            },
            reason: grant.reason.as_ref().map(ToString::to_string),
            scope: grant.scope,
            run_id: grant.run.clone(),
            since: grant.since,
            until: grant.until,
            depth: grant.depth,
            text: grant.to_string(),
        }
    }
}

/// A saved decision of a person about an action.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SavedDecisionView {
    #[schema(value_type = String, example = "r2")]
    id: SavedDecisionId,
    #[schema(value_type = String)]
    agent_id: AgentId,
    #[schema(value_type = String)]
    owner_id: OwnerId,
    /// The decision: `allow` or `deny`.
    #[schema(value_type = String)]
    verdict: Verdict,
    tool: String,
    operation: String,
    /// The path, command line or host, without secrets.
    resource: String,
    #[schema(value_type = String)]
    scope: Scope,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    /// The permissions that the action may use with it.
    #[schema(value_type = Vec<String>)]
    gives: Vec<Permission>,
    by: String,
    means: String,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// The decision as a text for people.
    text: String,
}

impl SavedDecisionView {
    pub(super) fn of(saved: &SavedDecision) -> SavedDecisionView {
        SavedDecisionView {
            id: saved.id,
            agent_id: saved.agent.clone(),
            owner_id: saved.owner.clone(),
            verdict: saved.verdict,
            tool: saved.tool.to_string(),
            operation: saved.operation.to_string(),
            resource: saved.resource.to_string(),
            scope: saved.scope,
            run_id: saved.run.clone(),
            gives: saved.gives.iter().map(|pinned| pinned.permission.clone()).collect(),
            by: saved.by.to_string(),
            means: saved.means.to_string(),
            request_id: saved.request,
            reason: saved.reason.as_ref().map(ToString::to_string),
            since: saved.since,
            until: saved.until,
            text: saved.to_string(),
        }
    }
}
