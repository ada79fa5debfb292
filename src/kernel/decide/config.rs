//! Applying a policy file. The restrictive part takes effect at once. The widening part takes effect at once or after
//! an approval.

use std::{collections::BTreeSet, iter, sync::Arc};

use crate::model::{
    Actor, AgentId, AgentOrigin, AgentPolicy, Ended, Event, Grant, GrantId, HeldChange, Hold, Mode, Origin, OwnerId,
    Permission, Policy, PolicyPermission, Profile, RunId, Scope, Timestamp, Widening,
};

use super::{
    super::{Refusal, State, agent::Agent, command::StaleGrants, compact_grant::CompactGrant, state::HeldBack},
    grants::Draft,
    policy_change::{PolicyChange, as_set, mode_under, stays},
    restriction, runs,
};

impl State {
    /// Applies the whole file or nothing. Applies only the restrictive part if the previous settings require an
    /// approval.
    pub(super) fn configure(&self, policy: Arc<Policy>, run: &RunId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        if let Some(agent) = policy.agents.keys().find(|agent| agent.is_kept_for_tasks()) {
            return Err(Refusal::NameOfTask(agent.clone()));
        }
        if self.settings.widening == Widening::Apply {
            let events = self.follow_file(&policy, run, now)?;
            // An engine that is opened for a moment does not report each time that nothing has changed.
            return Ok(if self.runs_go_on { unless_nothing(events) } else { events });
        }
        let narrowed = self.narrowed_to(&policy);
        let mut events = self.follow_file(&narrowed, run, now)?;
        if narrowed != *policy {
            events = unless_nothing(events);
            let HeldChange { change, would_gain, besides } = self.told_of(self.last_change + 1, &policy, run, now)?;
            events.push(Event::ConfigHeldBack { change, policy, would_gain, besides });
        }
        Ok(events)
    }

    /// Returns the change that waits for a person, with the permissions that it would give now.
    pub(crate) fn held_change(&self, run: &RunId, now: Timestamp) -> Result<Option<HeldChange>, Refusal> {
        let told = |held: &HeldBack| self.told_of(held.change, &held.policy, run, now);
        self.held_back.as_ref().map(told).transpose()
    }

    /// Returns the number of the change that waits for a person.
    #[cfg(feature = "config")]
    pub(crate) fn change_that_waits(&self) -> Option<u64> {
        self.held_back.as_ref().map(|held| held.change)
    }

    /// Returns the part of the waiting change about agents of `owner`, or none if no part is.
    #[cfg(feature = "journal")]
    pub(crate) fn held_change_of(
        &self,
        owner: &OwnerId,
        run: &RunId,
        now: Timestamp,
    ) -> Result<Option<HeldChange>, Refusal> {
        let Some(held) = self.held_change(run, now)? else { return Ok(None) };
        let written = self.held_back.as_ref().map(|held| &held.policy);
        let is_own = |agent: &AgentId| {
            let known = self.agents.get(agent).map(|agent| &agent.profile.owner);
            known.or_else(|| Some(&written?.agents.get(agent)?.profile.owner)) == Some(owner)
        };
        let would_gain: Vec<_> = held.would_gain.into_iter().filter(|(agent, _)| is_own(agent)).collect();
        let concerns = |(agent, _): &(Option<AgentId>, _)| agent.as_ref().is_none_or(is_own);
        let besides: Vec<_> = held.besides.into_iter().filter(concerns).collect();
        let is_there = !would_gain.is_empty() || !besides.is_empty();
        Ok(is_there.then_some(HeldChange { change: held.change, would_gain, besides }))
    }

    fn told_of(&self, change: u64, policy: &Policy, run: &RunId, now: Timestamp) -> Result<HeldChange, Refusal> {
        let would_gain = self.would_gain(policy, &self.follow_file(policy, run, now)?, now);
        Ok(HeldChange { change, would_gain, besides: self.besides(policy) })
    }

    /// Applies only the restrictive part of a file.
    pub(super) fn narrow_to_file(&self, policy: &Policy, run: &RunId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        Ok(unless_nothing(self.follow_file(&self.narrowed_to(policy), run, now)?))
    }

