//! What a right rests on, and what falls when that goes.
//!
//! A grant from an agent rests on any right of that agent that covers it. What must hold at every moment: each
//! such grant has a chain of live supports that ends at a root (a file, a person, the host program, or the
//! setting that lets everybody read). A circle of agents that hold a right only from each other has no such chain.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    sync::Arc,
};

use crate::model::{
    Access, AgentId, Ended, Event, Grant, GrantId, Hold, Origin, Permission, Reads, SanitizedPath, Scope, Timestamp,
    sensitive_part,
};

use super::{
    Refusal, Standing, State,
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
    /// How many agents stand between the permission and its root.
    depth: u8,
    /// Until when it is held; none is for ever.
    until: Option<Timestamp>,
}

impl<'s> Held<'s> {
    pub(super) fn from(&self) -> &'s AgentId {
        self.from
    }

    pub(super) fn depth(&self) -> u8 {
        self.depth
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
        if self.readable_by_all(permission) {
            return Ok(Held { from, depth: 0, until: None });
        }
        let live =
            self.supports(agent, permission).filter(|grant| grant.is_live(now) && self.counts(grant, broken, now));
        // One support has to carry all of it: what may be passed on still, then what lasts longest, then the shortest.
        let max = self.settings.max_depth;
        let best = live.max_by_key(|grant| (grant.depth < max, rank(grant.until), Reverse(grant.depth)));
        let held = best.map(|grant| Held { from, depth: grant.depth, until: grant.until });
        held.ok_or_else(|| self.not_held(agent, permission, now))
    }

    /// Whether `agent` may use `permission` now, for as many uses as wanted.
    pub(crate) fn uses(&self, agent: &Agent, permission: &Permission, now: Timestamp, broken: &Broken) -> bool {
        self.readable_by_all(permission)
            || self.usable(agent, permission, now).any(|grant| self.counts(grant, broken, now))
    }

    /// True if `grant` hangs on a chain to a root of which no link is broken.
    pub(crate) fn counts(&self, grant: &Grant, broken: &Broken, now: Timestamp) -> bool {
        broken.is_empty() || self.hangs_on_what_stands(grant, broken, now)
    }

    fn hangs_on_what_stands(&self, grant: &Grant, broken: &Broken, now: Timestamp) -> bool {
        let mut seen = BTreeSet::from([grant.id]);
        let mut open = vec![grant];
        while let Some(link) = open.pop() {
            if broken.contains(&link.id) {
                continue;
            }
            let wanted = &link.right.permission;
            let Some(from) = giver(link) else { return true };
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

    /// Every grant that is bound to an object, and by which `agent` may have one of `permissions`, or on which such a
    /// grant may rest.
    pub(crate) fn pinned_chains<'p>(
        &self,
        agent: &AgentId,
        permissions: impl Iterator<Item = &'p Permission> + Clone,
    ) -> Vec<Arc<Grant>> {
        let held = self.agents.get(agent).into_iter().flat_map(|agent| &agent.held);
        let covers = |grant: &&Arc<Grant>| permissions.clone().any(|wanted| grant.right.permission.covers(wanted));
        let mut open: Vec<_> = held.filter(covers).collect();
        let mut seen: BTreeSet<GrantId> = open.iter().map(|grant| grant.id).collect();
        let mut pinned = Vec::new();
        while let Some(link) = open.pop() {
            pinned.extend(link.right.pinned().map(|_| Arc::clone(link)));
            let from = giver(link).and_then(|from| self.agents.get(from)).into_iter();
            let supports = from.flat_map(|from| self.supports(from, &link.right.permission));
            open.extend(supports.filter(|support| seen.insert(support.id)));
        }
        pinned
    }

    /// The grants by which `agent` may use `permission` for as many uses as wanted.
    pub(crate) fn usable<'a>(
        &self,
        agent: &'a Agent,
        permission: &'a Permission,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a Arc<Grant>> + use<'a> {
        let standing = self.standing(permission);
        let gives = self.gives(permission);
        lasting(agent, now).filter(move |grant| gives(grant)).filter(move |grant| match standing {
            Standing::Open => true,
            Standing::Protected => names_exactly(grant, permission),
            Standing::Closed => false,
        })
    }

    /// The setting under which everybody reads everything that is not protected.
    pub(crate) fn readable_by_all(&self, permission: &Permission) -> bool {
        let is_read = matches!(permission, Permission::Path(Access::Read, _));
        is_read && self.settings.reads == Reads::Anywhere && !self.is_protected(permission)
    }

    /// True if its path lies on or below a protected one.
    pub(crate) fn is_protected(&self, permission: &Permission) -> bool {
        self.standing(permission) != Standing::Open
    }

    fn standing(&self, permission: &Permission) -> Standing {
        match permission {
            Permission::Path(access, path) => self.protected.standing(*access, path),
            Permission::Events | Permission::Network | Permission::Tool(_) => Standing::Open,
        }
    }

    /// What falls, and what ends sooner, now that `ended` are gone; they are no longer in the state.
    pub(super) fn falls_with(&self, ended: &[Arc<Grant>], now: Timestamp) -> Vec<Event> {
        self.unsupported_among(&self.suspects(ended), now)
    }

    /// The same, now that besides other settings are in force: any passed-on path may have rested on what was free to
    /// read, or not sensitive to write.
    pub(super) fn falls_with_settings_and(&self, ended: &[Arc<Grant>], now: Timestamp) -> Vec<Event> {
        let is_path = |grant: &&Arc<Grant>| matches!(grant.right.permission, Permission::Path(..));
        let passed_on = self.grants.values().filter(is_path).filter(|grant| giver(grant).is_some());
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
    ///
    /// What ends latest is settled first, and holds up what rests on it; so nothing is looked at twice, and nothing is
    /// held up by what it holds up itself.
    fn saved(&self, suspects: &Suspects, now: Timestamp) -> BTreeMap<GrantId, Option<Timestamp>> {
        let from_outside = suspects.iter().filter_map(|(id, (grant, _))| {
            let end = self.end_from_outside(grant, suspects, now)?;
            Some((rank(end), *id))
        });
        let mut open: BinaryHeap<_> = from_outside.collect();
        let mut saved = BTreeMap::new();
        while let Some((rank, id)) = open.pop() {
            let Some((support, _)) = suspects.get(&id).filter(|_| !saved.contains_key(&id)) else { continue };
            saved.insert(id, end_of_rank(rank));
            let holder = self.agents.get(&support.to).filter(|_| support.scope != Scope::Once);
            let given = holder.into_iter().flat_map(|holder| &holder.given).filter_map(|given| suspects.get(given));
            for (grant, _) in given.filter(|(grant, _)| support.right.permission.covers(&grant.right.permission)) {
                open.push((rank.min(self::rank(grant.until)), grant.id));
            }
        }
        saved
    }

    /// The latest end that what is not suspect allows `grant`; none if nothing of that supports it.
    #[expect(clippy::option_option, reason = "no support, support without an end, and support with one")]
    fn end_from_outside(&self, grant: &Grant, suspects: &Suspects, now: Timestamp) -> Option<Option<Timestamp>> {
        if self.readable_by_all(&grant.right.permission) {
            return Some(grant.until);
        }
        let from = self.agents.get(giver(grant)?)?;
        let outside = self
            .supports(from, &grant.right.permission)
            .filter(|support| support.is_live(now) && !suspects.contains_key(&support.id));
        outside.map(|support| rank(support.until)).max().map(|latest| end_of_rank(latest.min(rank(grant.until))))
    }
}

/// Ends in order, the later the greater; no end is the latest.
fn rank(end: Option<Timestamp>) -> u64 {
    end.map_or(u64::MAX, Timestamp::as_millis)
}

fn end_of_rank(rank: u64) -> Option<Timestamp> {
    (rank != u64::MAX).then(|| Timestamp::from_millis(rank))
}

impl State {
    /// Everything `agent` holds that covers `permission` and can be passed on.
    pub(super) fn supports<'a>(
        &self,
        agent: &'a Agent,
        permission: &Permission,
    ) -> impl Iterator<Item = &'a Arc<Grant>> + use<'a> {
        let gives = self.gives(permission);
        agent.held.iter().filter(move |grant| grant.scope != Scope::Once && gives(grant))
    }

    /// Whether a grant gives `permission`: the right covers it, and names what is sensitive about it.
    pub(super) fn gives(&self, permission: &Permission) -> impl Fn(&Grant) -> bool + use<> {
        let reaches = self.reaches(permission);
        move |grant| reaches(&grant.right.permission)
    }

    /// Tells of a permission whether it includes `permission`: it covers it, and names what is sensitive about it.
    pub(super) fn reaches(&self, permission: &Permission) -> impl Fn(&Permission) -> bool + use<> {
        // A root that contains the path lies at a part of it or below exactly if it is no shorter.
        let (permission, part) = (permission.clone(), self.sensitive_in(permission).map(str::len));
        move |held| {
            let is_part = |root: &SanitizedPath| part.is_some_and(|part| part <= root.as_str().len());
            held.covers(&permission) && (part.is_none() || held.path().is_some_and(is_part))
        }
    }

    /// What a right must name, or something below it, to give `permission`.
    pub(super) fn sensitive_in<'p>(&self, permission: &'p Permission) -> Option<&'p str> {
        match permission {
            Permission::Path(Access::Write, path) => sensitive_part(path, &self.settings.sensitive),
            Permission::Path(Access::Read, _) | Permission::Events | Permission::Network | Permission::Tool(_) => None,
        }
    }

    /// The refusal for who has a right that covers `permission`, but none that names what is sensitive about it.
    pub(super) fn unnamed(&self, agent: &Agent, permission: &Permission) -> Option<Refusal> {
        let part = self.sensitive_in(permission)?;
        let gives = self.gives(permission);
        let is_covered = agent.held.iter().any(|grant| grant.right.permission.covers(permission));
        let is_named = agent.held.iter().any(|grant| gives(grant));
        // A part of a path is a path.
        let part = part.parse().ok().filter(|_| is_covered && !is_named)?;
        Some(Refusal::Sensitive { permission: permission.clone(), part })
    }

    /// Not held, or held only in a way that cannot be passed on.
    pub(crate) fn not_held(&self, agent: &Agent, permission: &Permission, now: Timestamp) -> Refusal {
        let (from, permission) = (agent.profile.id.clone(), permission.clone());
        if let Some(refusal) = self.unnamed(agent, &permission) {
            return refusal;
        }
        let mut once = for_use(&agent.held).filter(|grant| grant.scope == Scope::Once && grant.is_live(now));
        if once.any(|grant| grant.right.permission.covers(&permission)) {
            Refusal::HeldOnce { agent: from, permission }
        } else {
            Refusal::NotHeld { agent: from, permission }
        }
    }
}

