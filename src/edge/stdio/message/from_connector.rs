//! What a connector's bot says.

use serde::{Deserialize, Serialize};

use crate::model::{Permissions, Reason, RunId, Scope};

use super::{Bye, Hello, RevokePermission};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// Comes back with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
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
