//! Messages from a connector's bot.

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{
    Access, AgentId, Permissions, PolicyPatch, Reason, RunId, SanitizedPath, Scope, ToolName, Tools, Verdict,
};

use super::{About, Bye, DescribedAction, Hello, RevokePermission, permission_field::Named};

/// A line from a bot that reaches a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FromConnector {
    /// The bot states its protocol version.
    Hello(Hello),
    /// The user decided a request.
    PermissionDecision(PermissionDecision),
    /// The user revokes a grant.
    RevokePermission(RevokePermission),
    /// The user approves a change of the policy file that gives more permissions than before.
    AgreeToWidening(AgreeToWidening),
    /// The user changes the path policies of the tools of a run.
    UpdatePolicy(UpdatePolicy),
    /// The user asks for the policies of the tools of a run.
    ListPolicies(ListPolicies),
    /// The user allows exactly one action once, even if it is destructive.
    EnableAction(EnableAction),
    /// The user's side declares its tools and their effects.
    DeclareTools(DeclareTools),
    /// The user begins a run of an agent.
    BeginRun(EnterRun),
    /// The user puts an agent into an ongoing run of other agents.
    JoinRun(EnterRun),
    /// The user ends the run of an agent.
    EndRun(EndRun),
    /// The user sends a message to the agent.
    Message(MessageFromUser),
    /// The bot ends the conversation.
    Bye(Bye),
}

impl FromConnector {
    /// Returns the identifier that the bot chose for the message.
    pub fn request_id(&self) -> Option<&str> {
        let given = match self {
            FromConnector::Hello(hello) => &hello.request_id,
            FromConnector::PermissionDecision(decision) => &decision.request_id,
            FromConnector::RevokePermission(revoke) => &revoke.request_id,
            FromConnector::AgreeToWidening(agree) => &agree.request_id,
            FromConnector::UpdatePolicy(update) => &update.request_id,
            FromConnector::ListPolicies(wanted) => &wanted.request_id,
            FromConnector::EnableAction(wanted) => &wanted.request_id,
            FromConnector::DeclareTools(wanted) => &wanted.request_id,
            FromConnector::BeginRun(wanted) | FromConnector::JoinRun(wanted) => &wanted.request_id,
            FromConnector::EndRun(wanted) => &wanted.request_id,
            FromConnector::Message(message) => &message.request_id,
            FromConnector::Bye(_) => return None,
        };
        given.as_deref()
    }
}

/// The user's decision (`sources/001`, "Decision semantics").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::exhaustive_enums, reason = "each decision must be carried out")]
pub enum Decision {
    /// Approves for one use; or for `scope`, if the decision has one.
    Allow,
    /// Denies.
    Deny,
    /// Approves for the run of the requesting agent.
    AllowSession,
    /// Denies, and does not ask the person again for the run of the requesting agent.
    DenySession,
    /// Approves for one use.
    AllowOnce,
    /// Approves until somebody revokes it.
    AllowAlways,
}

/// `permission_decision`: the user's answer. Success is silent. A connector that was shown the request gets
/// `permission_resolved`.
///
/// On the wire, a single permission may be given under `permission`. An unknown field is an error: a field that narrows
/// an answer must not get lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Written")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct PermissionDecision {
    /// The run that the request was made in. If this is given, it must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The id or the short code of the request.
    pub permission_request_id: String,
    /// The decision.
    pub decision: Decision,
    /// The permissions to approve. The rest of the request is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// The scope of the approval, with `allow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// A remark to the requesting agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Reason>,
    /// Approves this input instead of the requested one (`sources/003`): a text replaces the resource, an object
    /// replaces the tool's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_input: Option<ModifiedInput>,
    /// An identifier that the bot chooses. An error repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The replacement for the requested action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::exhaustive_enums, reason = "an action is written in one of two ways")]
pub enum ModifiedInput {
    /// The path, command line or host.
    Resource(String),
    /// The input of the tool.
    Tool(serde_json::Map<String, serde_json::Value>),
}

