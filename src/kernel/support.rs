//! What a right rests on, and what falls when that goes.
//!
//! A grant from an agent rests on any right of that agent that covers it. What must hold at every moment: each
//! such grant has a chain of live supports that ends at a root (a file, a person, the host program, or the
//! setting that lets everybody read). A circle of agents that hold a right only from each other has no such chain.

use std::{collections::BTreeMap, sync::Arc};

use crate::model::{
    Access, AgentId, Ended, Event, Grant, GrantId, Hold, Permission, Reads, SanitizedPath, Scope, Timestamp,
    sensitive_part,
};

use super::{
    Refusal, State,
    command::Broken,
    state::{Agent, giver},
};

/// Proof that an agent may pass a permission on, in the state this borrows.
///
/// Only [`State::held`] makes one, so whoever has one need not ask again; it cannot outlive a change of the
/// state, and giving uses it up.
#[derive(Debug)]
#[must_use]
pub(super) struct Held<'s> {
    from: &'s AgentId,
    /// How many agents stand between the permission and its root, at the least.
    depth: u8,
    /// Until when it is held, at the most; none is for ever.
    until: Option<Timestamp>,
}

impl<'s> Held<'s> {
    pub(super) fn from(&self) -> &'s AgentId {
        self.from
    }

    /// How deep a grant that rests on this stands.
    pub(super) fn depth_below(&self) -> u8 {
        self.depth.saturating_add(1)
    }

    /// When a grant that rests on this ends, if it would end at `wanted` by itself.
    pub(super) fn until_below(&self, wanted: Option<Timestamp>) -> Option<Timestamp> {
        earlier(self.until, wanted)
    }
}

/// Grants that may have lost what they rest on, with the grant whose end made them suspect.
type Suspects = BTreeMap<GrantId, (Arc<Grant>, Option<GrantId>)>;

impl State {
    /// Proof that `from` may pass on `permission` now, or the refusal that says it does not hold it.
    ///
    /// One-shot rights cannot be passed on: that would make two uses of one.
    pub(super) fn held<'s>(
        &'s self,
        from: &'s AgentId,
        permission: &Permission,
        now: Timestamp,
        broken: &Broken,
    ) -> Result<Held<'s>, Refusal> {
        let agent = self.agent(from)?;
        let mut best = self.readable_by_all(permission).then_some(Held { from, depth: 0, until: None });
        let live = |grant: &&Arc<Grant>| grant.is_live(now) && !broken.contains(&grant.id);
        for grant in supports(agent, permission).filter(live) {
            best = Some(match best {
                None => Held { from, depth: grant.depth, until: grant.until },
                Some(other) => Held {
                    from,
                    depth: other.depth.min(grant.depth),
                    until: if earlier(other.until, grant.until) == other.until { grant.until } else { other.until },
                },
            });
        }
        best.ok_or_else(|| not_held(agent, permission))
    }

    /// Whether `agent` may use `permission` now, for as many uses as wanted.
    pub(super) fn uses(&self, agent: &Agent, permission: &Permission, now: Timestamp, broken: &Broken) -> bool {
        if let Some(path) = permission.path().filter(|path| self.is_protected(path)) {
            return agent
                .held
                .iter()
                .any(|grant| reaches_protected(grant, permission, path) && !broken.contains(&grant.id));
        }
        self.readable_by_all(permission)
            || supports(agent, permission)
                .any(|grant| grant.hold == Hold::Use && grant.is_live(now) && !broken.contains(&grant.id))
    }

    /// The grants by which `agent` may use `permission` for as many uses as wanted.
    pub(crate) fn usable(&self, agent: &AgentId, permission: &Permission, now: Timestamp) -> Vec<Arc<Grant>> {
        let holder = self.agents.get(agent).into_iter();
        let usable = holder.flat_map(|holder| supports(holder, permission));
        usable.filter(|grant| grant.hold == Hold::Use && grant.is_live(now)).cloned().collect()
    }

    /// The refusal of `permission` for `agent`, if it may not use it for as many uses as wanted.
    pub(crate) fn refuse_unheld(
        &self,
        agent: &AgentId,
        permission: &Permission,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let holder = self.agent(agent)?;
        if self.uses(holder, permission, now, &Broken::new()) { Ok(()) } else { Err(not_held(holder, permission)) }
    }

    /// The setting under which everybody reads everything that is not protected.
    pub(crate) fn readable_by_all(&self, permission: &Permission) -> bool {
        let Permission::Path(Access::Read, path) = permission else { return false };
        self.settings.reads == Reads::Anywhere && !self.is_protected(path)
    }

    /// Whether a path lies on or below a protected one.
    pub(super) fn is_protected(&self, path: &SanitizedPath) -> bool {
        self.settings.protected.iter().any(|protected| protected.contains(path))
    }

    /// What falls, and what ends sooner, now that `ended` are gone; they are no longer in the state.
    pub(super) fn falls_with(&self, ended: &[Arc<Grant>], now: Timestamp) -> Vec<Event> {
        self.unsupported_among(&self.suspects(ended), now)
    }

    /// The same, now that besides reading is no longer free: any passed-on read may have rested on that.
    pub(super) fn falls_with_free_reading_and(&self, ended: &[Arc<Grant>], now: Timestamp) -> Vec<Event> {
        let is_read = |grant: &&Arc<Grant>| matches!(grant.right.permission, Permission::Path(Access::Read, _));
        let passed_on = self.grants.values().filter(is_read).filter(|grant| giver(grant).is_some());
        let mut suspects: Suspects = passed_on.map(|grant| (grant.id, (Arc::clone(grant), None))).collect();
        suspects.extend(self.suspects(ended));
        self.unsupported_among(&suspects, now)
    }

    /// First all `suspects` are taken to be gone; then those that still have a chain to a root come back, with
    /// the latest end that a chain allows. What does not come back falls, and so do circles, since nothing
    /// outside holds them up.
    fn unsupported_among(&self, suspects: &Suspects, now: Timestamp) -> Vec<Event> {
        let saved = self.saved(suspects, now);
        let verdict = |(id, (grant, with)): (&GrantId, &(Arc<Grant>, Option<GrantId>))| match saved.get(id) {
            None => Some(Event::GrantRevoked { grant: Arc::clone(grant), ended: Ended::SupportLost { with: *with } }),
            Some(until) if *until == grant.until => None,
            Some(until) => {
                Some(Event::GrantChanged { grant: Arc::new(Grant { until: *until, ..Grant::clone(grant) }) })
            }
        };
        suspects.iter().filter_map(verdict).collect()
    }

    /// Every grant that may rest, directly or not, on one of `ended`, with the grant that led to it.
    fn suspects(&self, ended: &[Arc<Grant>]) -> Suspects {
        let mut suspects = BTreeMap::new();
        let mut queue: Vec<Arc<Grant>> = ended.to_vec();
        while let Some(gone) = queue.pop() {
            let Some(holder) = self.agents.get(&gone.to) else { continue };
            for grant in holder.given.iter().filter_map(|id| self.grants.get(id)) {
                if !suspects.contains_key(&grant.id) && gone.right.permission.covers(&grant.right.permission) {
                    suspects.insert(grant.id, (Arc::clone(grant), Some(gone.id)));
                    queue.push(Arc::clone(grant));
                }
            }
        }
        suspects
    }

    /// Those of `suspects` that have a chain to a root, with the latest end that one allows.
    fn saved(&self, suspects: &Suspects, now: Timestamp) -> BTreeMap<GrantId, Option<Timestamp>> {
        let mut saved: BTreeMap<GrantId, Option<Timestamp>> = BTreeMap::new();
        // Ends only move later, and each is one of finitely many, so this comes to rest.
        loop {
            let mut changed = false;
            for (id, (grant, _)) in suspects {
                let Some(end) = self.end_allowed(grant, suspects, &saved, now) else { continue };
                let later = saved.get(id).is_none_or(|known| earlier(*known, end) == *known && *known != end);
                if later {
                    saved.insert(*id, end);
                    changed = true;
                }
            }
            if !changed {
                return saved;
            }
        }
    }

    /// The latest end that what is known to be live allows `grant`; none if nothing live supports it.
    #[expect(clippy::option_option, reason = "no support, support without an end, and support with one")]
    fn end_allowed(
        &self,
        grant: &Grant,
        suspects: &Suspects,
        saved: &BTreeMap<GrantId, Option<Timestamp>>,
        now: Timestamp,
    ) -> Option<Option<Timestamp>> {
        if self.readable_by_all(&grant.right.permission) {
            return Some(grant.until);
        }
        let from = self.agents.get(giver(grant)?)?;
        let live = supports(from, &grant.right.permission).filter(|support| support.is_live(now));
        let ends = live.filter_map(|support| match suspects.contains_key(&support.id) {
            true => saved.get(&support.id).copied(),
            false => Some(support.until),
        });
        ends.reduce(|one, other| if earlier(one, other) == one { other } else { one })
            .map(|end| earlier(end, grant.until))
    }
}

