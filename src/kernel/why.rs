//! Why an agent holds something: the chain back to a person, a file, or the host program.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::model::{AgentId, Grant, GrantId, Permission, Scope, Timestamp};

use super::{
    State,
    state::{Agent, giver},
};

/// One link of the chain that a right hangs on, from the holder towards the root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a new kind of support must be explained to people")]
pub enum Support {
    /// A grant.
    Grant(Arc<Grant>),
    /// The setting under which everybody reads what is not protected.
    FreeReading,
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Support::Grant(grant) => grant.fmt(f),
            Support::FreeReading => f.write_str("everybody may read what is not protected (reads = \"anywhere\")"),
        }
    }
}

impl State {
    /// The chain by which `agent` holds `permission` at `now`: its own grant first, the root last. Empty if it
    /// does not hold it. Where there are several, the shortest is told.
    pub(crate) fn why(&self, agent: &AgentId, permission: &Permission, now: Timestamp) -> Vec<Support> {
        let mut ways: Vec<Vec<Arc<Grant>>> = vec![Vec::new()];
        let mut seen: BTreeSet<GrantId> = BTreeSet::new();
        // Breadth first, so that the first way to reach a root is a shortest one; no grant is looked at twice.
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let (holder, wanted) = match way.last() {
                    None => (agent, permission),
                    Some(grant) => match giver(grant) {
                        Some(from) => (from, &grant.right.permission),
                        None => return way.into_iter().map(Support::Grant).collect(),
                    },
                };
                if self.readable_by_all(wanted) && self.agents.contains_key(holder) {
                    return way.into_iter().map(Support::Grant).chain([Support::FreeReading]).collect();
                }
                let holder = self.agents.get(holder);
                let first = way.is_empty();
                for grant in holder.into_iter().flat_map(|holder| live_covers(holder, wanted, now)) {
                    if (first || grant.scope != Scope::Once) && seen.insert(grant.id) {
                        longer.push(way.iter().cloned().chain([Arc::clone(grant)]).collect());
                    }
                }
            }
            ways = longer;
        }
        Vec::new()
    }
}

fn live_covers<'a>(
    holder: &'a Agent,
    wanted: &'a Permission,
    now: Timestamp,
) -> impl Iterator<Item = &'a Arc<Grant>> + 'a {
    holder.held.iter().filter(move |grant| grant.is_live(now) && grant.right.permission.covers(wanted))
}
