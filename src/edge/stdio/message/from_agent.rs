//! What an agent's bot says.

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
    /// It speaks this version.
    Hello(Hello),
    /// It needs something.
    RequestPermission(RequestPermission),
    /// It no longer needs it.
    CancelRequest(CancelRequest),
    /// It passes on what it holds.
    GrantPermission(GrantPermission),
    /// It takes back what it gave, or gives up what it holds.
    RevokePermission(RevokePermission),
    /// It asks what it holds.
    CheckPermission(CheckPermission),
    /// It uses what it holds, now.
    UsePermission(UsePermission),
    /// It is about to do something.
    Authorize(Authorize),
    /// It asks for its permission state.
    PermissionState(AskPermissionState),
    /// It starts a process that goes on.
    ProcessStart(ProcessStart),
    /// It asks which processes it has.
    ProcessList(ProcessList),
    /// It reads what a process wrote.
    ProcessRead(ProcessRead),
    /// It writes to a process.
    ProcessWrite(ProcessWrite),
    /// It stops a process.
    ProcessStop(ProcessStop),
    /// It starts a process again.
    ProcessRestart(ProcessRestart),
    /// It says something to another agent, or to its user.
    Message(MessageFromAgent),
    /// It ends.
    Bye(Bye),
}

/// `request_permission`: asks for what the agent lacks. Answered at once with `request_accepted`, later with
/// `permission_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct RequestPermission {
    /// What.
    #[serde(flatten)]
    pub about: About,
    /// Why, for the person who decides.
    pub reason: Reason,
    /// The widest scope wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Comes back with every answer to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `cancel_request`: takes a question back. Its `permission_result` says `cancelled`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct CancelRequest {
    /// Which of the agent's own: its id, or its short code.
    pub permission_request_id: String,
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `grant_permission`: passes on what the agent holds. Answered with `grant_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct GrantPermission {
    /// To whom.
    pub agent_id: AgentId,
    /// What: all of it, or nothing.
    #[serde(flatten)]
    pub about: About,
    /// Why; the receiver reads it.
    pub reason: Reason,
    /// For how long; `always` means as long as the giver holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `check_permission`: asks what the agent holds now, and uses nothing up. Answered with `check_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct CheckPermission {
    /// What.
    #[serde(flatten)]
    pub about: About,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `use_permission`: uses one thing once, now. Answered with `use_result`, or with an error if it is not held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct UsePermission {
    /// What: one thing.
    pub permission: crate::model::Permission,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `authorize`: it is about to do something. Answered at once with `authorize_result`; if a person has to say, later with
/// `permission_result`, and then the same line again is allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct Authorize {
    /// What.
    #[serde(flatten)]
    pub action: DescribedAction,
    /// Why, for the person who decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The bot's own name for the call; joins facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<CallId>,
    /// A person who said no for this run is asked once more.
    #[serde(rename = "override", default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
    /// Comes back with every answer to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Authorize {
    /// The action that is meant, if the line means one.
    pub(in super::super) fn action(self) -> Result<Action, &'static str> {
        let action = self.reason.into_iter().fold(self.action.action()?, Action::because);
        let action = self.tool_call_id.into_iter().fold(action, Action::as_call);
        Ok(if self.overrides { action.overriding() } else { action })
    }
}

/// `permission_state`: asks for the mode, rules, policies, interaction and rights of the agent itself. Answered with
/// `permission_state_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct AskPermissionState {
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `message`: words, which carry no right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct MessageFromAgent {
    /// To whom; without it, to the agent's own user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The words: at most 64 KiB.
    #[serde(deserialize_with = "super::words")]
    pub text: String,
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
