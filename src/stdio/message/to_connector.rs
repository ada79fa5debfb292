//! Messages to a connector's bot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{
    AgentId, Details, Digest, Kind, Name, Outcome, OwnerId, Permission, Reason, RequestId, RunId, SavedDecisionId,
    Scope, Tier, Timestamp, ToolName, ToolPolicies,
};

use super::{Answered, Bye, Fault, Notice, RevokeResult, Role};

/// A line to a bot that reaches a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToConnector {
    /// The agent and the owner of the user. The first line.
    Hello(ConnectorHello),
    /// A request for the user.
    RequestPermission(Box<PermissionRequest>),
    /// A request that was shown is resolved.
    PermissionResolved(PermissionResolved),
    /// The grant is revoked.
    RevokeResult(Answered<RevokeResult>),
    /// The policies of a tool of a run have changed.
    PolicyUpdated(GuardUpdated),
    /// The policies of the tools of a run.
    Policies(Answered<PoliciesOfRun>),
    /// The initial policies of every future tool of a run have changed.
    PolicyForAll(GuardForAll),
    /// The tools are declared.
    ToolsDeclared(Answered<ToolsDeclared>),
    /// An agent is in another run.
    RunChanged(Answered<RunChanged>),
    /// The action is allowed once.
    ActionEnabled(Answered<ActionEnabled>),
    /// A notification for the user.
    Notice(Notice),
    /// A text from the agent.
    Message(MessageToUser),
    /// An order was not carried out.
    Error(Fault),
    /// The last line.
    Bye(Bye),
}

/// `hello` to a connector's bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConnectorHello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The value `connector`.
    pub role: Role,
    /// The agent whose user is reached.
    pub agent_id: AgentId,
    /// The name of the agent for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<Name>,
    /// The owner of the agents whose requests appear here.
    pub owner: OwnerId,
    /// True if this bot may decide requests.
    pub may_decide: bool,
    /// The time of this line.
    pub ts: Timestamp,
}

/// The kind of access that is requested (`sources/001`). For a tag without a path it is the name of the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Operation {
    /// Reading files: `@read`.
    #[serde(rename = "fs.read")]
    Read,
    /// Writing files: `@write`.
    #[serde(rename = "fs.write")]
    Write,
    /// Running a program file.
    #[serde(rename = "fs.exec")]
    Exec,
    /// Running a command line.
    #[serde(rename = "command.execute")]
    Command,
    /// Network access: `@network`, or an action over the network.
    #[serde(rename = "network")]
    Network,
    /// The events of the engine: `@events`.
    #[serde(rename = "events")]
    Events,
    /// Using a capability of the host program: `@tool`.
    #[serde(rename = "tool")]
    Tool,
}

impl From<crate::model::Operation> for Operation {
    fn from(operation: crate::model::Operation) -> Operation {
        match operation {
            crate::model::Operation::Read => Operation::Read,
            crate::model::Operation::Write => Operation::Write,
            crate::model::Operation::Exec => Operation::Exec,
            crate::model::Operation::Command => Operation::Command,
            crate::model::Operation::Network => Operation::Network,
            crate::model::Operation::Events => Operation::Events,
            crate::model::Operation::Tool => Operation::Tool,
        }
    }
}

/// The reason why a request reaches a person (`sources/001`, "reason values").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReasonKind {
    /// The agent does not hold the permission, or a person has to decide about the action.
    PolicyAsk,
    /// The person denied this for the run, and is asked once more.
    PolicyDenyOverride,
}

