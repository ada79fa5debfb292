//! What a connector's bot hears.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{
    AgentId, Details, Digest, Kind, Name, Outcome, OwnerId, Permission, Policies, Reason, RequestId, RulingId, RunId,
    Scope, Tier, Timestamp, ToolName,
};

use super::{Answered, Bye, Fault, Notice, RevokeResult, Role};

/// A line to a bot that is the way to a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToConnector {
    /// Whose user it reaches. The first line.
    Hello(ConnectorHello),
    /// A question for the user.
    RequestPermission(Box<PermissionRequest>),
    /// A question that was shown is over.
    PermissionResolved(PermissionResolved),
    /// What the user took away is gone.
    RevokeResult(Answered<RevokeResult>),
    /// What guards a tool of a run has changed.
    PolicyUpdated(GuardUpdated),
    /// What guards the tools of a run.
    Policies(Answered<PoliciesOfRun>),
    /// What every tool begins with that a run will have has changed.
    PolicyForAll(GuardForAll),
    /// What the user's side declares is declared.
    ToolsDeclared(Answered<ToolsDeclared>),
    /// An agent is in another run.
    RunChanged(Answered<RunChanged>),
    /// What the user let happen once may happen once.
    ActionEnabled(Answered<ActionEnabled>),
    /// Something the user should know.
    Notice(Notice),
    /// The agent says something.
    Message(MessageToUser),
    /// Something was not done.
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
    /// `connector`.
    pub role: Role,
    /// The agent whose user is reached.
    pub agent_id: AgentId,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<Name>,
    /// Whose agents' questions appear here.
    pub owner: OwnerId,
    /// Whether decisions are taken from this bot.
    pub may_decide: bool,
    /// When.
    pub ts: Timestamp,
}

/// What kind of access is asked for (`sources/001`); for tags without a path, the tag's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Operation {
    /// `@read`.
    #[serde(rename = "fs.read")]
    Read,
    /// `@write`.
    #[serde(rename = "fs.write")]
    Write,
    /// A program file is run.
    #[serde(rename = "fs.exec")]
    Exec,
    /// A command line is run.
    #[serde(rename = "command.execute")]
    Command,
    /// `@network`, or something is reached over it.
    #[serde(rename = "network")]
    Network,
    /// `@events`.
    #[serde(rename = "events")]
    Events,
    /// `@tool`: a capability of the host program is used.
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

/// Why a question is asked at all (`sources/001`, "reason values").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReasonKind {
    /// The agent does not hold it, or a person has to say whether it may happen.
    PolicyAsk,
    /// The person said no for this run, and is asked once more.
    PolicyDenyOverride,
}

/// `request_permission` to a connector's bot: answer it with `permission_decision`, in any order, at any time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The run of the asker.
    pub run_id: RunId,
    /// The request's own id (`sources/001`): comes back as `permissionRequestId`.
    pub request_id: RequestId,
    /// Its short form, which a person can type.
    pub code: String,
    /// Who asks.
    pub agent_id: AgentId,
    /// What people call it; its id, if nobody said.
    pub agent_name: String,
    /// What kind of agent asks.
    pub agent_kind: Kind,
    /// The tool that is about to act, if the question is about an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<ToolName>,
    /// What kind of thing the action is; else what kind of access the widest permission is.
    pub operation: Operation,
    /// The path, command line or host of the action; else the path of the widest permission, or its tag. Links are
    /// followed already.
    pub resource: String,
    /// The content that the action writes or sends, without secrets and bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Content>,
    /// How harmful the action is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// What `allow-always` would allow, in full; without it, it is not on offer for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<String>,
    /// Whether not all of it is shown, so that only `allow` without a scope, or `allow-once`, says yes to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once_only: bool,
    /// Everything asked: what lets most happen comes first.
    pub permissions: Vec<Permission>,
    /// The widest scope wanted; an answer must fit within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Why the question is asked at all.
    pub reason: ReasonKind,
    /// Why the agent says that it needs this. Untrusted: it may hold anything, line breaks too.
    pub reason_text: Reason,
    /// The question as a person should read it, everything foreign in it escaped.
    pub prompt: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Since when it waits.
    pub ts: Timestamp,
}

/// The content that an action writes or sends, as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Content {
    /// JSON, or the beginning and the end of it.
    pub shown: String,
    /// The number of characters that are not shown.
    pub left_out: u64,
    /// SHA-256 of the whole.
    pub digest: Digest,
}

impl From<&Details> for Content {
    fn from(details: &Details) -> Content {
        Content { shown: details.shown.to_string(), left_out: details.left_out, digest: details.digest }
    }
}

/// `permission_resolved`: a question that was shown here is over, whoever answered it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionResolved {
    /// The request.
    pub permission_request_id: RequestId,
    /// Its short form.
    pub code: String,
    /// Who asked.
    pub agent_id: AgentId,
    /// How it ended.
    pub outcome: Outcome,
    /// What was given.
    pub granted: Vec<Permission>,
    /// What was not.
    pub refused: Vec<Permission>,
    /// For how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// All of this as a sentence for people.
    pub text: String,
    /// When.
    pub ts: Timestamp,
}

/// One policy, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PolicyName {
    /// The name: what it is for reading, and nothing is found by it.
    pub name: String,
}

/// `policy_updated` (`sources/001`): the policies that guard a tool of a run have changed. Told to every connector of the
/// owner, whoever changed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GuardUpdated {
    /// The run.
    pub run_id: RunId,
    /// The tool.
    pub tool: ToolName,
    /// What speaks about it: policies, then what people said for this run.
    pub policies: Vec<PolicyName>,
    /// When.
    pub ts: Timestamp,
}

/// `policy_for_all`: every tool that a run has not yet begins with other policies. Told to every connector of the owner,
/// whoever changed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GuardForAll {
    /// The run.
    pub run_id: RunId,
    /// All of them, by name.
    pub policies: Vec<PolicyName>,
    /// When.
    pub ts: Timestamp,
}

/// `tools_declared`: these are the tools that the person of this connector declares from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsDeclared {
    /// All of them, by name.
    pub tools: Vec<ToolName>,
}

/// `run_changed`: the agent is in this run now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunChanged {
    /// Whose run.
    pub agent_id: AgentId,
    /// The run.
    pub run_id: RunId,
}

/// `policies`: what guards the tools of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PoliciesOfRun {
    /// The run.
    pub run_id: RunId,
    /// Its guards, one for each tool.
    pub guards: Vec<ToolGuard>,
}

/// The guard of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolGuard {
    /// The tool.
    pub tool: ToolName,
    /// What speaks about it, by name.
    pub policies: Vec<PolicyName>,
    /// The policies in full, without what people said.
    pub rules: Arc<Policies>,
}

/// `action_enabled`: exactly that may happen once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ActionEnabled {
    /// Whose action.
    pub agent_id: AgentId,
    /// What was said, as it can be taken back.
    pub ruling_id: RulingId,
}

/// `message`: what the agent says to its user. Untrusted text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MessageToUser {
    /// The agent.
    pub agent_id: AgentId,
    /// The words, as they were said.
    pub text: String,
    /// When.
    pub ts: Timestamp,
}