/// What `agent` may use at `now` for as many uses as wanted.
pub(crate) fn lasting(agent: &Agent, now: Timestamp) -> impl Iterator<Item = &Arc<Grant>> {
    for_use(&agent.held).filter(move |grant| grant.scope != Scope::Once && grant.is_live(now))
}

/// A protected path is reached by nothing but a line of a file that names exactly it.
fn names_exactly(grant: &Grant, permission: &Permission) -> bool {
    matches!(grant.origin, Origin::Config(_)) && grant.right.permission.path() == permission.path()
}

/// Those of `held` that are for using. That is said by each grant itself, so that nothing becomes usable because something
/// else ends.
pub(super) fn for_use(held: &[Arc<Grant>]) -> impl Iterator<Item = &Arc<Grant>> {
    held.iter().filter(|grant| grant.hold == Hold::Use)
}

/// What an agent that holds `held` may do with `permission`, if another agent gives it now.
///
/// What a file or a person gives for passing on only, no other agent makes usable: it might have it from the very one that
/// should not use it.
pub(super) fn hold_of_gift(held: &[Arc<Grant>], permission: &Permission, now: Timestamp) -> Hold {
    // A gift that is kept back goes on keeping back, also once what kept it back was given up.
    let keeps_back = |grant: &Arc<Grant>| grant.hold == Hold::PassOn && grant.is_live(now);
    let kept_back = held.iter().any(|own| keeps_back(own) && own.right.permission.covers(permission));
    if kept_back { Hold::PassOn } else { Hold::Use }
}

