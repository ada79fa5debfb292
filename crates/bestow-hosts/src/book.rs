//! The order in which the sessions of a host were last used, to retire the longest unused one when there are too many.

use std::{collections::HashMap, sync::Arc};

use bestow::AgentId;

/// The last uses of agents. After a start of the program, no agent has been used.
#[derive(Debug, Default)]
pub(crate) struct Book {
    uses: HashMap<AgentId, Use>,
    /// The number of uses so far.
    count: u64,
}

#[derive(Debug)]
struct Use {
    last: u64,
    in_use: Arc<()>,
}

impl Book {
    /// Notes a use of an agent now. The agent is in use as long as the result exists.
    pub(crate) fn used(&mut self, agent: &AgentId) -> Arc<()> {
        self.count = self.count.saturating_add(1);
        let entry = self.uses.entry(agent.clone()).or_insert_with(|| Use { last: 0, in_use: Arc::default() });
        entry.last = self.count;
        Arc::clone(&entry.in_use)
    }

    /// Returns true if a call of the agent is in progress.
    pub(crate) fn is_in_use(&self, agent: &AgentId) -> bool {
        self.uses.get(agent).is_some_and(|entry| Arc::strong_count(&entry.in_use) > 1)
    }

    /// Returns the place of the agent's last use in the order of all uses, and 0 if there was none.
    pub(crate) fn last_use(&self, agent: &AgentId) -> u64 {
        self.uses.get(agent).map_or(0, |entry| entry.last)
    }

    pub(crate) fn forget(&mut self, agent: &AgentId) {
        self.uses.remove(agent);
    }
}
