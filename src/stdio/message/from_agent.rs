//! Messages from an agent's bot.

use serde::{Deserialize, Serialize};

use crate::model::{Action, AgentId, CallId, Reason, Scope};

use super::{
    About, Bye, DescribedAction, Hello, ProcessList, ProcessRead, ProcessRestart, ProcessStart, ProcessStop,
    ProcessWrite, RevokePermission,
};

/// A line from a bot that acts as an agent. The agent is the one that the bot was started for; no line names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FromAgent {
    /// The bot states its protocol version.
    Hello(Hello),
    /// The agent requests permissions.
    RequestPermission(RequestPermission),
    /// The agent cancels a request.
    CancelRequest(CancelRequest),
    /// The agent passes on permissions that it holds.
    GrantPermission(GrantPermission),
    /// The agent revokes a grant that it gave, or gives up one that it holds.
    RevokePermission(RevokePermission),
    /// The agent checks which permissions it holds.
    CheckPermission(CheckPermission),
    /// The agent uses a permission now.
    UsePermission(UsePermission),
    /// The agent asks for the decision about an action before it acts.
    Authorize(Authorize),
    /// The agent asks for its permission state.
    PermissionState(AskPermissionState),
    /// The agent starts a long-running process.
    ProcessStart(ProcessStart),
    /// The agent lists its processes.
    ProcessList(ProcessList),
    /// The agent reads the output of a process.
    ProcessRead(ProcessRead),
    /// The agent writes to the input of a process.
    ProcessWrite(ProcessWrite),
    /// The agent stops a process.
    ProcessStop(ProcessStop),
    /// The agent restarts a process.
    ProcessRestart(ProcessRestart),
    /// The agent sends a message to another agent, or to its user.
    Message(MessageFromAgent),
    /// The bot ends the conversation.
    Bye(Bye),
}

/// `request_permission`: requests permissions that the agent lacks. The answer is `request_accepted` at once, and
/// `permission_result` later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct RequestPermission {
    /// The requested permissions.
    #[serde(flatten)]
    pub about: About,
    /// The reason, for the person who decides.
    pub reason: Reason,
    /// The widest scope that the agent wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// An identifier that the bot chooses. Every answer to this message repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `cancel_request`: cancels a request. Its `permission_result` has the outcome `cancelled`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct CancelRequest {
    /// The id or the short code of one of the agent's own requests.
    pub permission_request_id: String,
    /// An identifier that the bot chooses. An error repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `grant_permission`: passes on permissions that the agent holds. The answer is `grant_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct GrantPermission {
    /// The agent that receives the permissions.
    pub agent_id: AgentId,
    /// The permissions. All of them are granted, or none.
    #[serde(flatten)]
    pub about: About,
    /// The reason, which the receiver reads.
    pub reason: Reason,
    /// The scope of the grants. `always` lasts as long as the giver holds the permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `check_permission`: checks which permissions the agent holds now. It consumes nothing. The answer is `check_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct CheckPermission {
    /// The permissions to check.
    #[serde(flatten)]
    pub about: About,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `use_permission`: uses one permission once, now. The answer is `use_result`, or an error if the permission is not
/// held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct UsePermission {
    /// The single permission to use.
    pub permission: crate::model::Permission,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `authorize`: asks for the decision about an action that the agent is about to perform. The answer is
/// `authorize_result` at once. If a person has to decide, `permission_result` follows later. After an approval,
/// repeating this line returns `allow`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct Authorize {
    /// The action.
    #[serde(flatten)]
    pub action: DescribedAction,
    /// The reason, for the person who decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The bot's own name for the tool call. It links the recorded facts of one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<CallId>,
    /// Asks a person again who denied this for the run.
    #[serde(rename = "override", default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
    /// An identifier that the bot chooses. Every answer to this message repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Authorize {
    /// Returns the described action.
    ///
    /// # Errors
    ///
    /// An explanation, if the fields do not describe an action.
    pub fn action(self) -> Result<Action, &'static str> {
        let action = self.reason.into_iter().fold(self.action.action()?, Action::because);
        let action = self.tool_call_id.into_iter().fold(action, Action::as_call);
        Ok(if self.overrides { action.overriding() } else { action })
    }
}

/// `permission_state`: asks for the mode, rules, policies, interaction and permissions of the agent itself. The answer
/// is `permission_state_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct AskPermissionState {
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `message`: text for an agent or a user. It carries no permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct MessageFromAgent {
    /// The receiving agent; if missing, the agent's own user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The text: at most 64 KiB.
    #[serde(deserialize_with = "super::words")]
    pub text: String,
    /// An identifier that the bot chooses. An error repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