/// Given for passing on only by somebody who is no agent.
fn only_to_pass_on(grant: &Grant) -> bool {
    grant.hold == Hold::PassOn && giver(grant).is_none()
}

impl State {
    /// Gifts that are not for using any more, now that a file or a person says so about what covers them. They stay so.
    pub(super) fn gifts_follow(&self, events: &[Event], _now: Timestamp) -> Vec<Event> {
        let issued =
            events.iter().filter_map(|event| if let Event::GrantIssued { grant } = event { Some(grant) } else { None });
        let mut told = BTreeSet::new();
        let mut changed = Vec::new();
        for own in issued.filter(|grant| only_to_pass_on(grant) && self.grants.contains_key(&grant.id)) {
            let held = self.agents.get(&own.to).into_iter().flat_map(|holder| &holder.held);
            let gifts = held.filter(|gift| gift.hold == Hold::Use && giver(gift).is_some());
            let kept_back = gifts.filter(|gift| own.right.permission.covers(&gift.right.permission));
            changed.extend(kept_back.filter(|gift| told.insert(gift.id)).map(|gift| {
                let grant = Grant { hold: Hold::PassOn, ..Grant::clone(gift) };
                Event::GrantChanged { grant: Arc::new(grant) }
            }));
        }
        changed
    }
}

/// The earlier of two ends; none is never.
pub(super) fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (None, end) | (end, None) => end,
        (Some(one), Some(other)) => Some(one.min(other)),
    }
}
