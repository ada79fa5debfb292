//! The holdings of an agent, in the form that its bot receives.

use std::collections::BTreeSet;

use crate::{
    engine::Agent,
    model::{Hold, Scope},
};

use super::message::Holdings;

/// Returns the agent's holdings. They are empty if the agent is gone or the engine is closed.
pub(super) fn holdings(agent: &Agent) -> Holdings {
    let permissions = agent.permissions().map(|set| set.iter().collect()).unwrap_or_default();
    let (mut once, mut grant_only) = (BTreeSet::new(), BTreeSet::new());
    for grant in agent.grants().unwrap_or_default() {
        let permission = grant.pinned.permission.clone();
        if grant.hold == Hold::PassOn {
            grant_only.insert(permission);
        } else if grant.scope == Scope::Once {
            once.insert(permission);
        }
    }
    Holdings { permissions, once: once.into_iter().collect(), grant_only: grant_only.into_iter().collect() }
}
