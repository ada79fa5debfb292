//! The retired ancestors of agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::agent::Agent;

/// The retired agents that still bind their descendants. Each has a number, because a new agent may have its id by now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RetiredAncestors {
    next: u64,
    pub(super) agents: BTreeMap<u64, Agent>,
}

impl RetiredAncestors {
    pub(super) fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agents.values()
    }

    pub(super) fn agents_mut(&mut self) -> impl Iterator<Item = &mut Agent> {
        self.agents.values_mut()
    }

    /// Stores `agent` and returns its number. An equal stored agent is reused.
    pub(super) fn keep(&mut self, agent: Agent) -> u64 {
        if let Some((number, _)) = self.agents.iter().find(|(_, other)| **other == agent) {
            return *number;
        }
        let number = self.next;
        self.next += 1;
        self.agents.insert(number, agent);
        number
    }
}
