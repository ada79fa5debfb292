//! The context of an event: the call of a hook, or the decision that allowed a command.

use serde::{Deserialize, Serialize};

use super::super::{AgentId, CallId, Decision, DecisionId, Digest, HookName, RequestId, RunId};

/// One call of a hook about one action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookCall {
    /// The hook.
    pub hook: HookName,
    /// The agent that wants to do the action.
    pub agent: AgentId,
    /// The run of the agent.
    pub run: RunId,
    /// The digest of the action, as in [`ActionFacts::input`](crate::model::ActionFacts::input).
    pub input: Digest,
    /// The id of the tool call, if the host program named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
}

/// The cause of a started command. It joins the reports of the sandbox with the decision and its approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// The decision.
    pub decision: DecisionId,
    /// The run of the agent.
    pub run: RunId,
    /// The request that a person answered, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The id of the tool call, if the host program named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// True if the action is irreversible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub destructive: bool,
}

impl Cause {
    /// Returns the cause for `decision`. Returns none if the decision has no id, as in a dry run.
    pub fn of(decision: &Decision) -> Option<Cause> {
        Some(Cause {
            decision: decision.id?,
            run: decision.run.clone(),
            request: decision.approval_action_id,
            call: decision.action.call.clone(),
            destructive: decision.action.destructive.is_some(),
        })
    }
}
