//! The retired ancestors of agents.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::agent::Agent;

/// The retired agents that still bind their descendants. Each has a number, because a new agent may have its id by now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RetiredAncestors {
    next: u64,
    pub(super) agents: BTreeMap<u64, Agent>,
    /// The number of agents, registered or retired, that each retired agent binds directly.
    #[serde(skip)]
    bound: BTreeMap<u64, usize>,
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
        self.count(&agent.bound_by);
        self.agents.insert(number, agent);
        number
    }

    /// Counts that one more agent is bound by each of `numbers`.
    pub(super) fn count<'n>(&mut self, numbers: impl IntoIterator<Item = &'n u64>) {
        for number in numbers {
            *self.bound.entry(*number).or_default() += 1;
        }
    }

    /// Counts the retired agents that are bound by others, after the state was read from a snapshot.
    #[cfg(any(feature = "journal", all(test, feature = "property-tests")))]
    pub(super) fn recount(&mut self) {
        let numbers: Vec<_> = self.agents.values().flat_map(|agent| agent.bound_by.iter().copied()).collect();
        self.count(&numbers);
    }

    /// Records that a registered agent is bound by `number`.
    pub(super) fn bind(&mut self, number: u64, bound_by: &mut BTreeSet<u64>) {
        if bound_by.insert(number) {
            self.count([&number]);
        }
    }

    /// Records that the retired agent `bound` is bound by `number`.
    pub(super) fn bind_retired(&mut self, number: u64, bound: u64) {
        if self.agents.get_mut(&bound).is_some_and(|agent| agent.bound_by.insert(number)) {
            self.count([&number]);
        }
    }

    /// Records that an agent that was bound by `numbers` is gone. Drops and returns the retired agents that bind no
    /// other agent any more.
    pub(super) fn release(&mut self, numbers: &BTreeSet<u64>) -> Vec<Agent> {
        let (mut open, mut dropped): (Vec<u64>, _) = (numbers.iter().copied().collect(), Vec::new());
        while let Some(number) = open.pop() {
            let Some(count) = self.bound.get_mut(&number) else { continue };
            *count -= 1;
            if *count > 0 {
                continue;
            }
            self.bound.remove(&number);
            if let Some(agent) = self.agents.remove(&number) {
                open.extend(&agent.bound_by);
                dropped.push(agent);
            }
        }
        dropped
    }
}
