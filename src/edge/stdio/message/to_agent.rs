//! What an agent's bot hears.

use serde::{Deserialize, Serialize};

use crate::model::{
    AgentId, DecisionId, DecisionSource, GrantId, Kind, Name, Outcome, Permission, Reason, RequestId, Ruled, Scope,
    Tier, Timestamp,
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
    /// Who it is. The first line.
    Hello(AgentHello),
    /// Its question was taken; the answer comes when it comes.
    RequestAccepted(Answered<RequestAccepted>),
    /// How its question ended.
    PermissionResult(PermissionResult),
    /// What it passed on is held now.
    GrantResult(Answered<GrantResult>),
    /// What it took back is gone.
    RevokeResult(Answered<RevokeResult>),
    /// What it holds of what it asked about.
    CheckResult(Answered<CheckResult>),
    /// It may go ahead, once.
    UseResult(Answered<UseResult>),
    /// Whether it may do what it is about to do.
    AuthorizeResult(Answered<AuthorizeResult>),
    /// Its permission state.
    PermissionStateResult(Answered<PermissionStateResult>),
    /// Its process goes on.
    ProcessStarted(Answered<ProcessStarted>),
    /// Its processes.
    ProcessListResult(Answered<ProcessListResult>),
    /// What a process wrote.
    ProcessOutput(Answered<ProcessOutput>),
    /// What a process was given.
    ProcessWritten(Answered<ProcessWritten>),
    /// A process was told to end.
    ProcessStopping(Answered<ProcessStopping>),
    /// A process of its ended.
    ProcessExited(ProcessExited),
    /// What it holds has changed.
    PolicyUpdated(PolicyUpdated),
    /// Something it should know.
    Notice(Notice),
    /// Somebody says something.
    Message(MessageToAgent),
    /// Something was not done.
    Error(Fault),
    /// The last line.
    Bye(Bye),
}

/// What an agent holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Holdings {
    /// For using, and for passing on.
    pub permissions: Vec<Permission>,
    /// For one use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<Permission>,
    /// For passing on, and not for using.
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
    /// `agent`.
    pub role: Role,
    /// Who it is.
    pub agent_id: AgentId,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<Name>,
    /// How it reaches a person.
    pub agent_kind: Kind,
    /// Where its commands start. Gives no right there.
    pub working_dir: String,
    /// What it holds.
    #[serde(flatten)]
    pub holdings: Holdings,
    /// When.
    pub ts: Timestamp,
}

/// `request_accepted`: the question stands, or is over already; `permission_result` follows in either case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RequestAccepted {
    /// The request; the one that waits already, if the question is the same.
    pub permission_request_id: RequestId,
    /// Its short form, for people.
    pub code: String,
}

/// `permission_result`: how a question ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionResult {
    /// The request.
    pub permission_request_id: RequestId,
    /// Its short form.
    pub code: String,
    /// The `requestId` that it was last asked with, on this connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// What the agent holds of what it named.
    pub granted: Vec<Permission>,
    /// What it does not.
    pub refused: Vec<Permission>,
    /// For how long, where something was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What may happen instead of what was asked about, if the person changed it: the path, command line or host, or the
    /// tool with its input, as it may be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<String>,
    /// A word from the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Reason>,
    /// All of this as a sentence for people.
    pub text: String,
    /// When.
    pub ts: Timestamp,
}

/// `grant_result`: the other agent holds it now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GrantResult {
    /// Who.
    pub agent_id: AgentId,
    /// The grants, in the order of what was named.
    pub grant_ids: Vec<GrantId>,
}

/// Whether something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "mirrors the engine's answer")]
pub enum Checked {
    /// Yes.
    Held,
    /// Yes, for one use.
    HeldOnce,
    /// No.
    NotHeld,
}

/// One tag, and whether it is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "a question and its answer")]
pub struct CheckedPermission {
    /// The tag.
    pub permission: Permission,
    /// Whether it is held.
    pub held: Checked,
}

/// `check_result`: what is held now. A moment later it may be otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckResult {
    /// One answer for each tag, in the order of the question.
    pub results: Vec<CheckedPermission>,
}

/// `use_result`: go ahead, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UseResult {
    /// What.
    pub permission: Permission,
}

/// `authorize_result`: whether it may happen, with the facts of the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthorizeResult {
    /// `allow`: go ahead, once. `sandboxed`: do not go ahead; it may happen inside a sandbox only, which the orchestrator
    /// puts around it. `ask`: wait for `permission_result`.
    pub decision: Ruled,
    /// Its name in the records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<DecisionId>,
    /// Who or what decided.
    pub decision_source: DecisionSource,
    /// How harmful it is.
    pub tier: Tier,
    /// Whether nobody can undo it.
    pub destructive: bool,
    /// What the agent would need and does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Permission>,
    /// The question, if a person has to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_request_id: Option<RequestId>,
    /// Its short form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// All of this as a sentence for people.
    pub text: String,
}

/// `permission_state_result`: the mode, rules, policies, interaction and rights of the agent, as they are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionStateResult {
    /// All of it.
    pub state: serde_json::Value,
}

/// `policy_updated`: what the agent holds now, in full. Comes before the notice or result that explains it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyUpdated {
    /// Who.
    pub agent_id: AgentId,
    /// What it holds.
    #[serde(flatten)]
    pub holdings: Holdings,
    /// When.
    pub ts: Timestamp,
}

/// `message`: words, which carry no right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageToAgent {
    /// Who says it; without it, the agent's own user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The words, as they were said.
    pub text: String,
    /// When.
    pub ts: Timestamp,
}
