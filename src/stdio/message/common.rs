//! Messages that both roles share.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::model::{AgentId, GrantId, Permission, Reason, RequestId, Timestamp};

/// `hello` from a bot: states its protocol version. It is optional.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "a version is all a bot has to say about itself")]
pub struct Hello {
    /// The version.
    pub protocol: u32,
    /// An identifier that the bot chooses. An error repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// `revoke_permission`: revokes a grant. An agent may revoke one that it gave or holds; a connector, any of its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "built by bots, field by field")]
pub struct RevokePermission {
    /// The grant.
    pub grant_id: GrantId,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// An identifier that the bot chooses. The answer repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// An answer to a line of a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Answered<T> {
    /// The content of the answer.
    #[serde(flatten)]
    pub answer: T,
    /// The `requestId` of the line, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The time of the answer.
    pub ts: Timestamp,
}

impl<T> Deref for Answered<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.answer
    }
}

/// `revoke_result`: the grant is revoked, and so is every grant that depended on it alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RevokeResult {
    /// The grant.
    pub grant_id: GrantId,
}

/// The subject of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// To an agent: it received a permission.
    Granted,
    /// To an agent: it lost a permission.
    Lost,
    /// To an agent, silent: a background agent's request was shown to its user.
    Carried,
    /// To an agent, silent: that request was resolved.
    CarriedResolved,
    /// To an agent, silent: news about a scheduled task that runs as it.
    Task,
    /// To an agent: it did not read its mailbox, and the oldest notification was dropped.
    Missed,
    /// To a connector: the policy file was rejected.
    ConfigRejected,
    /// To a connector: a change of the policy file would give more than before, and waits for a person's approval.
    ConfigHeldBack,
}

/// `notice`: something happened that the bot should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Notice {
    /// The subject.
    pub notice: NoticeKind,
    /// True if the notice is for the record only, and should not make the bot act.
    pub silent: bool,
    /// A sentence for people, with all untrusted text escaped.
    pub text: String,
    /// The other agent: the giver, or the one that made the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    /// The permission that was granted or lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_request_id: Option<RequestId>,
    /// The number of the waiting change of the policy file. `agree_to_widening` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<u64>,
    /// The time of the event.
    pub ts: Timestamp,
}

/// `bye`: the last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Bye {
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
