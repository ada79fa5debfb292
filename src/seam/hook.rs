//! What the host program has to say about an action before it is decided.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde_json::Value;

use crate::model::{
    Action, AgentId, CallId, Destructive, Digest, Operation, Permission, Reason, RunId, Tier, ToolName, UseOrigin,
    Verdict,
};

/// Is asked about every action before the engine decides (`sources/002`, "Permission decision"): about the action, and
/// about each further thing that it uses ([`Proposal::part_of`]), at the same time.
///
/// A hook may say no, or that a person has to say; neither can be undone by what is weaker. Its yes is one voice among
/// others: it beats no rule, no person and no missing right, and counts only in the mode `auto`. A hook that fails, panics
/// or takes longer than [`Settings::hook_timeout`](crate::Settings::hook_timeout) has asked for a person.
///
/// ```
/// use bestow::{Hook, HookAnswer, HookFailure, Operation, Proposal};
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
    /// Says something about an action, or nothing.
    ///
    /// # Errors
    ///
    /// When it cannot; then the action does not happen by itself.
    ///
    /// # Cancellation
    ///
    /// The future is dropped when its time is over, and when nobody waits for the decision any more.
    async fn before(&self, proposal: Proposal) -> Result<HookAnswer, HookFailure>;
}

/// An action, as a hook sees it: without secrets, and without anything of the environment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// Whose action.
    pub agent: AgentId,
    /// In which run.
    pub run: RunId,
    /// What kind of thing it is.
    pub operation: Operation,
    /// By which tool.
    pub tool: ToolName,
    /// The real path, the command line, or the host; `@network` for any host.
    pub resource: Arc<str>,
    /// The resource of the whole action, where this is one more thing that it uses: a permission that it is given, a file
    /// that its command line names. A no to a part is a no to the whole; a yes to a part allows nothing.
    pub part_of: Option<Arc<str>>,
    /// How it comes to be used: `own` is the action itself, and `word` a word that may be a path or a host, or nothing.
    pub origin: UseOrigin,
    /// How much harm it can do.
    pub tier: Tier,
    /// Why that is so.
    pub tier_reason: Arc<str>,
    /// What it does that nobody can undo, if it does.
    pub destructive: Option<Destructive>,
    /// What it uses.
    pub needs: Vec<Permission>,
    /// Why the agent wants it, if it said.
    pub reason: Option<Reason>,
    /// The call of the tool, if the host program said.
    pub call: Option<CallId>,
    /// The input of the tool, where it is a call of one.
    pub input: Option<Value>,
    /// Binds all of it, with what is left out here.
    pub digest: Digest,
}

/// What a hook has to say.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a verdict, its reason, and another input are all a hook can say")]
pub struct HookAnswer {
    /// Yes, a question, or no; none says nothing.
    pub verdict: Option<Verdict>,
    /// Why, for people and records.
    pub reason: Option<String>,
    /// What is to happen instead. It must be the same operation by the same tool, no more harmful, and use nothing that is
    /// not held; otherwise the hook has failed. What it leaves out (needs, reason, call) stays as it was.
    pub updated_input: Option<Action>,
}

impl HookAnswer {
    /// Says nothing.
    pub fn nothing() -> HookAnswer {
        HookAnswer::default()
    }

    /// Yes.
    pub fn allow() -> HookAnswer {
        HookAnswer { verdict: Some(Verdict::Allow), ..HookAnswer::default() }
    }

    /// A person has to say.
    pub fn ask(reason: impl Into<String>) -> HookAnswer {
        HookAnswer { verdict: Some(Verdict::Ask), reason: Some(reason.into()), updated_input: None }
    }

    /// No.
    pub fn deny(reason: impl Into<String>) -> HookAnswer {
        HookAnswer { verdict: Some(Verdict::Deny), reason: Some(reason.into()), updated_input: None }
    }

    /// The same, with this in the place of what was asked about.
    #[must_use]
    pub fn instead(self, action: Action) -> HookAnswer {
        HookAnswer { updated_input: Some(action), ..self }
    }
}

/// A hook could not say anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookFailure(pub(crate) String);

impl HookFailure {
    /// For `why`, in words.
    pub fn new(why: impl Into<String>) -> HookFailure {
        HookFailure(why.into())
    }
}

impl fmt::Display for HookFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HookFailure {}