/// Everything `agent` holds that covers `permission` and can be passed on.
fn supports<'a>(agent: &'a Agent, permission: &Permission) -> impl Iterator<Item = &'a Arc<Grant>> {
    gives(agent, permission).filter(|grant| grant.scope != Scope::Once)
}

/// Everything `agent` holds that gives `permission`: the right covers it, and names what is sensitive about it.
pub(super) fn gives<'a>(agent: &'a Agent, permission: &Permission) -> impl Iterator<Item = &'a Arc<Grant>> {
    let part = sensitive_in(permission);
    agent.held.iter().filter(move |grant| {
        let names = |part: &SanitizedPath| grant.right.permission.path().is_some_and(|root| part.contains(root));
        grant.right.permission.covers(permission) && part.as_ref().is_none_or(names)
    })
}

/// What a right must name, or something below it, to give `permission`.
fn sensitive_in(permission: &Permission) -> Option<SanitizedPath> {
    match permission {
        Permission::Path(Access::Write, path) => sensitive_part(path),
        Permission::Path(Access::Read, _) | Permission::Events | Permission::Network => None,
    }
}

/// The refusal for who has no right that gives `permission`; a right that covers it without naming it is another matter.
pub(crate) fn not_held(agent: &Agent, permission: &Permission) -> Refusal {
    match sensitive_in(permission) {
        Some(part) if agent.held.iter().any(|grant| grant.right.permission.covers(permission)) => {
            Refusal::Sensitive { permission: permission.clone(), part }
        }
        Some(_) | None => Refusal::NotHeld { agent: agent.profile.id.clone(), permission: permission.clone() },
    }
}

/// A protected path is reached by nothing but a line of a file that names exactly it.
fn reaches_protected(grant: &Grant, permission: &Permission, path: &SanitizedPath) -> bool {
    let from_file = matches!(grant.origin, crate::model::Origin::Config(_));
    from_file
        && grant.hold == Hold::Use
        && grant.right.permission.path() == Some(path)
        && grant.right.permission.covers(permission)
}

/// The earlier of two ends; none is never.
pub(super) fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (None, end) | (end, None) => end,
        (Some(one), Some(other)) => Some(one.min(other)),
    }
}