    /// Applies the held-back part of a file after the approval of a person. A person with an owner approves the part
    /// for that owner's agents; the rest goes on waiting under its number.
    pub(super) fn agree_to_widening(
        &self,
        by: Actor,
        owner: Option<&OwnerId>,
        change: u64,
        run: &RunId,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let held_back = self.held_back.as_ref().ok_or(Refusal::NothingHeldBack)?;
        if held_back.change != change {
            return Err(Refusal::OtherChange { waiting: held_back.change });
        }
        let policy = &held_back.policy;
        let foreign = owner.and_then(|owner| Some((owner, self.widened(policy).find(|(_, other)| *other != owner)?.0)));
        let Some((owner, agent)) = foreign else {
            let events = self.follow_file(policy, run, now)?.into_iter();
            return Ok(events.map(|event| agreed_by(&by, event)).collect());
        };
        let Some(part) = self.part_for(owner, policy) else {
            return Err(Refusal::OtherOwner { agent: agent.clone(), owner: owner.clone() });
        };
        let mut events: Vec<_> =
            self.follow_file(&part, run, now)?.into_iter().map(|event| agreed_by(&by, event)).collect();
        let is_foreign = |agent: &AgentId| policy.agents.get(agent).is_some_and(|spec| spec.profile.owner != *owner);
        let HeldChange { mut would_gain, mut besides, .. } = self.told_of(change, policy, run, now)?;
        would_gain.retain(|(agent, _)| is_foreign(agent));
        besides.retain(|(agent, _)| agent.as_ref().is_none_or(is_foreign));
        events.push(Event::ConfigHeldBack { change, policy: Arc::clone(policy), would_gain, besides });
        Ok(events)
    }

    /// Returns the policy that gives more to the agents of `owner` alone, or none if it gives them nothing, or if it
    /// gives more to all agents.
    fn part_for(&self, owner: &OwnerId, policy: &Policy) -> Option<Policy> {
        let mut part = self.narrowed_to(policy);
        let is_own =
            |(id, spec): &(&AgentId, &AgentPolicy)| spec.profile.owner == *owner && part.agents.get(*id) != Some(*spec);
        let own: Vec<_> = policy.agents.iter().filter(is_own).map(|(id, spec)| (id.clone(), spec.clone())).collect();
        if own.is_empty() || part.settings != policy.settings {
            return None;
        }
        part.agents.extend(own);
        Some(part)
    }

