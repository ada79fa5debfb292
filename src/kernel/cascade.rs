//! The cascade: the grants that end, or end earlier, when a support of them ends.
//!
//! All grants that may depend on an ended one are first treated as gone. Those that still have a chain to a root come
//! back. So a circle of agents that hold a permission only from each other ends as a whole.

use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    sync::Arc,
};

use crate::model::{AgentId, Ended, Event, Grant, GrantId, Hold, Permission, RunId, Scope, Timestamp};

use super::{State, compact_grant::CompactGrant, held_grants::giver, support::rank};

/// Grants that may have lost their support, with the ended grant that led to each.
type Suspects<'s> = BTreeMap<GrantId, (&'s CompactGrant, Option<GrantId>)>;

/// The end of a chain: a grant that is gone or may go.
struct Link<'s> {
    id: GrantId,
    to: &'s AgentId,
    permission: &'s Permission,
}

impl<'s> Link<'s> {
    fn of(grant: &'s Grant) -> Link<'s> {
        Link { id: grant.id, to: &grant.to, permission: &grant.pinned.permission }
    }

    fn of_compact(grant: &'s CompactGrant) -> Link<'s> {
        Link { id: grant.id, to: &grant.to, permission: &grant.pinned.permission }
    }
}

impl State {
    /// Returns the revocations and shortened grants that follow from the end of `ended`. These grants are no longer in
    /// the state.
    pub(super) fn cascade_of(&self, ended: &[Arc<Grant>], now: Timestamp) -> Vec<Event> {
        self.unsupported_among(&self.suspects(ended.iter().map(|grant| Link::of(grant))), now)
    }

    /// Returns the consequences of `ended` together with a change of settings. A passed-on path may have been supported
    /// by free reading, or by a path that was not sensitive before.
    pub(super) fn cascade_of_settings_and(&self, ended: &[Arc<Grant>], now: Timestamp) -> Vec<Event> {
        let is_path = |grant: &&Arc<CompactGrant>| matches!(grant.pinned.permission, Permission::Path(..));
        let passed_on = self.grants.values().filter(is_path).filter(|grant| giver(&grant.origin).is_some());
        let mut suspects: Suspects<'_> = passed_on.map(|grant| (grant.id, (&**grant, None))).collect();
        suspects.extend(self.suspects(ended.iter().map(|grant| Link::of(grant))));
        self.unsupported_among(&suspects, now)
    }

    /// Computes the consequences for `suspects`. All of them are first treated as gone. Those with a chain to a root
    /// come back, with the latest end that a chain allows. The others are revoked, including circles without external
    /// support.
    fn unsupported_among(&self, suspects: &Suspects<'_>, now: Timestamp) -> Vec<Event> {
        let saved = self.saved(suspects, None, now);
        let verdict = |(id, (grant, with)): (&GrantId, &(&CompactGrant, Option<GrantId>))| match saved.get(id) {
            None => Some(Event::GrantRevoked { grant: grant.whole(), ended: Ended::SupportLost { with: *with } }),
            Some(until) if *until == grant.until => None,
            Some(until) => Some(Event::GrantChanged { grant: Arc::new(Grant { until: *until, ..grant.to_grant() }) }),
        };
        suspects.iter().filter_map(verdict).collect()
    }

    /// Returns the agents that hold or gave `id` or a grant that would end with it, each with its run.
    pub(crate) fn runs_that_depend_on(&self, id: GrantId, now: Timestamp) -> BTreeMap<AgentId, RunId> {
        let grant = self.grants.get(&id);
        let falling = self.would_end_with(id, now).into_iter();
        let of_falling = falling.flat_map(|fallen| [Some(fallen.to.clone()), giver(&fallen.origin).cloned()]);
        let agents = of_falling.chain([grant.map(|grant| grant.to.clone())]).flatten();
        agents.filter_map(|agent| self.run_of(&agent)).collect()
    }

    /// Returns an agent and its run.
    pub(crate) fn run_of(&self, agent: &AgentId) -> Option<(AgentId, RunId)> {
        self.agents.get(agent).map(|known| (agent.clone(), known.run.clone()))
    }

    /// Returns the grants that would end with the grant `id`, if it is in the state.
    pub(crate) fn would_end_with(&self, id: GrantId, now: Timestamp) -> Vec<&CompactGrant> {
        let Some(grant) = self.grants.get(&id) else { return Vec::new() };
        let mut suspects = self.suspects([Link::of_compact(grant)].into_iter());
        // As a suspect, the grant is no support from outside.
        suspects.insert(grant.id, (grant, None));
        let saved = self.saved(&suspects, Some(grant.id), now);
        let falls = |(id, _): &(&GrantId, _)| **id != grant.id && !saved.contains_key(id);
        suspects.iter().filter(falls).map(|(_, (grant, _))| *grant).collect()
    }

    /// Returns all grants that `ended` may support directly or indirectly, with the grant that led to each.
    fn suspects<'s>(&'s self, ended: impl Iterator<Item = Link<'s>>) -> Suspects<'s> {
        let mut suspects = BTreeMap::new();
        let mut queue: Vec<_> = ended.collect();
        while let Some(gone) = queue.pop() {
            let Some(holder) = self.agents.get(gone.to) else { continue };
            for grant in holder.given.iter().filter_map(|id| self.grants.get(id)) {
                if !suspects.contains_key(&grant.id) && gone.permission.covers(&grant.pinned.permission) {
                    suspects.insert(grant.id, (&**grant, Some(gone.id)));
                    queue.push(Link::of_compact(grant));
                }
            }
        }
        suspects
    }

    /// Returns those of `suspects` that have a chain to a root, with the latest end that a chain allows. `gone` is a
    /// suspect that ends in any case.
    ///
    /// The grant with the latest end is settled first and then supports others. No grant is therefore settled twice,
    /// and no grant supports itself.
    fn saved(
        &self,
        suspects: &Suspects<'_>,
        gone: Option<GrantId>,
        now: Timestamp,
    ) -> BTreeMap<GrantId, Option<Timestamp>> {
        let may_stay = suspects.iter().filter(|(id, _)| gone != Some(**id));
        let from_outside = may_stay.filter_map(|(id, (grant, _))| {
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
            let given = given.filter(|(grant, _)| gone != Some(grant.id));
            for (grant, _) in given.filter(|(grant, _)| support.pinned.permission.covers(&grant.pinned.permission)) {
                open.push((rank.min(self::rank(grant.until)), grant.id));
            }
        }
        saved
    }

    /// Returns the latest end of `grant` that supports outside `suspects` allow. The outer `None` means no such
    /// support.
    #[expect(clippy::option_option, reason = "no support, support without an end, and support with one")]
    fn end_from_outside(
        &self,
        grant: &CompactGrant,
        suspects: &Suspects<'_>,
        now: Timestamp,
    ) -> Option<Option<Timestamp>> {
        if self.readable_by_all(&grant.pinned.permission) {
            return Some(grant.until);
        }
        let from = self.agents.get(giver(&grant.origin)?)?;
        let outside = self
            .supports(from, &grant.pinned.permission)
            .filter(|support| support.is_live(now) && !suspects.contains_key(&support.id));
        outside.map(|support| rank(support.until)).max().map(|latest| end_of_rank(latest.min(rank(grant.until))))
    }
}

impl State {
    /// Returns the changes that restrict existing gifts to delegation after the policy file or a person restricted a
    /// covering permission. The restriction is permanent.
    pub(super) fn gifts_follow(&self, events: &[Event], _now: Timestamp) -> Vec<Event> {
        let issued =
            events.iter().filter_map(|event| if let Event::GrantIssued { grant } = event { Some(grant) } else { None });
        let mut told = BTreeSet::new();
        let mut changed = Vec::new();
        for own in issued.filter(|grant| only_to_pass_on(grant) && self.grants.contains_key(&grant.id)) {
            let held = self.agents.get(&own.to).into_iter().flat_map(|holder| &holder.held);
            let gifts = held.filter(|gift| gift.hold == Hold::Use && giver(&gift.origin).is_some());
            let kept_back = gifts.filter(|gift| own.pinned.permission.covers(&gift.pinned.permission));
            changed.extend(kept_back.filter(|gift| told.insert(gift.id)).map(|gift| {
                let grant = Grant { hold: Hold::PassOn, ..gift.to_grant() };
                Event::GrantChanged { grant: Arc::new(grant) }
            }));
        }
        changed
    }
}

/// Returns true if the grant is for delegation only and does not come from an agent.
fn only_to_pass_on(grant: &Grant) -> bool {
    grant.hold == Hold::PassOn && giver(&grant.origin).is_none()
}

fn end_of_rank(rank: u64) -> Option<Timestamp> {
    (rank != u64::MAX).then(|| Timestamp::from_millis(rank))
}
