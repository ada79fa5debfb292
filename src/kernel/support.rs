//! The support of a permission.
//!
//! A grant from an agent is supported by any permission of that agent that covers it. At every moment, each such grant
//! has a chain of live supports that ends at a root. A root is the policy file, a person, the host program, or the
//! setting that lets all agents read. A circle of agents that hold a permission only from each other has no such chain.

use std::{cell::OnceCell, cmp::Reverse, collections::BTreeSet, sync::Arc};

use crate::model::{Access, AgentId, Hold, Origin, Permission, Reads, Scope, Settings, Timestamp, sensitive_part};

use super::{
    Refusal, Standing, State,
    agent::Agent,
    command::StaleGrants,
    compact_grant::CompactGrant,
    held_grants::{HeldGrants, giver},
};

/// Proof that an agent may pass a permission on. It borrows the state that it is valid for.
///
/// Only [`State::held`] creates a value, so its owner need not check again. The value cannot outlive a change of the
/// state, and giving consumes it.
#[derive(Debug)]
#[must_use]
pub(super) struct Held<'s> {
    from: &'s AgentId,
    /// The number of agents between the permission and its root.
    depth: u8,
    /// The end of the permission. `None` means no end.
    until: Option<Timestamp>,
}

impl<'s> Held<'s> {
    pub(super) fn from(&self) -> &'s AgentId {
        self.from
    }

    pub(super) fn depth(&self) -> u8 {
        self.depth
    }

    /// Returns the depth of a grant that this permission supports.
    pub(super) fn depth_below(&self) -> u8 {
        self.depth.saturating_add(1)
    }

    /// Returns the end of a grant that this permission supports, for the wanted end `wanted`.
    pub(super) fn until_below(&self, wanted: Option<Timestamp>) -> Option<Timestamp> {
        earlier(self.until, wanted)
    }
}

