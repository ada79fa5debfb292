//! Why an agent holds something: the chain back to a person, a file, or the host program.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::model::{AgentId, Grant, GrantId, Permission, Timestamp};

use super::{State, command::Broken, state::giver, support::for_use};

/// One link of the chain that a right hangs on, from the holder towards the root.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new kind of support must be explained to people")]
pub enum Support {
    /// A grant.
    Grant(Arc<Grant>),
    /// The setting under which everybody reads what is not protected.
    FreeReading,
    /// A grant whose path leads to something else than it did: nothing that hangs on it counts.
    Replaced(Arc<Grant>),
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Support::Grant(grant) => grant.fmt(f),
            Support::Replaced(grant) => {
                write!(f, "{grant}; counts for nothing, since something else stands there by now")
            }
            Support::FreeReading => f.write_str("everybody may read what is not protected (reads = \"anywhere\")"),
        }
    }
}

impl State {
    /// The chain by which `agent` holds `permission` at `now`: its own grant first, the root last. Empty if it
    /// does not hold it. Told is a way to use it for good, else to use it once, else to pass it on; where there are
    /// several, a shortest.
    ///
    /// Links in `broken` are left out, unless no other chain is there.
    pub(crate) fn why(
        &self,
        agent: &AgentId,
        permission: &Permission,
        broken: &Broken,
        now: Timestamp,
    ) -> Vec<Support> {
        let whole = self.why_without(agent, permission, broken, now);
        if !whole.is_empty() || broken.is_empty() {
            return whole;
        }
        let told = |link| match link {
            Support::Grant(grant) if broken.contains(&grant.id) => Support::Replaced(grant),
            link @ (Support::Grant(_) | Support::Replaced(_) | Support::FreeReading) => link,
        };
        self.why_without(agent, permission, &Broken::new(), now).into_iter().map(told).collect()
    }

    fn why_without(&self, agent: &AgentId, permission: &Permission, broken: &Broken, now: Timestamp) -> Vec<Support> {
        let Some(holder) = self.agents.get(agent) else { return Vec::new() };
        if self.readable_by_all(permission) {
            return vec![Support::FreeReading];
        }
        let chain = self.chain(self.usable(holder, permission, now), broken, now);
        if !chain.is_empty() || self.is_protected(permission) {
            return chain;
        }
        let covers = |grant: &&Arc<Grant>| grant.is_live(now) && grant.right.permission.covers(permission);
        let once = self.chain(for_use(&holder.held).filter(covers), broken, now);
        if once.is_empty() { self.chain(holder.held.iter().filter(covers), broken, now) } else { once }
    }

    /// A shortest chain from one of `first` to a root.
    fn chain<'a>(&self, first: impl Iterator<Item = &'a Arc<Grant>>, broken: &Broken, now: Timestamp) -> Vec<Support> {
        let stands = |grant: &&Arc<Grant>| !broken.contains(&grant.id);
        let mut ways: Vec<Vec<Arc<Grant>>> = first.filter(stands).map(|grant| vec![Arc::clone(grant)]).collect();
        let mut seen: BTreeSet<GrantId> = BTreeSet::new();
        // Breadth first, so that the first way to reach a root is a shortest one; no grant is looked at twice.
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let Some(last) = way.last() else { continue };
                let wanted = &last.right.permission;
                let Some(from) = giver(last) else { return told(way).collect() };
                if self.readable_by_all(wanted) {
                    return told(way).chain([Support::FreeReading]).collect();
                }
                let holder = self.agents.get(from).into_iter();
                let supports = holder.flat_map(|holder| self.supports(holder, wanted));
                for grant in supports.filter(|grant| grant.is_live(now)).filter(stands) {
                    if seen.insert(grant.id) {
                        longer.push(way.iter().cloned().chain([Arc::clone(grant)]).collect());
                    }
                }
            }
            ways = longer;
        }
        Vec::new()
    }
}

fn told(way: Vec<Arc<Grant>>) -> impl Iterator<Item = Support> {
    way.into_iter().map(Support::Grant)
}
