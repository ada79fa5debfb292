//! The state of one agent.

use std::{
    collections::{BTreeSet, VecDeque},
    iter,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::model::{
    AgentId, AgentOrigin, BlockedAccess, GrantId, Mode, OwnerId, Profile, RequestId, RunId, SavedDecision, Verdict,
    ViolationId,
};

use super::{held_grants::HeldGrants, request_budget::Asked, rules::Rules};

/// The state of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Agent {
    pub(crate) profile: Arc<Profile>,
    pub(crate) run: RunId,
    pub(super) source: AgentOrigin,
    /// The mode in the policy file, if another mode was set at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written_mode: Option<Mode>,
    /// The grants that the agent holds, oldest first.
    #[serde(skip)]
    pub(crate) held: HeldGrants,
    /// The grants that the agent gave.
    #[serde(skip)]
    pub(super) given: BTreeSet<GrantId>,
    #[serde(skip)]
    pub(super) pending: BTreeSet<RequestId>,
    /// The questions of the whole family. Only the first agent of a family counts them, or each agent if the first one
    /// is gone.
    pub(super) asked: Asked,
    /// The first agent of the family: this agent itself, unless another agent created it.
    pub(super) family: AgentId,
    pub(super) descendants: u32,
    /// The run of the creator at the time of creation. Denials in that run bind this agent as long as it exists.
    #[serde(default)]
    pub(super) made_in: Option<RunId>,
    /// The retired ancestors that still bind this agent, by number.
    #[serde(default)]
    pub(super) bound_by: BTreeSet<u64>,
    /// The rules of this agent.
    pub(super) rules: Rules,
    /// The saved decisions about actions of this agent, oldest first.
    pub(crate) rulings: Vec<Arc<SavedDecision>>,
    /// The accesses that the sandbox kept from the agent's commands in this run, oldest first.
    pub(super) kept_from: VecDeque<Violated>,
    /// The remembered ended requests of this agent, oldest first.
    pub(super) over: VecDeque<RequestId>,
    /// The position of the user's last activity in the order of all user activity. 0 means never.
    pub(super) active: u64,
}

/// An access that the sandbox kept from a command, with the id of the recorded violation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Violated {
    #[serde(flatten)]
    pub(super) access: BlockedAccess,
    pub(super) id: ViolationId,
}

impl Agent {
    /// Returns true if a retired ancestor still binds this agent.
    #[cfg(feature = "schedule")]
    pub(crate) fn has_outlived_its_creator(&self) -> bool {
        !self.bound_by.is_empty()
    }

    /// Returns the current run, and the run in which the agent was created if that is another one.
    pub(super) fn runs(&self) -> impl Iterator<Item = (OwnerId, RunId)> + '_ {
        let made_in = self.made_in.iter().filter(|made_in| **made_in != self.run);
        iter::once(&self.run).chain(made_in).map(|run| (self.profile.owner.clone(), run.clone()))
    }

    /// Returns the part of this agent that binds its descendants after it is retired: identity, run, mode, rules and
    /// permanent denials.
    pub(super) fn as_bond(&self) -> Agent {
        let noes = self.rulings.iter().filter(|ruling| ruling.verdict == Verdict::Deny && ruling.run.is_none());
        Agent {
            profile: Arc::clone(&self.profile),
            run: self.run.clone(),
            source: self.source,
            written_mode: None,
            held: HeldGrants::default(),
            given: BTreeSet::new(),
            pending: BTreeSet::new(),
            asked: Asked::never(),
            family: self.family.clone(),
            descendants: 0,
            made_in: self.made_in.clone(),
            bound_by: self.bound_by.clone(),
            rules: self.rules.clone(),
            rulings: noes.cloned().collect(),
            kept_from: VecDeque::new(),
            over: VecDeque::new(),
            active: 0,
        }
    }
}
