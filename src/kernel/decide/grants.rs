//! Grants: issued, revoked and consumed.

use std::sync::Arc;

use crate::model::{
    Access, Actor, AgentId, Ended, Event, Grant, GrantId, Hold, Origin, OwnerId, Permission, PinnedPermission, Reason,
    RunId, SanitizedPath, Scope, Timestamp,
};

use super::super::{
    Refusal, State,
    agent::Agent,
    command::{Person, StaleGrants, Start},
    compact_grant::CompactGrant,
    held_grants::giver,
    support::{Held, for_use, hold_of_gift},
};

/// A grant without its id and its permission.
#[derive(Clone, Debug)]
pub(super) struct Draft<'a> {
    to: &'a AgentId,
    hold: Hold,
    origin: Origin,
    reason: Option<Reason>,
    scope: Scope,
    run: Option<&'a RunId>,
    until: Option<Timestamp>,
    depth: u8,
    now: Timestamp,
}

impl<'a> Draft<'a> {
    pub(super) fn new(to: &'a AgentId, origin: Origin, reason: Option<Reason>, scope: Scope, now: Timestamp) -> Self {
        let until = match scope {
            Scope::Until(moment) => Some(moment),
            Scope::Once | Scope::Session | Scope::Always => None,
        };
        Draft { to, hold: Hold::Use, origin, reason, scope, run: None, until, depth: 0, now }
    }

    /// Ends a session grant with the current run of the receiver.
    pub(super) fn in_run_of(self, to: &'a Agent) -> Self {
        Draft { run: (self.scope == Scope::Session).then_some(&to.run), ..self }
    }

    pub(super) fn hold(self, hold: Hold) -> Self {
        Draft { hold, ..self }
    }

    /// Limits the grant by its support: an end that is no later, and a depth that is one greater.
    pub(super) fn resting_on(self, held: &Held<'_>) -> Self {
        Draft { depth: held.depth_below(), until: held.until_below(self.until), ..self }
    }

    pub(super) fn grant(&self, id: GrantId, pinned: PinnedPermission) -> Grant {
        Grant {
            id,
            to: self.to.clone(),
            pinned,
            hold: self.hold,
            origin: self.origin.clone(),
            reason: self.reason.clone(),
            scope: self.scope,
            run: self.run.cloned(),
            since: self.now,
            until: self.until,
            depth: self.depth,
        }
    }

    pub(super) fn issue(&self, id: GrantId, pinned: PinnedPermission) -> Event {
        Event::GrantIssued { grant: Arc::new(self.grant(id, pinned)) }
    }

    /// Issues the grant, unless `to` already holds an equal one from this giver.
    fn issue_or_repeat(&self, to: &Agent, id: GrantId, pinned: PinnedPermission) -> Event {
        let grant = self.grant(id, pinned);
        let gave = giver(&grant.origin).is_some_and(|from| to.held.given_by(from) > 0);
        let mut alike = to.held.alike(&grant.pinned.permission).filter(|_| gave);
        match alike.find(|held| says_the_same(held, &grant)) {
            Some(grant) => Event::GrantRepeated { grant: grant.whole() },
            None => Event::GrantIssued { grant: Arc::new(grant) },
        }
    }
}

/// Returns true if two grants are equivalent. The giver is compared first, because most grants of an agent have another
/// one.
fn says_the_same(one: &CompactGrant, other: &Grant) -> bool {
    giver(&one.origin).is_some()
        && one.origin == other.origin
        && one.scope != Scope::Once
        && (one.scope, &one.run, one.until, one.hold) == (other.scope, &other.run, other.until, other.hold)
        && one.pinned == other.pinned
}

impl State {
    /// Grants permissions that the giver holds now, all of them or none (`grant_permission`).
    #[expect(clippy::too_many_arguments, reason = "the fields of one command")]
    pub(super) fn grant(
        &self,
        from: &AgentId,
        to: &AgentId,
        permissions: Vec<PinnedPermission>,
        reason: &Reason,
        scope: Scope,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let giver = self.agent(from)?;
        if from == to {
            return Err(Refusal::SelfGrant(from.clone()));
        }
        let receiver = self.agent(to)?;
        same_owner(receiver, &giver.profile.owner)?;
        refuse_past(scope, now)?;
        let mut events = Vec::with_capacity(permissions.len());
        for (pinned, id) in permissions.into_iter().zip(self.fresh_ids()) {
            let held = self.held_for_passing_on(from, &pinned.permission, now, broken)?;
            let origin = Origin::Agent { from: held.from().clone() };
            let draft = Draft::new(to, origin, Some(reason.clone()), scope, now).in_run_of(receiver).resting_on(&held);
            let draft = draft.hold(hold_of_gift(&receiver.held, &pinned.permission, now));
            events.push(draft.issue_or_repeat(receiver, id, pinned));
        }
        let new = events.iter().filter(|event| matches!(event, Event::GrantIssued { .. })).count();
        self.refuse_too_many(to, from_agent(receiver, from), new)?;
        Ok(events)
    }