/// A decision as it is written on the wire.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    run_id: Option<RunId>,
    permission_request_id: String,
    decision: Decision,
    // An explicit `null` in these two fields is an error. Each of them narrows the answer, so `null` must not mean all
    // permissions.
    #[serde(default, deserialize_with = "there")]
    permission: Option<String>,
    #[serde(default, deserialize_with = "there")]
    permissions: Option<Vec<String>>,
    scope: Option<Scope>,
    feedback: Option<Reason>,
    // An explicit `null` is an error. Otherwise it would approve the original action.
    #[serde(default, deserialize_with = "there")]
    modified_input: Option<ModifiedInput>,
    request_id: Option<String>,
}

fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl TryFrom<Written> for PermissionDecision {
    type Error = String;

    fn try_from(written: Written) -> Result<PermissionDecision, String> {
        let Written { run_id, permission_request_id, decision, permission, permissions, .. } = written;
        let named = Named { permission, permissions };
        let permissions = if named.is_nothing() { None } else { Some(About::try_from(named)?.permissions) };
        let Written { scope, feedback, modified_input, request_id, .. } = written;
        Ok(PermissionDecision {
            run_id,
            permission_request_id,
            decision,
            permissions,
            scope,
            feedback,
            modified_input,
            request_id,
        })
    }
}

/// `agree_to_widening`: the user approves the change that a `config_held_back` notice reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct AgreeToWidening {
    /// The number of the change, as given in the notice.
    pub change: u64,
    /// An identifier that the bot chooses. An error repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The access that a path policy change applies to (`sources/001`, "Request: update_policy").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "paths are read or written")]
pub enum PolicyMode {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

/// `update_policy`: adds to the path policies of one tool, or of all tools that the run has and will have. Success is
/// silent, except for the `policy_updated` of each tool whose policies changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct UpdatePolicy {
    /// The run.
    pub run_id: RunId,
    /// The tool; if missing, all tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// The access that the change applies to.
    pub mode: PolicyMode,
    /// Globs that are allowed from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Globs that are denied from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// The verdict for all other paths from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Verdict>,
    /// The directory that anchors globs without a leading `/`. If missing, it is the working directory of the run's
    /// agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<SanitizedPath>,
    /// An identifier that the bot chooses. An error repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl UpdatePolicy {
    /// Returns the described change.
    pub fn patch(&self) -> PolicyPatch {
        let access = match self.mode {
            PolicyMode::Read => Access::Read,
            PolicyMode::Write => Access::Write,
        };
        let patch = self.allow.iter().fold(PolicyPatch::new(access), |patch, glob| patch.allow(glob));
        let patch = self.deny.iter().fold(patch, |patch, glob| patch.deny(glob));
        let patch = self.default.into_iter().fold(patch, PolicyPatch::by_default);
        let patch = self.tool.iter().cloned().fold(patch, PolicyPatch::of);
        self.base.iter().cloned().fold(patch, PolicyPatch::below)
    }
}

/// `list_policies`: asks for the policies of the tools of a run. The answer is `policies`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ListPolicies {
    /// The run.
    pub run_id: RunId,
    /// The tool; if missing, every tool that was declared or used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `enable_action`: allows exactly this action of an agent once, even if it is destructive. The answer is
/// `action_enabled`. It gives no permission, and rules that deny the action stay in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct EnableAction {
    /// The agent.
    pub agent_id: AgentId,
    /// The action, written as in `authorize`.
    #[serde(flatten)]
    pub action: DescribedAction,
    /// The reason.
    pub reason: Reason,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `declare_tools`: declares the effects of tools of the owner's agents. It replaces the previous declarations of the
/// person. The answer is `tools_declared`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct DeclareTools {
    /// The complete list of tools. An empty list withdraws all of them.
    pub tools: Tools,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `begin_run`, `join_run`: the agent's run ends, and the agent enters another run. The answer is `run_changed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct EnterRun {
    /// The agent.
    pub agent_id: AgentId,
    /// The run: with `begin_run` one without agents, with `join_run` an ongoing run of other agents.
    pub run_id: RunId,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `end_run`: the run of an agent ends. The answer is `run_changed`, which names the next run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct EndRun {
    /// The agent.
    pub agent_id: AgentId,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `message`: text from the user to the agent. It counts as activity of the user here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct MessageFromUser {
    /// The text: at most 64 KiB.
    #[serde(deserialize_with = "super::words")]
    pub text: String,
    /// An identifier that the bot chooses. An error repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