/// `request_permission` to a connector's bot. The bot answers with `permission_decision`, in any order, at any time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The run of the requesting agent.
    pub run_id: RunId,
    /// The request's own id (`sources/001`). The answer repeats it as `permissionRequestId`.
    pub request_id: RequestId,
    /// Its short code, which a person can type.
    pub code: String,
    /// The requesting agent.
    pub agent_id: AgentId,
    /// Its name for people, or its id if it has no name.
    pub agent_name: String,
    /// The kind of the requesting agent.
    pub agent_kind: Kind,
    /// The tool of the action, if the request is about an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    /// The kind of the action; without an action, the kind of access of the widest permission.
    pub operation: Operation,
    /// The path, command line or host of the action; without an action, the path of the widest permission, or its tag.
    /// Links are already resolved.
    pub resource: String,
    /// The content that the action writes or sends, without secrets and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Content>,
    /// The tier of the action: how much harm it may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The complete set of actions that `allow-always` would allow, in words. If missing, `allow-always` is not on
    /// offer for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<String>,
    /// The actions and permissions that `allow-always` would allow, as a sentence for people. If missing,
    /// `allow-always` is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_text: Option<String>,
    /// True if the request is not shown in full. Then only `allow` without a scope, or `allow-once`, approves it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once_only: bool,
    /// All requested permissions, the widest first.
    pub permissions: Vec<Permission>,
    /// The widest scope that the agent wants. An answer must fit within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The reason why the request reaches a person.
    pub reason: ReasonKind,
    /// The agent's own reason. Untrusted: it may contain anything, line breaks too.
    pub reason_text: Reason,
    /// The request as a person should read it, with all untrusted text escaped.
    pub prompt: String,
    /// The time at which the request expires.
    pub expires_at: Timestamp,
    /// The time since which the request is pending.
    pub ts: Timestamp,
}

/// The content that an action writes or sends, in a form that may be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Content {
    /// JSON, or its beginning and its end.
    pub shown: String,
    /// The number of characters that are left out.
    pub left_out: u64,
    /// The SHA-256 of the complete content.
    pub digest: Digest,
}

impl From<&Details> for Content {
    fn from(details: &Details) -> Content {
        Content { shown: details.shown.to_string(), left_out: details.left_out, digest: details.digest }
    }
}

/// `permission_resolved`: a request that was shown here is resolved, by this or another approver or in another way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionResolved {
    /// The id of the request.
    pub permission_request_id: RequestId,
    /// Its short code.
    pub code: String,
    /// The requesting agent.
    pub agent_id: AgentId,
    /// The outcome.
    pub outcome: Outcome,
    /// The granted permissions.
    pub granted: Vec<Permission>,
    /// The refused permissions.
    pub refused: Vec<Permission>,
    /// The scope of the grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// The whole message as a sentence for people.
    pub text: String,
    /// The time of the resolution.
    pub ts: Timestamp,
}

/// One policy, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PolicyName {
    /// The name. It is for people to read, and is no key for a lookup.
    pub name: String,
}

/// `policy_updated` (`sources/001`): the policies of a tool of a run have changed. Every connector of the owner gets
/// this, for changes by any person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GuardUpdated {
    /// The run.
    pub run_id: RunId,
    /// The tool.
    pub tool: ToolName,
    /// The names of everything that applies to it: policies, then saved decisions for this run.
    pub policies: Vec<PolicyName>,
    /// The time of the change.
    pub ts: Timestamp,
}

/// `policy_for_all`: every future tool of a run begins with other policies. Every connector of the owner gets this, for
/// changes by any person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GuardForAll {
    /// The run.
    pub run_id: RunId,
    /// The names of all initial policies.
    pub policies: Vec<PolicyName>,
    /// The time of the change.
    pub ts: Timestamp,
}

/// `tools_declared`: the tools that the person of this connector declares from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsDeclared {
    /// The names of all declared tools.
    pub tools: Vec<ToolName>,
}

/// `run_changed`: the agent is now in this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunChanged {
    /// The agent.
    pub agent_id: AgentId,
    /// The run.
    pub run_id: RunId,
}

/// `policies`: the policies of the tools of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PoliciesOfRun {
    /// The run.
    pub run_id: RunId,
    /// One entry for each tool.
    pub guards: Vec<ToolGuard>,
}

/// The policies of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolGuard {
    /// The tool.
    pub tool: ToolName,
    /// The names of everything that applies to it.
    pub policies: Vec<PolicyName>,
    /// The policies in full, without saved decisions.
    pub rules: Arc<ToolPolicies>,
}

/// `action_enabled`: exactly this action may happen once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ActionEnabled {
    /// The agent of the action.
    pub agent_id: AgentId,
    /// The id of the saved decision, by which it can be revoked.
    pub ruling_id: SavedDecisionId,
}

/// `message`: text from the agent to its user. Untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageToUser {
    /// The agent.
    pub agent_id: AgentId,
    /// The text, unchanged.
    pub text: String,
    /// The time of the message.
    pub ts: Timestamp,
}
