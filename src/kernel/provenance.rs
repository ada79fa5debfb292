//! Explanations of a permission: the chain of grants back to a person, the policy file or the host program.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::model::{AgentId, Grant, GrantId, Permission, Timestamp};

use super::{State, command::StaleGrants, compact_grant::CompactGrant, held_grants::giver, support::for_use};

/// A link in the chain that supports a permission, from the holder towards the root.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a new kind of support must be explained to people")]
pub enum ProvenanceStep {
    /// A grant.
    Grant(Arc<Grant>),
    /// The setting that allows all agents to read unprotected paths.
    FreeReading,
    /// A grant whose path now leads to a different object. It supports nothing.
    Replaced(Arc<Grant>),
}

impl fmt::Display for ProvenanceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProvenanceStep::Grant(grant) => grant.fmt(f),
            ProvenanceStep::Replaced(grant) => {
                write!(f, "{grant}; without effect, because the object at its path was replaced")
            }
            ProvenanceStep::FreeReading => {
                f.write_str("every agent may read paths that are not protected (reads = \"anywhere\")")
            }
        }
    }
}

impl State {
    /// Returns the chain by which `agent` holds `permission` at `now`: its own grant first, the root last. The chain is
    /// empty if the agent does not hold the permission. A chain for repeated use is preferred, then one for a single
    /// use, then one for delegation only. Among several chains, a shortest one is returned.
    ///
    /// Links in `broken` are avoided, unless no other chain exists.
    pub(crate) fn why(
        &self,
        agent: &AgentId,
        permission: &Permission,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Vec<ProvenanceStep> {
        let whole = self.why_without(agent, permission, broken, now);
        if !whole.is_empty() || broken.is_empty() {
            return whole;
        }
        let told = |link| match link {
            ProvenanceStep::Grant(grant) if broken.contains(&grant.id) => ProvenanceStep::Replaced(grant),
            link @ (ProvenanceStep::Grant(_) | ProvenanceStep::Replaced(_) | ProvenanceStep::FreeReading) => link,
        };
        self.why_without(agent, permission, &StaleGrants::new(), now).into_iter().map(told).collect()
    }

    fn why_without(
        &self,
        agent: &AgentId,
        permission: &Permission,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Vec<ProvenanceStep> {
        let Some(holder) = self.agents.get(agent) else { return Vec::new() };
        if self.readable_by_all(permission) {
            return vec![ProvenanceStep::FreeReading];
        }
        let chain = self.chain(self.usable(holder, permission, now), broken, now);
        if !chain.is_empty() || self.is_protected(permission) {
            return chain;
        }
        let covers = |grant: &&Arc<CompactGrant>| grant.is_live(now) && grant.pinned.permission.covers(permission);
        let once = self.chain(for_use(&holder.held).filter(covers), broken, now);
        if once.is_empty() { self.chain(holder.held.iter().filter(covers), broken, now) } else { once }
    }

    /// Returns a shortest chain from one of the grants in `first` to a root.
    fn chain<'a>(
        &'a self,
        first: impl Iterator<Item = &'a Arc<CompactGrant>>,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Vec<ProvenanceStep> {
        let stands = |grant: &&Arc<CompactGrant>| !broken.contains(&grant.id);
        let mut ways: Vec<Vec<&CompactGrant>> = first.filter(stands).map(|grant| vec![&**grant]).collect();
        let mut seen: BTreeSet<GrantId> = BTreeSet::new();
        // The search is breadth first, so the first chain that reaches a root is a shortest one. No grant is visited
        // twice.
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let Some(last) = way.last() else { continue };
                let wanted = &last.pinned.permission;
                let Some(from) = giver(&last.origin) else { return told(way).collect() };
                if self.readable_by_all(wanted) {
                    return told(way).chain([ProvenanceStep::FreeReading]).collect();
                }
                let holder = self.agents.get(from).into_iter();
                let supports = holder.flat_map(|holder| self.supports(holder, wanted));
                for grant in supports.filter(|grant| grant.is_live(now)).filter(stands) {
                    if seen.insert(grant.id) {
                        longer.push(way.iter().copied().chain([&**grant]).collect());
                    }
                }
            }
            ways = longer;
        }
        Vec::new()
    }
}

fn told(way: Vec<&CompactGrant>) -> impl Iterator<Item = ProvenanceStep> {
    way.into_iter().map(|grant| ProvenanceStep::Grant(grant.whole()))
}
