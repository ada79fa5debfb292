//! The question of a waiting request, with everything that a person needs for an answer.

use std::sync::Arc;

use bestow::{
    AgentId, Kind, Permission,
    action::{ActionFacts, CommandShape, Operation},
    command::Tier,
    control::Admin,
    event::{Timestamp, camel_case},
    grant::Scope,
    request::Request,
    user::OwnerId,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::parts::{PartView, Parts};
use crate::shown;

/// The content of a waiting request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Question {
    #[schema(value_type = String)]
    agent_id: AgentId,
    /// The name of the agent, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
    #[schema(value_type = String)]
    agent_kind: Kind,
    /// The agents above this one: its creator first, and the creator's creators after it.
    #[schema(value_type = Vec<String>)]
    above: Vec<AgentId>,
    #[schema(value_type = String)]
    owner_id: OwnerId,
    /// The permissions that the agent lacks. An approval gives them.
    #[schema(value_type = Vec<String>)]
    permissions: Vec<Permission>,
    /// The action, if the agent wants to do one.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<ActionView>,
    /// True if an approval for longer than once gives only the permissions, for all actions of the agent.
    only_lacks: bool,
    /// The content that the action writes or sends, without its secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    /// The statements of the hooks of the host program that asked for a person. Foreign text in them is quoted.
    hooks: Vec<String>,
    /// The agent's reason.
    reason: String,
    /// The reason why a person must decide about the action: the rule with its place and its words, the missing
    /// permission, or the tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The widest scope that the agent asks for.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// The kinds of scope that an approval may have.
    scopes: Vec<ScopeKind>,
    /// The decision that an approval for always saves, as a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    always: Option<String>,
    /// True if the question does not show everything. Then an approval is valid once.
    once_only: bool,
    #[schema(value_type = String)]
    run_id: bestow::agent::RunId,
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// The time at which the request expires.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// The place where the request waits, for people.
    route: String,
    /// The question as a text for people. Text of the agent in it is quoted.
    text: String,
}

/// The kind of a scope.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ScopeKind {
    Once,
    Session,
    Until,
    Always,
}

/// An action, without its secrets.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ActionView {
    #[schema(value_type = String)]
    operation: Operation,
    tool: String,
    /// The path, command line or host.
    resource: String,
    /// The directory in which the action happens, if it is not the agent's working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    /// The input of the tool. A long one is `{"shown", "leftOut", "digest"}`.
    #[schema(value_type = Object)]
    input: Value,
    #[schema(value_type = String)]
    tier: Tier,
    tier_reason: String,
    destructive: bool,
    /// The effects of a destructive action, and advice.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    impact: Option<Value>,
    /// The commands that an approval until a time, or for always, covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<String>,
    /// The first parts of a command line, in their order.
    #[schema(value_type = Vec<PartView>)]
    parts: Arc<[PartView]>,
    /// The number of the other parts.
    parts_left_out: usize,
    /// The further uses of the action: permissions, paths and hosts.
    #[schema(value_type = Vec<Object>)]
    uses: Vec<Value>,
}

impl Question {
    pub(super) fn of(request: &Request, route: String, admin: &Admin, parts: &Parts) -> Question {
        Question {
            agent_id: request.from.clone(),
            agent_name: request.name.as_ref().map(|name| name.as_str().to_owned()),
            agent_kind: request.kind,
            above: admin.creators(&request.from),
            owner_id: request.owner.clone(),
            permissions: request.permissions().cloned().collect(),
            action: request
                .action
                .as_deref()
                .map(|action| ActionView::of(action, request.lasting_shape(), parts.of(request.id, action, admin))),
            always: request.lasting().map(|lasting| lasting.to_string()),
            only_lacks: request.only_lacks,
            details: request.details.as_ref().map(ToString::to_string),
            hooks: request.hooks_say.iter().map(ToString::to_string).collect(),
            reason: request.reason.to_string(),
            why: request.why.as_ref().map(ToString::to_string),
            scope: request.scope,
            scopes: scopes(request),
            once_only: request.is_once_only(),
            run_id: request.run.clone(),
            since: request.since,
            expires_at: request.deadline,
            route,
            text: request.to_string(),
        }
    }
}

/// Returns the kinds of scope that an approval of `request` may have.
fn scopes(request: &Request) -> Vec<ScopeKind> {
    let moment = match request.scope {
        Some(Scope::Until(end)) => end,
        _ => request.deadline,
    };
    let kinds = [
        (ScopeKind::Once, Scope::Once),
        (ScopeKind::Session, Scope::Session),
        (ScopeKind::Until, Scope::Until(moment)),
        (ScopeKind::Always, Scope::Always),
    ];
    kinds.into_iter().filter(|(_, scope)| request.accepts_scope(*scope)).map(|(kind, _)| kind).collect()
}

impl ActionView {
    fn of(
        action: &ActionFacts,
        shape: Option<&CommandShape>,
        (parts, parts_left_out): (Arc<[PartView]>, usize),
    ) -> ActionView {
        ActionView {
            operation: action.operation,
            tool: action.tool.to_string(),
            resource: action.resource.to_string(),
            directory: action.directory.as_ref().map(ToString::to_string),
            input: shown::tool_input(action),
            tier: action.tier,
            tier_reason: action.tier_reason.to_string(),
            destructive: action.destructive.is_some(),
            impact: action.destructive.as_ref().map(|impact| camel_case(json!(impact))),
            shape: shape.map(|shape| shape.phrase().to_string()),
            parts,
            parts_left_out,
            uses: action.uses.iter().map(|used| json!(used)).collect(),
        }
    }
}
