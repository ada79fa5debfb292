//! `POST /v1/authorize`: the decision about an action that an agent is about to do.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use bestow::{
    Action, Permission,
    action::{Authorization, CallId, Digest, Operation},
    command::Tier,
    decision::{Decision, DecisionId, DecisionSource, Ruled},
    event::Timestamp,
    grant::Scope,
    request::RequestId,
    stdio::{Authorize, DescribedAction},
    text::Reason,
    tool::ToolName,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{
    input::{self, Sent},
    sender::AgentSender,
};
use crate::{identity::Entrance, problem::Problem};

/// An action: `operation` and `resource`, or `toolName` and `toolInput`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ActionBody {
    /// The kind of operation. It goes together with `resource`.
    #[schema(value_type = Option<String>, example = "command.execute")]
    operation: Option<Operation>,
    /// The path, command line or host.
    #[schema(example = "cargo test")]
    resource: Option<String>,
    /// The tool that performs the action.
    #[schema(value_type = Option<String>)]
    tool_name: Option<ToolName>,
    /// The input of the tool, instead of `operation` and `resource`.
    #[schema(value_type = Option<Object>)]
    tool_input: Option<Map<String, Value>>,
    /// The content that will be written or sent: an object or a text. Without it, the person sees `toolInput`.
    #[schema(value_type = Option<Object>)]
    details: Option<Value>,
    /// Permissions that the action uses in addition.
    #[schema(value_type = Option<Vec<String>>)]
    permissions: Option<Vec<Permission>>,
    /// The reason, for the person who decides.
    #[schema(value_type = Option<String>)]
    reason: Option<Reason>,
    /// The program's own name for the tool call. It links the recorded facts of one call.
    #[schema(value_type = Option<String>)]
    tool_call_id: Option<CallId>,
    /// True to ask a person again who denied this for the run.
    #[serde(rename = "override", default)]
    overrides: bool,
}

impl ActionBody {
    /// Returns the action, read as the connector for child processes reads it.
    pub(super) fn action(self) -> Result<Action, Problem> {
        let invalid = |why: String| Problem::new(StatusCode::BAD_REQUEST, "invalid_body", why);
        if self.details.as_ref().is_some_and(|details| !details.is_object() && !details.is_string()) {
            return Err(invalid("`details`: it is an object or a text".to_owned()));
        }
        // A person sees the whole input, and approves exactly this one.
        let details = self.details.or_else(|| self.tool_input.clone().map(Value::Object));
        let action = DescribedAction {
            operation: self.operation,
            resource: self.resource,
            tool_name: self.tool_name,
            tool_input: self.tool_input,
            details,
            permissions: self.permissions.map(input::several).transpose()?,
        };
        let described = Authorize {
            action,
            reason: self.reason,
            tool_call_id: self.tool_call_id,
            overrides: self.overrides,
            request_id: None,
        };
        described.action().map_err(|why| invalid(why.to_owned()))
    }
}

/// The decision about an action.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthorizeResult {
    /// True: exactly this action may happen now, once. In every other case it may not.
    allow: bool,
    /// The decision: `allow`, `deny`, `ask`, `sandboxed` or `unavailable`.
    #[schema(value_type = String)]
    decision: Ruled,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_id: Option<DecisionId>,
    /// The source of the decision.
    #[schema(value_type = String)]
    decision_source: DecisionSource,
    /// The reason: why, about which path or host, and each rule with its place and its words.
    decision_reason: String,
    /// The rules, policies and other sources, strongest first, each as one line.
    rule_refs: Vec<String>,
    /// The digest of the input that runs, if it is not the requested input.
    #[schema(value_type = Option<String>)]
    updated_input_ref: Option<Digest>,
    /// The request that asks a person, or asked one.
    #[schema(value_type = Option<String>)]
    approval_action_id: Option<RequestId>,
    /// The time at which the decision expires.
    #[schema(value_type = Option<String>)]
    expires_at: Option<Timestamp>,
    /// The scope that the person chose.
    #[schema(value_type = Option<String>)]
    scope: Option<Scope>,
    /// The tier: `safe`, `dangerous` or `destructive`.
    #[schema(value_type = String)]
    tier: Tier,
    /// The permissions that the action needs and the agent does not hold.
    #[schema(value_type = Vec<String>)]
    missing: Vec<Permission>,
    /// The request that waits for a person. After an approval, the same action is allowed once.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<RequestId>,
    /// The short code of that request, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The reason, for people.
    reason: String,
}

impl AuthorizeResult {
    pub(super) fn of(decision: &Decision) -> AuthorizeResult {
        let waits = decision.approval_action_id.filter(|_| decision.decision == Ruled::Ask);
        let fields = decision.fields();
        AuthorizeResult {
            allow: decision.decision == Ruled::Allow,
            decision: fields.decision,
            decision_id: decision.id,
            decision_source: fields.decision_source,
            decision_reason: fields.decision_reason,
            rule_refs: fields.rule_refs,
            updated_input_ref: fields.updated_input_ref,
            approval_action_id: fields.approval_action_id,
            expires_at: fields.expires_at,
            scope: fields.scope,
            tier: decision.action.tier,
            missing: decision.missing.clone(),
            request_id: waits,
            code: waits.map(|id| id.code().to_string()),
            reason: decision.to_string(),
        }
    }

    pub(super) fn of_authorized(authorized: &Authorization) -> AuthorizeResult {
        let told = AuthorizeResult::of(authorized.decision());
        let is_changed = match authorized {
            Authorization::Updated(..) => true,
            Authorization::Confined(_, what) => what.instead().is_some(),
            Authorization::Allowed(_) | Authorization::Asked(..) | Authorization::Denied(_) => false,
        };
        if is_changed {
            // The described action is not the one that may happen.
            let why = "a hook of the host program changed the action, so it may not happen";
            let reason = format!("{why}: {}", told.reason);
            let decision_reason = why.to_owned();
            return AuthorizeResult { allow: false, decision: Ruled::Deny, decision_reason, reason, ..told };
        }
        AuthorizeResult { allow: authorized.is_allowed(), ..told }
    }
}

/// Decides about an action of the agent. If a person must decide, the answer has the id of the request.
#[utoipa::path(
    post, path = "/v1/authorize", tag = "agent", request_body = ActionBody,
    responses((status = 200, description = "The decision. It is recorded.", body = AuthorizeResult))
)]
pub(super) async fn authorize(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Sent(body): Sent<ActionBody>,
) -> Result<Json<AuthorizeResult>, Problem> {
    let action = body.action()?;
    let authorized = entrance.work(&caller, async move { agent.authorize(action).await }).await??;
    Ok(Json(AuthorizeResult::of_authorized(&authorized)))
}
