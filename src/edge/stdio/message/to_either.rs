//! What is said in both roles.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::model::{AgentId, GrantId, Permission, Reason, RequestId, Timestamp};

/// `hello` from a bot: it speaks this version. Bots need not say it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "a version is all a bot has to say about itself")]
pub struct Hello {
    /// The version.
    pub protocol: u32,
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `revoke_permission`: takes a grant away. An agent: one that it gave or holds. A connector: any of its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct RevokePermission {
    /// Which.
    pub grant_id: GrantId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Comes back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// An answer to a line of a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Answered<T> {
    /// What it says.
    #[serde(flatten)]
    pub answer: T,
    /// The `requestId` of the line, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// When.
    pub ts: Timestamp,
}

impl<T> Deref for Answered<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.answer
    }
}

/// `revoke_result`: it is gone, with everything that rested on it only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RevokeResult {
    /// Which.
    pub grant_id: GrantId,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// To an agent: somebody gave it something.
    Granted,
    /// To an agent: it lost something.
    Lost,
    /// To an agent, silent: a background agent's question was shown to its user.
    Carried,
    /// To an agent, silent: that question ended.
    CarriedResolved,
    /// To an agent, silent: something about a scheduled task that runs as it.
    Task,
    /// To an agent: it did not read its mail, and the oldest was dropped.
    Missed,
    /// To a connector: the policy file was not taken.
    ConfigRejected,
    /// To a connector: what the policy file gives more than before waits until a person agrees.
    ConfigHeldBack,
}

/// `notice`: something happened that the bot should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Notice {
    /// What it is about.
    pub notice: NoticeKind,
    /// It is for the record only, and should not make the bot act.
    pub silent: bool,
    /// A sentence for people; everything foreign in it is escaped.
    pub text: String,
    /// The other agent: who gave, or whose question it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    /// What was given or lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_request_id: Option<RequestId>,
    /// The number of the change of the policy file that waits, which `agree_to_widening` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<u64>,
    /// When.
    pub ts: Timestamp,
}

/// `bye`: the last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Bye {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
