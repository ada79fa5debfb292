//! Messages to an agent's bot.

use serde::{Deserialize, Serialize};

use crate::model::{
    AgentId, DecisionId, DecisionSource, Digest, GrantId, Kind, Name, Outcome, Permission, Reason, RequestId, Ruled,
    Scope, Tier, Timestamp,
};

use super::{
    Answered, Bye, Fault, Notice, ProcessExited, ProcessListResult, ProcessOutput, ProcessStarted, ProcessStopping,
    ProcessWritten, RevokeResult, Role,
};

/// A line to a bot that acts as an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToAgent {
    /// The identity of the agent. The first line.
    Hello(AgentHello),
    /// The request was accepted. Its result follows later.
    RequestAccepted(Answered<RequestAccepted>),
    /// The result of a request.
    PermissionResult(PermissionResult),
    /// The other agent now holds the granted permissions.
    GrantResult(Answered<GrantResult>),
    /// The grant is revoked.
    RevokeResult(Answered<RevokeResult>),
    /// The checked permissions, each with the answer.
    CheckResult(Answered<CheckResult>),
    /// The agent may use the permission once.
    UseResult(Answered<UseResult>),
    /// The decision about the action.
    AuthorizeResult(Answered<AuthorizeResult>),
    /// The agent's permission state.
    PermissionStateResult(Answered<PermissionStateResult>),
    /// The process runs.
    ProcessStarted(Answered<ProcessStarted>),
    /// The agent's processes.
    ProcessListResult(Answered<ProcessListResult>),
    /// The output of a process.
    ProcessOutput(Answered<ProcessOutput>),
    /// The amount of input that a process accepted.
    ProcessWritten(Answered<ProcessWritten>),
    /// A process was asked to end.
    ProcessStopping(Answered<ProcessStopping>),
    /// A process of the agent ended.
    ProcessExited(ProcessExited),
    /// The agent's holdings have changed.
    PolicyUpdated(PolicyUpdated),
    /// A notification for the agent.
    Notice(Notice),
    /// A text from another agent or from the user.
    Message(MessageToAgent),
    /// An order was not carried out.
    Error(Fault),
    /// The last line.
    Bye(Bye),
}

/// The permissions that an agent holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Holdings {
    /// The permissions to use and to pass on.
    pub permissions: Vec<Permission>,
    /// The permissions for one use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<Permission>,
    /// The permissions to pass on, but not to use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grant_only: Vec<Permission>,
}

/// `hello` to an agent's bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentHello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The value `agent`.
    pub role: Role,
    /// The id of the agent.
    pub agent_id: AgentId,
    /// The name of the agent for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<Name>,
    /// The kind of the agent, which decides how it reaches a person.
    pub agent_kind: Kind,
    /// The directory in which its commands start. This field gives no permission there.
    pub working_dir: String,
    /// The agent's holdings.
    #[serde(flatten)]
    pub holdings: Holdings,
    /// The time of this line.
    pub ts: Timestamp,
}

/// `request_accepted`: the request is pending, or is resolved already. `permission_result` follows in both cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RequestAccepted {
    /// The id of the request. A repeated request gets the id of the pending one.
    pub permission_request_id: RequestId,
    /// Its short code, for people.
    pub code: String,
}

/// `permission_result`: the result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionResult {
    /// The id of the request.
    pub permission_request_id: RequestId,
    /// Its short code.
    pub code: String,
    /// The `requestId` of the latest line on this connection that made the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// The requested permissions that the agent holds.
    pub granted: Vec<Permission>,
    /// The requested permissions that the agent does not hold.
    pub refused: Vec<Permission>,
    /// The scope of the grant, if something was granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The input that may be used instead of the requested one, if the person changed it: the path, command line or
    /// host, or the tool with its input, as it may be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<String>,
    /// A remark from the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Reason>,
    /// The whole message as a sentence for people.
    pub text: String,
    /// The time of the resolution.
    pub ts: Timestamp,
}

/// `grant_result`: the other agent now holds the permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GrantResult {
    /// The receiving agent.
    pub agent_id: AgentId,
    /// The grants, in the order of the named permissions.
    pub grant_ids: Vec<GrantId>,
}

/// The answer for one permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "mirrors the engine's answer")]
pub enum Checked {
    /// The agent holds the permission.
    Held,
    /// The agent holds the permission for one use.
    HeldOnce,
    /// The agent does not hold the permission.
    NotHeld,
}

/// One tag, with the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "a question and its answer")]
pub struct CheckedPermission {
    /// The tag.
    pub permission: Permission,
    /// The answer.
    pub held: Checked,
}

/// `check_result`: the permissions held now. A moment later the answer may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckResult {
    /// One answer for each tag, in the order of the check.
    pub results: Vec<CheckedPermission>,
}

/// `use_result`: the agent may go ahead, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UseResult {
    /// The permission.
    pub permission: Permission,
}

/// `authorize_result`: the decision about an action, with its facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthorizeResult {
    /// The decision. `allow`: go ahead, once. `sandboxed`: do not go ahead. The action may only happen inside a
    /// sandbox, which the orchestrator provides. `ask`: wait for `permission_result`.
    pub decision: Ruled,
    /// The id of the decision in the records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<DecisionId>,
    /// The source of the decision.
    pub decision_source: DecisionSource,
    /// The reason: why, about which path or host, and each rule with its place and its words.
    #[serde(default)]
    pub decision_reason: String,
    /// The rules, policies and other sources, strongest first, each as one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_refs: Vec<String>,
    /// The digest of the input that runs, if it is not the requested input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input_ref: Option<Digest>,
    /// The request that asks a person, or asked one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_action_id: Option<RequestId>,
    /// The time at which the decision expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The scope that the person chose, if a person decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The tier of the action: how much harm it may do.
    pub tier: Tier,
    /// True if the action is destructive: it cannot be undone.
    pub destructive: bool,
    /// The permissions that the action needs and the agent does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Permission>,
    /// The id of the request, if a person has to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_request_id: Option<RequestId>,
    /// Its short code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The whole message as a sentence for people.
    pub text: String,
}

/// `permission_state_result`: the current mode, rules, policies, interaction and permissions of the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionStateResult {
    /// The whole permission state.
    pub state: serde_json::Value,
}

/// `policy_updated`: the complete holdings of the agent. It comes before the notice or result that explains it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyUpdated {
    /// The agent.
    pub agent_id: AgentId,
    /// Its holdings.
    #[serde(flatten)]
    pub holdings: Holdings,
    /// The time of the change.
    pub ts: Timestamp,
}

/// `message`: text for the agent. It carries no permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageToAgent {
    /// The sending agent; if missing, the agent's own user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The text, unchanged.
    pub text: String,
    /// The time of the message.
    pub ts: Timestamp,
}
