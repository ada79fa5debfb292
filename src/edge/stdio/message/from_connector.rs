//! What a connector's bot says.

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{
    Access, AgentId, Permissions, PolicyPatch, Reason, RunId, SanitizedPath, Scope, ToolName, Tools, Verdict,
};

use super::{About, Bye, DescribedAction, Hello, RevokePermission, about::Named};

/// A line from a bot that is the way to a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FromConnector {
    /// It speaks this version.
    Hello(Hello),
    /// The user decided.
    PermissionDecision(PermissionDecision),
    /// The user takes something away.
    RevokePermission(RevokePermission),
    /// The user agrees to what the policy file gives more than before.
    AgreeToWidening(AgreeToWidening),
    /// The user changes what the tools of a run may do.
    UpdatePolicy(UpdatePolicy),
    /// The user asks what guards the tools of a run.
    ListPolicies(ListPolicies),
    /// The user lets exactly one action happen once, even if nobody can undo it.
    EnableAction(EnableAction),
    /// The user's side has tools, and says what they do.
    DeclareTools(DeclareTools),
    /// The user begins a run of an agent.
    BeginRun(EnterRun),
    /// The user puts an agent into a run that goes on for others.
    JoinRun(EnterRun),
    /// The user ends the run of an agent.
    EndRun(EndRun),
    /// The user says something to the agent.
    Message(MessageFromUser),
    /// It ends.
    Bye(Bye),
}

/// What the user decided (`sources/001`, "Decision semantics").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::exhaustive_enums, reason = "each decision must be carried out")]
pub enum Decision {
    /// Yes, for one use; or for `scope`, if the decision has one.
    Allow,
    /// No.
    Deny,
    /// Yes, for the run of the asker.
    AllowSession,
    /// No, and for the run of the asker do not ask me this again.
    DenySession,
    /// Yes, for one use.
    AllowOnce,
    /// Yes, until somebody takes it away.
    AllowAlways,
}

/// `permission_decision`: the user's answer. Success is silent; who was shown the request sees `permission_resolved`.
///
/// On the wire one permission may stand under `permission`, and a field that is not known is an error: a word that
/// narrows an answer must not get lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "Written")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct PermissionDecision {
    /// The run that the request was made in. If it is given, it must be that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The request: its id, or its short code.
    pub permission_request_id: String,
    /// Yes or no.
    pub decision: Decision,
    /// Yes to these only, and no to the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// For how long, with `allow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// A word to the asker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Reason>,
    /// Yes to this instead of what was asked about (`sources/003`): a text in the place of the resource, or an object in
    /// the place of the tool's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_input: Option<ModifiedInput>,
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// What takes the place of what was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::exhaustive_enums, reason = "an action is written in one of two ways")]
pub enum ModifiedInput {
    /// The path, command line or host.
    Resource(String),
    /// The input of the tool.
    Tool(serde_json::Map<String, serde_json::Value>),
}

/// A decision as it was written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    run_id: Option<RunId>,
    permission_request_id: String,
    decision: Decision,
    // Where one of these two stands, it narrows the answer: `null` is not taken for everything.
    #[serde(default, deserialize_with = "there")]
    permission: Option<String>,
    #[serde(default, deserialize_with = "there")]
    permissions: Option<Vec<String>>,
    scope: Option<Scope>,
    feedback: Option<Reason>,
    // Nothing in its place would be a yes to what was asked about.
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

/// `agree_to_widening`: the user agrees to what was told as `config_held_back`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct AgreeToWidening {
    /// The number of the change, as the notice told it.
    pub change: u64,
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Which half of a path policy is changed (`sources/001`, "Request: update_policy").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "paths are read or written")]
pub enum PolicyMode {
    /// What is read.
    Read,
    /// What is written.
    Write,
}

/// `update_policy`: adds to the path policies of one tool, or of all that the run has and will have. Success is silent but
/// for the `policy_updated` of each tool whose policies changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct UpdatePolicy {
    /// The run.
    pub run_id: RunId,
    /// The tool; all of them, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// What is read, or what is written.
    pub mode: PolicyMode,
    /// Globs that are allowed from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Globs that are denied from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// What is said of the rest from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Verdict>,
    /// The directory below which globs count that do not begin with `/`; the working directory of the run's agents, if
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<SanitizedPath>,
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl UpdatePolicy {
    /// The change that is meant.
    pub(in super::super) fn patch(&self) -> PolicyPatch {
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

/// `list_policies`: asks what guards the tools of a run. Answered with `policies`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct ListPolicies {
    /// The run.
    pub run_id: RunId,
    /// The tool; every one that was declared or used, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `enable_action`: exactly this action of an agent may happen once, even if nobody can undo it. Answered with
/// `action_enabled`. It gives no right, and rules that deny it stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct EnableAction {
    /// Whose.
    pub agent_id: AgentId,
    /// What, written as in `authorize`.
    #[serde(flatten)]
    pub action: DescribedAction,
    /// Why.
    pub reason: Reason,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `declare_tools`: says what tools of the owner's agents do, in the place of what the same person said before. Answered with
/// `tools_declared`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct DeclareTools {
    /// All of them; an empty list takes them back.
    pub tools: Tools,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `begin_run`, `join_run`: the run of an agent ends, and it enters another one. Answered with `run_changed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct EnterRun {
    /// Whose.
    pub agent_id: AgentId,
    /// The run: with `begin_run` one that nobody is in, with `join_run` one that goes on for others.
    pub run_id: RunId,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `end_run`: the run of an agent ends. Answered with `run_changed`, which names the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct EndRun {
    /// Whose.
    pub agent_id: AgentId,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `message`: what the user says to the agent. Counts as the user being active here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct MessageFromUser {
    /// The words: at most 64 KiB.
    #[serde(deserialize_with = "super::words")]
    pub text: String,
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
