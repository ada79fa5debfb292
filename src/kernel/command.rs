//! What somebody wants to happen. Times, ids and what the disk said come in as values.

use std::{collections::BTreeSet, sync::Arc};

use crate::model::{
    AgentId, Answer, ApproverId, GrantId, Hold, Means, OwnerId, Permission, Policy, Profile, Reason, RequestId,
    Revoker, Right, RunId, Scope,
};
#[cfg(feature = "sandbox")]
use crate::model::{SandboxFacts, SandboxViolation};

/// A right that the host program or a creator gives an agent at its start.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) right: Right,
    pub(crate) hold: Hold,
}

/// Who answers.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) owner: OwnerId,
    pub(crate) by: ApproverId,
    pub(crate) means: Means,
}

/// Grants whose path no longer leads to the object it did: they support nothing now.
pub(crate) type Broken = BTreeSet<GrantId>;

/// What somebody wants to happen.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// The host program adds an agent.
    Register {
        profile: Profile,
        run: RunId,
        rights: Vec<Start>,
    },
    /// An agent creates another one, giving it part of what it holds.
    Create {
        creator: AgentId,
        profile: Profile,
        run: RunId,
        rights: Vec<Right>,
        reason: Reason,
        broken: Broken,
    },
    /// An agent goes.
    Retire {
        agent: AgentId,
    },
    /// An agent starts a new run.
    BeginRun {
        agent: AgentId,
        run: RunId,
    },
    /// `request_permission`.
    Request {
        id: RequestId,
        from: AgentId,
        rights: Vec<Right>,
        reason: Reason,
        scope: Option<Scope>,
        broken: Broken,
    },
    /// A person answers.
    Answer {
        request: RequestId,
        answer: Answer,
        by: Person,
    },
    /// The asker takes its question back.
    Cancel {
        request: RequestId,
        by: AgentId,
    },
    /// `grant_permission`.
    Grant {
        from: AgentId,
        to: AgentId,
        rights: Vec<Right>,
        reason: Reason,
        scope: Scope,
        broken: Broken,
    },
    /// A person gives without having been asked.
    Give {
        by: Person,
        to: AgentId,
        rights: Vec<Start>,
        reason: Reason,
        scope: Scope,
    },
    /// Somebody takes a grant away; `owner` is whose grants they may touch, if not everybody's.
    Revoke {
        grant: GrantId,
        by: Revoker,
        owner: Option<OwnerId>,
        reason: Option<Reason>,
    },
    /// An agent uses what it holds; a one-shot right is gone afterwards.
    Spend {
        agent: AgentId,
        permission: Permission,
        broken: Broken,
    },
    /// A foreground agent's connector came or went.
    Connected {
        agent: AgentId,
    },
    Disconnected {
        agent: AgentId,
    },
    /// A user did something through a foreground agent.
    UserActive {
        agent: AgentId,
    },
    /// Somebody who can answer for an owner came or went.
    ApproverArrived {
        owner: OwnerId,
    },
    ApproverLeft {
        owner: OwnerId,
    },
    /// A file takes effect, as the settings before it say.
    Configure {
        policy: Arc<Policy>,
        run: RunId,
    },
    /// A person agrees to what was held back.
    AgreeToWidening {
        by: Option<Person>,
        run: RunId,
    },
    /// A file was not taken.
    RejectConfig {
        why: Arc<str>,
    },
    /// A file cannot be watched, and is looked at every now and then.
    PollConfig {
        why: Arc<str>,
    },
    /// A command of an agent is about to start.
    #[cfg(feature = "sandbox")]
    Sandboxed {
        agent: AgentId,
        facts: Arc<SandboxFacts>,
    },
    /// A command of an agent reached for what its profile forbids.
    #[cfg(feature = "sandbox")]
    Violated {
        agent: AgentId,
        violation: Arc<SandboxViolation>,
    },
    /// Time went by.
    Tick,
    /// Every question is taken back.
    Shutdown,
}

impl Command {
    /// Who tries what, for the fact that a refusal leaves.
    pub(crate) fn attempt(&self) -> (Option<&AgentId>, &'static str) {
        match self {
            Command::Register { .. } => (None, "register an agent"),
            Command::Create { creator, .. } => (Some(creator), "create an agent"),
            Command::Retire { .. } => (None, "retire an agent"),
            Command::BeginRun { .. } => (None, "begin a run"),
            Command::Request { from, .. } => (Some(from), "request permission"),
            Command::Answer { .. } => (None, "answer a request"),
            Command::Cancel { by, .. } => (Some(by), "cancel a request"),
            Command::Grant { from, .. } => (Some(from), "grant permission"),
            Command::Give { .. } => (None, "give permission"),
            Command::Revoke { by: Revoker::Agent(agent), .. } => (Some(agent), "revoke a grant"),
            Command::Revoke { by: Revoker::Operator | Revoker::Person { .. }, .. } => (None, "revoke a grant"),
            Command::Spend { agent, .. } => (Some(agent), "use a right"),
            Command::Connected { .. } | Command::Disconnected { .. } => (None, "connect a connector"),
            Command::UserActive { .. } => (None, "note user activity"),
            Command::ApproverArrived { .. } | Command::ApproverLeft { .. } => (None, "note an approver"),
            Command::Configure { .. } | Command::RejectConfig { .. } | Command::PollConfig { .. } => {
                (None, "take a file")
            }
            Command::AgreeToWidening { .. } => (None, "agree to a change of the file"),
            #[cfg(feature = "sandbox")]
            Command::Sandboxed { agent, .. } | Command::Violated { agent, .. } => (Some(agent), "run a command"),
            Command::Tick => (None, "pass time"),
            Command::Shutdown => (None, "end"),
        }
    }
}