    /// Returns the agents that gain something by `policy`, with their owners. A wider setting concerns all agents.
    fn widened<'s>(&'s self, policy: &'s Policy) -> impl Iterator<Item = (&'s AgentId, &'s OwnerId)> {
        let narrowed = self.narrowed_to(policy);
        let settings_widen = narrowed.settings != policy.settings;
        let everybody = self.agents.values().filter(move |_| settings_widen).map(|agent| &agent.profile);
        let more = policy.agents.iter().filter(move |(id, spec)| narrowed.agents.get(*id) != Some(*spec));
        let named = more.map(|(id, spec)| (id, &spec.profile.owner));
        named.chain(everybody.map(|profile| (&profile.id, &profile.owner)))
    }

    fn follow_file(&self, policy: &Policy, run: &RunId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        let mut ids = self.fresh_ids();
        let mut events = Vec::new();
        if *self.settings != policy.settings {
            events.push(Event::SettingsChanged { settings: Arc::new(policy.settings.clone()) });
        }
        let mut gone: Vec<_> = self.agents.values().filter(|agent| gives_way(agent, policy)).collect();
        gone.sort_by(|one, other| one.profile.id.cmp(&other.profile.id));
        // A grant between two agents that both leave is ended only once.
        let mut ended = BTreeSet::new();
        for agent in gone {
            let events_of_one = self.retire(agent, now).into_iter().map(as_config_says);
            events.extend(events_of_one.filter(|event| event.grant().is_none_or(|grant| ended.insert(grant.id))));
        }
        for ((id, spec), run) in policy.agents.iter().zip(runs::numbered(run)) {
            self.follow_agent(id, spec, policy, run, now, &mut ids, &mut events)?;
        }
        let gained = self.gains(&events, now);
        let left_out = policy.left_out.clone();
        let PolicyChange { widened, narrowed } = self.change_to(policy);
        events.push(Event::ConfigReloaded { gained, lost: Vec::new(), widened, narrowed, left_out, agreed: None });
        Ok(events)
    }

    #[expect(clippy::too_many_arguments, reason = "one step of a loop, with what the loop carries")]
    fn follow_agent(
        &self,
        id: &AgentId,
        spec: &AgentPolicy,
        policy: &Policy,
        run: RunId,
        now: Timestamp,
        ids: &mut impl Iterator<Item = GrantId>,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        let max = policy.settings.max_grants;
        if spec.permissions.len() > max as usize {
            return Err(Refusal::TooManyGrants { agent: id.clone(), max });
        }
        let known = match self.agents.get(id) {
            Some(agent) if agent.source == AgentOrigin::Operator => return Err(Refusal::AgentExists(id.clone())),
            Some(agent) => Some(agent).filter(|agent| stays(agent, policy)),
            None => None,
        };
        let mode = known.map_or(spec.profile.mode, |agent| mode_under(agent, &spec.profile));
        let profile = Arc::new(Profile { id: id.clone(), mode, ..spec.profile.clone() });
        if let Some(agent) = known.filter(|agent| agent.written_mode.is_some_and(|written| written != mode_of(spec))) {
            let (agent, before) = (id.clone(), agent.profile.mode);
            events.push(Event::ModeChanged { agent, before, mode, written: None, by: None });
        }
        match known {
            None => {
                let source = AgentOrigin::Config;
                events.push(Event::AgentRegistered { profile, run, source });
            }
            Some(agent) if agent.profile != profile => {
                let loses_its_user = self.is_connected(agent) && !profile.kind.is_foreground();
                events.push(Event::AgentChanged { profile });
                events.extend(loses_its_user.then(|| Event::CarrierDisconnected { agent: id.clone() }));
            }
            Some(_) => {}
        }
        if known.map_or(!spec.rules.is_empty(), |agent| *agent.rules.written() != spec.rules) {
            events.push(Event::RulesChanged { agent: id.clone(), rules: Arc::clone(&spec.rules) });
        }
        let mut wanted = without_repetitions(&spec.permissions);
        for grant in known.into_iter().flat_map(|agent| &agent.held) {
            let Origin::Config(place) = &grant.origin else { continue };
            match wanted.iter().position(|listed| is_written_as(grant, listed)) {
                None => events.push(Event::GrantRevoked { grant: grant.whole(), ended: Ended::Config }),
                Some(index) => {
                    let listed = wanted.swap_remove(index);
                    if listed.place != *place {
                        let moved = Grant { origin: Origin::Config(listed.place.clone()), ..grant.to_grant() };
                        events.push(Event::GrantChanged { grant: Arc::new(moved) });
                    }
                }
            }
        }
        wanted.sort_by_key(|listed| listed.place.line);
        for (listed, grant) in wanted.into_iter().zip(ids) {
            let draft =
                Draft::new(id, Origin::Config(listed.place.clone()), None, Scope::Always, now).hold(listed.hold);
            events.push(draft.issue(grant, listed.pinned.clone()));
        }
        Ok(())
    }

    /// Returns the permissions that agents may use after `events` and may not use now.
    fn gains(&self, events: &[Event], now: Timestamp) -> Vec<(AgentId, Permission)> {
        let issued =
            events.iter().filter_map(|event| if let Event::GrantIssued { grant } = event { Some(grant) } else { None });
        let registered = events.iter().filter_map(|event| {
            if let Event::AgentRegistered { profile, .. } = event { Some(&profile.id) } else { None }
        });
        let registered: BTreeSet<_> = registered.collect();
        let new = issued.filter(|grant| {
            let holder = self.agents.get(&grant.to).filter(|_| !registered.contains(&grant.to));
            grant.hold == Hold::Use
                && !holder.is_some_and(|holder| self.uses(holder, &grant.pinned.permission, now, &StaleGrants::new()))
        });
        new.map(|grant| (grant.to.clone(), grant.pinned.permission.clone())).collect()
    }

    /// Returns the permissions that agents would gain by `events`, for use or for delegation.
    fn would_gain(&self, policy: &Policy, events: &[Event], now: Timestamp) -> Vec<(AgentId, Permission)> {
        let to_pass_on = events.iter().filter_map(|event| match event.grant() {
            Some(grant) if grant.hold == Hold::PassOn && event.granted().is_some() => {
                Some((grant.to.clone(), grant.pinned.permission.clone()))
            }
            Some(_) | None => None,
        });
        let mut gains: Vec<_> = self.gains(events, now).into_iter().chain(to_pass_on).collect();
        // The file may contain a permission that another giver gives now. That line has to wait too, because it would
        // outlast the other grant.
        let narrowed = self.narrowed_to(policy);
        for (id, spec) in &policy.agents {
            let kept = narrowed.agents.get(id).map(|spec| &spec.permissions);
            let held = spec.permissions.iter().filter(|listed| !kept.is_some_and(|kept| kept.contains(listed)));
            let held = held.map(|listed| (id.clone(), listed.pinned.permission.clone()));
            let untold: Vec<_> = held.filter(|gain| !gains.contains(gain)).collect();
            gains.extend(untold);
        }
        gains
    }

    /// Returns one sentence for each change besides permissions, so that a person sees everything before approving it.
    fn besides(&self, policy: &Policy) -> Vec<(Option<AgentId>, Arc<str>)> {
        let settings = restriction::changed_settings(&self.settings, &policy.settings).into_iter();
        let settings = settings.map(|sentence| (None, sentence.into()));
        let agents = policy.agents.iter().flat_map(|(id, spec)| {
            let sentences: Vec<_> = match self.agents.get(id) {
                None => {
                    let command = spec.profile.bot.as_ref().map(|bot| format!("command: {bot}"));
                    let new = format!("new, {} in mode {}", spec.profile.kind, spec.profile.mode);
                    iter::once(new).chain(command).collect()
                }
                Some(agent) => {
                    let rules = restriction::widening_rules(agent.rules.written(), &spec.rules);
                    restriction::changed_profile(&agent.profile, &as_set(agent, &spec.profile))
                        .into_iter()
                        .chain(rules)
                        .collect()
                }
            };
            sentences.into_iter().map(|sentence| (Some(id.clone()), sentence.into()))
        });
        settings.chain(agents).collect()
    }

    /// Returns the restrictive part of `policy`. The omitted part widens.
    fn narrowed_to(&self, policy: &Policy) -> Policy {
        let Policy { settings, agents, left_out } = policy;
        let known = |(id, spec): (&AgentId, &AgentPolicy)| {
            let agent = self.agents.get(id).filter(|agent| stays(agent, policy))?;
            let AgentPolicy { profile, permissions, rules } = spec;
            let permissions = permissions.iter().filter(|listed| self.is_within(agent, listed)).cloned().collect();
            let profile = narrowed_profile(agent, profile);
            let rules = restriction::rules(agent.rules.written(), rules);
            Some((id.clone(), AgentPolicy { profile, permissions, rules }))
        };
        let settings = restriction::settings(&self.settings, settings);
        Policy { settings, agents: agents.iter().filter_map(known).collect(), left_out: left_out.clone() }
    }

    /// Returns true if one line of the previous file already gives the permission to `agent`.
    fn is_within(&self, agent: &Agent, listed: &PolicyPermission) -> bool {
        let path = listed.pinned.permission.path();
        let protected = self.is_protected(&listed.pinned.permission);
        // A line that names a sensitive path gives more than a broad line that covers the path.
        let gives = self.gives(&listed.pinned.permission);
        agent.held.iter().any(|grant| {
            matches!(grant.origin, Origin::Config(_))
                && (grant.hold == Hold::Use || grant.hold == listed.hold)
                && gives(grant)
                && (!protected || grant.pinned.permission.path() == path)
        })
    }
}