    /// Returns proof that `from` holds `permission` and may still pass it on at this depth.
    pub(super) fn held_for_passing_on<'s>(
        &'s self,
        from: &'s AgentId,
        permission: &Permission,
        now: Timestamp,
        broken: &StaleGrants,
    ) -> Result<Held<'s>, Refusal> {
        self.refuse_protected(permission)?;
        let held = self.held(from, permission, now, broken)?;
        let max = self.settings.max_depth;
        if held.depth() >= max {
            return Err(Refusal::TooDeep { permission: permission.clone(), max });
        }
        Ok(held)
    }

    /// Gives permissions by a person without a request.
    pub(super) fn give(
        &self,
        by: &Person,
        to: &AgentId,
        permissions: Vec<Start>,
        reason: &Reason,
        scope: Scope,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let receiver = self.agent(to)?;
        same_owner(receiver, &by.owner)?;
        refuse_past(scope, now)?;
        self.refuse_too_many(to, from_people(receiver), permissions.len())?;
        permissions.iter().try_for_each(|start| self.refuse_protected(&start.pinned.permission))?;
        let origin = Origin::Person { by: by.by.clone(), means: Arc::clone(&by.means), request: None };
        let draft = Draft::new(to, origin, Some(reason.clone()), scope, now).in_run_of(receiver);
        let grants = permissions.into_iter().zip(self.fresh_ids());
        Ok(grants.map(|(start, id)| draft.clone().hold(start.hold).issue(id, start.pinned)).collect())
    }

    /// Revokes a grant. If `owner` is set, the actor may only touch grants of that owner; an agent, only those of its
    /// own. A grant of another owner looks as if it did not exist.
    pub(super) fn revoke(
        &self,
        id: GrantId,
        by: Actor,
        owner: Option<&OwnerId>,
        reason: Option<Reason>,
    ) -> Result<Vec<Event>, Refusal> {
        let grant = self.grants.get(&id).ok_or(Refusal::UnknownGrant(id))?;
        let owner_of = |agent: &AgentId| self.agents.get(agent).map(|agent| &agent.profile.owner);
        let of_actor = if let Actor::Agent(agent) = &by { owner_of(agent) } else { None };
        if let (Some(owner), Some(of_holder)) = (owner.or(of_actor), owner_of(&grant.to))
            && owner != of_holder
        {
            return Err(Refusal::UnknownGrant(id));
        }
        if let Actor::Agent(agent) = &by
            && grant.to != *agent
            && giver(&grant.origin) != Some(agent)
        {
            return Err(Refusal::NotYourGrant(id));
        }
        if let Origin::Config(place) = &grant.origin {
            return Err(Refusal::FromFile(id, place.clone()));
        }
        Ok(vec![Event::GrantRevoked { grant: grant.whole(), ended: Ended::Revoked { by, reason } }])
    }

    /// Returns the one-time permission by which `holder` may use `permission` now. Among several, it is the one that
    /// ends first.
    pub(in super::super) fn one_shot<'a>(
        &self,
        holder: &'a Agent,
        permission: &Permission,
        broken: &StaleGrants,
        now: Timestamp,
    ) -> Option<&'a Arc<CompactGrant>> {
        if self.is_protected(permission) {
            return None;
        }
        let gives = self.gives(permission);
        let one_shots = for_use(&holder.held).filter(|grant| {
            let usable = grant.scope == Scope::Once && grant.is_live(now) && self.counts(grant, broken, now);
            usable && gives(grant)
        });
        one_shots.min_by_key(|grant| (grant.until.is_none(), grant.until))
    }

    pub(super) fn refuse_protected(&self, permission: &Permission) -> Result<(), Refusal> {
        let governs = |root: &SanitizedPath| self.settings.governing.iter().any(|file| root.contains(file));
        match permission {
            Permission::Path(..) if self.is_protected(permission) => Err(Refusal::Protected(permission.clone())),
            Permission::Path(Access::Write, root) if governs(root) => Err(Refusal::Governs(permission.clone())),
            Permission::Path(..) | Permission::Events | Permission::Network | Permission::Tool(_) => Ok(()),
        }
    }

    pub(super) fn refuse_too_many(&self, agent: &AgentId, held: usize, more: usize) -> Result<(), Refusal> {
        let max = self.settings.max_grants;
        if held + more > max as usize { Err(Refusal::TooManyGrants { agent: agent.clone(), max }) } else { Ok(()) }
    }
}

/// Returns the number of grants of `agent` that `from` gave. Each giver has its own limit, so one cannot exhaust
/// another's.
pub(super) fn from_agent(agent: &Agent, from: &AgentId) -> usize {
    agent.held.given_by(from)
}

/// Returns the number of grants of `agent` that no agent gave. They have their own limit, so other agents cannot
/// exhaust it.
pub(super) fn from_people(agent: &Agent) -> usize {
    agent.held.given_by_people()
}

/// Refuses a command that crosses owners.
pub(super) fn same_owner(agent: &Agent, owner: &OwnerId) -> Result<(), Refusal> {
    if agent.profile.owner == *owner {
        return Ok(());
    }
    Err(Refusal::OtherOwner { agent: agent.profile.id.clone(), owner: owner.clone() })
}

pub(super) fn refuse_past(scope: Scope, now: Timestamp) -> Result<(), Refusal> {
    match scope {
        Scope::Until(moment) if moment <= now => Err(Refusal::ScopePast(scope)),
        Scope::Until(_) | Scope::Once | Scope::Session | Scope::Always => Ok(()),
    }
}