impl State {
    /// Returns proof that `from` may pass on `permission` now, or a refusal if `from` does not hold it.
    ///
    /// One-time permissions cannot be passed on, because that would turn one use into two.
    pub(super) fn held<'s>(
        &'s self,
        from: &'s AgentId,
        permission: &Permission,
        now: Timestamp,
        broken: &StaleGrants,
    ) -> Result<Held<'s>, Refusal> {
        let agent = self.agent(from)?;
        if self.readable_by_all(permission) {
            return Ok(Held { from, depth: 0, until: None });
        }
        let live =
            self.supports(agent, permission).filter(|grant| grant.is_live(now) && self.counts(grant, broken, now));
        // A single support has to cover the whole permission. The order of preference is: delegation still allowed,
        // latest end, lowest depth.
        let max = self.settings.max_depth;
        let best = live.max_by_key(|grant| (grant.depth < max, rank(grant.until), Reverse(grant.depth)));
        let held = best.map(|grant| Held { from, depth: grant.depth, until: grant.until });
        held.ok_or_else(|| self.not_held(agent, permission, now))
    }

    /// Returns true if `agent` may use `permission` now for any number of uses.
    pub(crate) fn uses(&self, agent: &Agent, permission: &Permission, now: Timestamp, broken: &StaleGrants) -> bool {
        self.readable_by_all(permission)
            || self.usable(agent, permission, now).any(|grant| self.counts(grant, broken, now))
    }

    /// Returns true if `grant` has a chain to a root without a broken link.
    pub(crate) fn counts(&self, grant: &CompactGrant, broken: &StaleGrants, now: Timestamp) -> bool {
        broken.is_empty() || self.hangs_on_what_stands(grant, broken, now)
    }

    fn hangs_on_what_stands(&self, grant: &CompactGrant, broken: &StaleGrants, now: Timestamp) -> bool {
        let mut seen = BTreeSet::from([grant.id]);
        let mut open = vec![grant];
        while let Some(link) = open.pop() {
            if broken.contains(&link.id) {
                continue;
            }
            let wanted = &link.pinned.permission;
            let Some(from) = giver(&link.origin) else { return true };
            if self.readable_by_all(wanted) {
                return true;
            }
            let holder = self.agents.get(from).into_iter();
            let supports =
                holder.flat_map(|holder| self.supports(holder, wanted)).filter(|support| support.is_live(now));
            open.extend(supports.filter(|support| seen.insert(support.id)).map(|support| &**support));
        }
        false
    }

    /// Returns all pinned grants by which `agent` may have one of `permissions`, and all pinned grants that may support
    /// them.
    pub(crate) fn pinned_chains<'p>(
        &self,
        agent: &AgentId,
        permissions: impl Iterator<Item = &'p Permission> + Clone,
    ) -> Vec<Arc<CompactGrant>> {
        let held = self.agents.get(agent).into_iter().flat_map(|agent| &agent.held);
        let covers =
            |grant: &&Arc<CompactGrant>| permissions.clone().any(|wanted| grant.pinned.permission.covers(wanted));
        let mut open: Vec<_> = held.filter(covers).collect();
        let (mut seen, mut pinned) = (BTreeSet::new(), Vec::new());
        while let Some(link) = open.pop() {
            if !seen.insert(link.id) {
                continue;
            }
            pinned.extend(link.pinned.pinned_object().map(|_| Arc::clone(link)));
            let from = giver(&link.origin).and_then(|from| self.agents.get(from)).into_iter();
            let supports = from.flat_map(|from| self.supports(from, &link.pinned.permission));
            open.extend(supports.filter(|support| !seen.contains(&support.id)));
        }
        pinned
    }

    /// Returns the grants by which `agent` may use `permission` for any number of uses.
    pub(crate) fn usable<'a>(
        &self,
        agent: &'a Agent,
        permission: &'a Permission,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a Arc<CompactGrant>> + use<'a> {
        let standing = self.standing(permission);
        let gives = self.gives(permission);
        lasting(agent, now).filter(move |grant| gives(grant)).filter(move |grant| match standing {
            Standing::Open => true,
            Standing::Protected => names_exactly(grant, permission),
            Standing::Closed => false,
        })
    }

    /// Returns true if `permission` is a read that the settings allow to all agents. Protected paths are excluded.
    pub(crate) fn readable_by_all(&self, permission: &Permission) -> bool {
        let is_read = matches!(permission, Permission::Path(Access::Read, _));
        is_read && self.settings.reads == Reads::Anywhere && !self.is_protected(permission)
    }

    /// Returns true if the path of `permission` is protected or below a protected path.
    pub(crate) fn is_protected(&self, permission: &Permission) -> bool {
        self.standing(permission) != Standing::Open
    }

    fn standing(&self, permission: &Permission) -> Standing {
        match permission {
            Permission::Path(access, path) => self.protected.standing(*access, path),
            Permission::Events | Permission::Network | Permission::Tool(_) => Standing::Open,
        }
    }
}

/// Returns the order of an end time. No end is the latest.
pub(super) fn rank(end: Option<Timestamp>) -> u64 {
    end.map_or(u64::MAX, Timestamp::as_millis)
}

