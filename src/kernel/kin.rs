//! The indexes of the registered agents by creator and by run. A step about one agent then costs the same, however many
//! other agents there are.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::agent::Agent;
use crate::model::{AgentId, OwnerId, RunId};

/// The indexes. They follow from the agents and are not serialized.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kin {
    /// The agents that name each id as their creator, of any owner.
    children: HashMap<AgentId, BTreeSet<AgentId>, RandomState>,
    /// The number of agents that are in each run, or were created in it.
    runs: HashMap<(OwnerId, RunId), usize, RandomState>,
}

impl Kin {
    /// Adds an agent. It must be removed before its profile or its run changes, and added again afterwards.
    pub(super) fn add(&mut self, agent: &Agent) {
        if let Some(parent) = &agent.profile.parent {
            self.children.entry(parent.clone()).or_default().insert(agent.profile.id.clone());
        }
        for run in agent.runs() {
            *self.runs.entry(run).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, agent: &Agent) {
        if let Some(parent) = &agent.profile.parent
            && let Some(children) = self.children.get_mut(parent)
        {
            children.remove(&agent.profile.id);
            if children.is_empty() {
                self.children.remove(parent);
            }
        }
        for run in agent.runs() {
            if let Some(count) = self.runs.get_mut(&run) {
                *count -= 1;
                if *count == 0 {
                    self.runs.remove(&run);
                }
            }
        }
    }

    /// Returns the agents that name `creator` as their creator, of any owner.
    pub(super) fn children(&self, creator: &AgentId) -> impl Iterator<Item = &AgentId> {
        self.children.get(creator).into_iter().flatten()
    }

    /// Returns the number of agents of `owner` that are in `run`, or were created in it.
    pub(super) fn count_in(&self, owner: &OwnerId, run: &RunId) -> usize {
        self.runs.get(&(owner.clone(), run.clone())).copied().unwrap_or_default()
    }
}