fn mode_of(spec: &AgentPolicy) -> Mode {
    spec.profile.mode
}

/// Returns the restrictive part of a description. If the new mode is omitted, the recorded line of the file does not
/// change.
fn narrowed_profile(agent: &Agent, profile: &Profile) -> Profile {
    let narrowed = restriction::profile(&agent.profile, &as_set(agent, profile));
    let is_kept = narrowed.mode == agent.profile.mode && narrowed.mode != profile.mode;
    let mode = agent.written_mode.filter(|_| is_kept).unwrap_or(narrowed.mode);
    Profile { mode, ..narrowed }
}

fn agreed_by(by: &Actor, mut event: Event) -> Event {
    if let Event::ConfigReloaded { agreed, .. } = &mut event {
        *agreed = Some(by.clone());
    }
    event
}

/// Returns the events, or no events if the file changes nothing. A reload event alone does not count as a change.
fn unless_nothing(events: Vec<Event>) -> Vec<Event> {
    let says_nothing = |event: &Event| matches!(event, Event::ConfigReloaded { left_out, .. } if left_out.is_empty());
    if events.iter().all(says_nothing) { Vec::new() } else { events }
}

/// Returns true if an agent has to be retired when a file takes effect. This is the case if it left the file, if it has
/// another owner now, or if another agent created it under an id that the file uses.
fn gives_way(agent: &Agent, policy: &Policy) -> bool {
    match agent.source {
        AgentOrigin::Agent => policy.agents.contains_key(&agent.profile.id),
        AgentOrigin::Config => !stays(agent, policy),
        AgentOrigin::Operator => false,
    }
}

/// Changes the reason of a revocation: an agent that left the file lost its permissions because of the file.
fn as_config_says(event: Event) -> Event {
    if let Event::GrantRevoked { grant, ended: Ended::HolderRetired } = event {
        return Event::GrantRevoked { grant, ended: Ended::Config };
    }
    event
}

fn without_repetitions(permissions: &[PolicyPermission]) -> Vec<&PolicyPermission> {
    let mut unique: Vec<&PolicyPermission> = Vec::with_capacity(permissions.len());
    for listed in permissions {
        if !unique.iter().any(|other| other.pinned == listed.pinned && other.hold == listed.hold) {
            unique.push(listed);
        }
    }
    unique
}

fn is_written_as(grant: &CompactGrant, listed: &PolicyPermission) -> bool {
    grant.pinned == listed.pinned && grant.hold == listed.hold
}
