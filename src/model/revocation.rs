//! Revocations that can be undone.

use std::{collections::BTreeMap, sync::Arc};

use super::{Actor, AgentId, Grant, RunId, SavedDecision};

/// The revocation of a grant or of a saved decision by a person, with everything that ended in the same step.
///
/// It gives no permission by itself. Only the person who revoked can undo it, by [`Approver::undo`](crate::Approver).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    pub(crate) by: Actor,
    pub(crate) revoked: Revoked,
    /// The grants that lost their support.
    pub(crate) also_ended: Vec<Arc<Grant>>,
    /// The agents that held or gave these grants, each with its run before the revocation.
    pub(crate) runs: BTreeMap<AgentId, RunId>,
}

/// The object of a revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Revoked {
    Grant(Arc<Grant>),
    Ruling(Arc<SavedDecision>),
}

impl Revocation {
    /// Returns the grants that ended with the revoked one.
    pub fn also_ended(&self) -> &[Arc<Grant>] {
        &self.also_ended
    }

    /// Returns the agent that held the revoked grant, or that the revoked decision was about.
    pub fn agent(&self) -> &AgentId {
        match &self.revoked {
            Revoked::Grant(grant) => &grant.to,
            Revoked::Ruling(ruling) => &ruling.agent,
        }
    }
}
