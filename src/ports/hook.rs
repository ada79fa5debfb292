//! Hooks: the host program's statements about an action before its decision.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde_json::Value;

use crate::model::{
    Action, AgentId, CallId, Destructive, Digest, Operation, Permission, Reason, RunId, Tier, ToolName, UseOrigin,
    Verdict,
};

/// A hook of the host program. The engine calls it about every action before it decides (`sources/002`, "Permission
/// decision"). It makes one call about the action, and one call about each further resource that the action uses
/// ([`Proposal::part_of`]), all at once.
///
/// A hook may deny an action, or ask for a person. Weaker sources cannot undo this. The approval of a hook is one vote
/// among others. It beats no rule, no person and no missing permission, and counts only in the mode `auto`. A hook that
/// fails, panics or takes longer than [`Settings::hook_timeout`](crate::Settings::hook_timeout) counts as asking for a
/// person.
///
/// ```
/// use bestow::{action::Operation, host::{Hook, HookAnswer, HookFailure, Proposal}};
///
/// #[derive(Debug)]
/// struct NoNetworkAtNight;
///
/// #[bestow::async_trait]
/// impl Hook for NoNetworkAtNight {
///     async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure> {
///         let is_network = proposal.operation == Operation::Network;
///         Ok(if is_network { HookAnswer::deny("it is night") } else { HookAnswer::nothing() })
///     }
/// }
/// ```
#[async_trait]
pub trait Hook: fmt::Debug + Send + Sync {
    /// Returns a statement about an action, which may be empty.
    ///
    /// # Errors
    ///
    /// Fails if the hook cannot answer. The action then needs an approval.
    ///
    /// # Cancellation
    ///
    /// The engine drops the future after the time limit, and when no caller waits for the decision any more.
    async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure>;
}

/// An action, as a hook sees it. It contains no secrets and no part of the environment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// The agent that wants to do the action.
    pub agent: AgentId,
    /// The run of the agent.
    pub run: RunId,
    /// The kind of the action.
    pub operation: Operation,
    /// The tool of the action.
    pub tool: ToolName,
    /// The canonical path, the command line, or the host. It is `@network` for any host.
    pub resource: Arc<str>,
    /// The resource of the whole action, if this proposal is about a further resource that the action uses: a given
    /// permission, or a file that its command line names. A denial of a part denies the whole. An approval of a part
    /// allows nothing.
    pub part_of: Option<Arc<str>>,
    /// The evidence for the use. `own` is the action itself. `word` is a word that may be a path, a host, or neither.
    pub origin: UseOrigin,
    /// The tier: how much harm the action can do.
    pub tier: Tier,
    /// The reason for the tier.
    pub tier_reason: Arc<str>,
    /// The irreversible effects of the action, if it has any.
    pub destructive: Option<Destructive>,
    /// The permissions that the action uses.
    pub needs: Vec<Permission>,
    /// The reason of the agent, if it gave one.
    pub reason: Option<Reason>,
    /// The id of the tool call, if the host program named one.
    pub call: Option<CallId>,
    /// The input of the tool, if the action is a tool call.
    pub input: Option<Value>,
    /// The digest of the whole action, including the parts that are left out here.
    pub digest: Digest,
}

/// The statement of a hook about an action.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a verdict, its reason, and another input are all a hook can say")]
pub struct HookAnswer {
    /// The verdict. None means no verdict.
    pub verdict: Option<Verdict>,
    /// The reason, for people and records.
    pub reason: Option<String>,
    /// The replacement of the action. It must be the same operation with the same tool. It must be no more harmful, and
    /// use nothing that the agent does not hold. Otherwise the hook has failed. Needs, reason and call stay unchanged
    /// if it leaves them out.
    pub updated_input: Option<Action>,
}

impl HookAnswer {
    /// Creates an answer without a verdict.
    pub fn nothing() -> HookAnswer {
        HookAnswer::default()
    }

    /// Creates an approval.
    pub fn allow() -> HookAnswer {
        HookAnswer { verdict: Some(Verdict::Allow), ..HookAnswer::default() }
    }

    /// Creates an answer that asks for a person.
    pub fn ask(reason: impl Into<String>) -> HookAnswer {
        HookAnswer { verdict: Some(Verdict::Ask), reason: Some(reason.into()), updated_input: None }
    }

    /// Creates a denial.
    pub fn deny(reason: impl Into<String>) -> HookAnswer {
        HookAnswer { verdict: Some(Verdict::Deny), reason: Some(reason.into()), updated_input: None }
    }

    /// Sets the replacement of the action.
    #[must_use]
    pub fn instead(self, action: Action) -> HookAnswer {
        HookAnswer { updated_input: Some(action), ..self }
    }
}

/// The error of a hook that cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookFailure(pub(crate) String);

impl HookFailure {
    /// Creates a failure with the reason `why`, for people.
    pub fn new(why: impl Into<String>) -> HookFailure {
        HookFailure(why.into())
    }
}
