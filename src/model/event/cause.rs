//! What an event hangs on: the call of a hook, the decision that let it happen.

use serde::{Deserialize, Serialize};

use super::super::{AgentId, CallId, Decision, DecisionId, Digest, HookName, RequestId, RunId};

/// One hook, asked about one action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookCall {
    /// The hook.
    pub hook: HookName,
    /// Whose action.
    pub agent: AgentId,
    /// In which run.
    pub run: RunId,
    /// Binds the action, as [`ActionFacts::input`](crate::model::ActionFacts::input) does.
    pub input: Digest,
    /// The call of the tool, if the host program said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
}

/// What let something happen: joins what the sandbox tells with the decision and its approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// The decision.
    pub decision: DecisionId,
    /// In which run.
    pub run: RunId,
    /// The request that a person answered, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The call of the tool, if the host program said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Whether it does what nobody can undo.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub destructive: bool,
}

impl Cause {
    /// What `decision` let happen; none if nothing was decided.
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