impl State {
    /// Returns all grants of `agent` that cover `permission` and can be passed on.
    pub(super) fn supports<'a>(
        &self,
        agent: &'a Agent,
        permission: &Permission,
    ) -> impl Iterator<Item = &'a Arc<CompactGrant>> + use<'a> {
        let gives = self.gives(permission);
        agent.held.iter().filter(move |grant| grant.scope != Scope::Once && gives(grant))
    }

    /// Returns a test of grants for `permission`: a grant has to cover it and to name its sensitive part.
    pub(super) fn gives(&self, permission: &Permission) -> impl Fn(&CompactGrant) -> bool + use<> {
        let reaches = self.reaches(permission);
        move |grant| reaches(&grant.pinned.permission)
    }

    /// Returns a test of permissions for `permission`: the tested one has to cover it and has to name its sensitive
    /// part.
    pub(super) fn reaches(&self, permission: &Permission) -> impl Fn(&Permission) -> bool + use<> {
        let (permission, settings, part) = (permission.clone(), Arc::clone(&self.settings), OnceCell::new());
        // A root that contains the path is at or below the sensitive part if it is not shorter than that part.
        let names = move |held: &Permission, wanted: &Permission| {
            let part = part.get_or_init(|| sensitive_in(&settings, wanted).map(str::len));
            part.is_none_or(|part| held.path().is_some_and(|root| part <= root.as_str().len()))
        };
        // Looking for the sensitive part costs more than most other steps, and most permissions do not cover.
        move |held| held.covers(&permission) && names(held, &permission)
    }

    /// Returns the path that a grant must name to give `permission`. A path below it is accepted as well.
    pub(super) fn sensitive_in<'p>(&self, permission: &'p Permission) -> Option<&'p str> {
        sensitive_in(&self.settings, permission)
    }

    /// Returns the refusal for an agent whose grants cover `permission` without naming its sensitive part.
    pub(super) fn unnamed(&self, agent: &Agent, permission: &Permission) -> Option<Refusal> {
        let part = self.sensitive_in(permission)?;
        let gives = self.gives(permission);
        let is_covered = agent.held.iter().any(|grant| grant.pinned.permission.covers(permission));
        let is_named = agent.held.iter().any(|grant| gives(grant));
        // A part of a valid path is a valid path.
        let part = part.parse().ok().filter(|_| is_covered && !is_named)?;
        Some(Refusal::Sensitive { permission: permission.clone(), part })
    }

    /// Returns the refusal for a permission that is not held, or is held in a way that cannot be passed on.
    pub(crate) fn not_held(&self, agent: &Agent, permission: &Permission, now: Timestamp) -> Refusal {
        let (from, permission) = (agent.profile.id.clone(), permission.clone());
        if let Some(refusal) = self.unnamed(agent, &permission) {
            return refusal;
        }
        let mut once = for_use(&agent.held).filter(|grant| grant.scope == Scope::Once && grant.is_live(now));
        if once.any(|grant| grant.pinned.permission.covers(&permission)) {
            Refusal::HeldOnce { agent: from, permission }
        } else {
            Refusal::NotHeld { agent: from, permission }
        }
    }
}

/// See [`State::sensitive_in`].
fn sensitive_in<'p>(settings: &Settings, permission: &'p Permission) -> Option<&'p str> {
    match permission {
        Permission::Path(Access::Write, path) => sensitive_part(path, &settings.sensitive),
        Permission::Path(Access::Read, _) | Permission::Events | Permission::Network | Permission::Tool(_) => None,
    }
}

/// Returns the live grants that `agent` may use for any number of uses.
pub(crate) fn lasting(agent: &Agent, now: Timestamp) -> impl Iterator<Item = &Arc<CompactGrant>> {
    for_use(&agent.held).filter(move |grant| grant.scope != Scope::Once && grant.is_live(now))
}

/// Returns true if a line of the policy file names exactly this path. No other permission reaches a protected path.
fn names_exactly(grant: &CompactGrant, permission: &Permission) -> bool {
    matches!(grant.origin, Origin::Config(_)) && grant.pinned.permission.path() == permission.path()
}

/// Returns the usable grants in `held`. Each grant records this itself, so the end of another grant makes nothing
/// usable.
pub(super) fn for_use(held: &[Arc<CompactGrant>]) -> impl Iterator<Item = &Arc<CompactGrant>> {
    held.iter().filter(|grant| grant.hold == Hold::Use)
}

/// Returns the hold of a gift of `permission` to the holder of `held`.
///
/// If the policy file or a person gave the permission for delegation only, a gift from an agent is for delegation only
/// as well. Otherwise the holder could pass the permission on, get it back as a gift and use it.
pub(super) fn hold_of_gift(held: &HeldGrants, permission: &Permission, now: Timestamp) -> Hold {
    if !held.has_kept_back() {
        return Hold::Use;
    }
    // A gift that was restricted restricts later gifts, even after the original restriction is given up.
    let keeps_back = |grant: &Arc<CompactGrant>| grant.hold == Hold::PassOn && grant.is_live(now);
    let kept_back = held.iter().any(|own| keeps_back(own) && own.pinned.permission.covers(permission));
    if kept_back { Hold::PassOn } else { Hold::Use }
}

/// Returns the earlier of two ends. `None` means no end.
fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (None, end) | (end, None) => end,
        (Some(one), Some(other)) => Some(one.min(other)),
    }
}
