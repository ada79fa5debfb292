//! A file takes effect: at once what narrows, and what widens at once or once a person agrees.

use std::{collections::BTreeSet, sync::Arc};

use crate::model::{
    Actor, AgentId, AgentPolicy, BaseRight, Ended, Event, Grant, GrantId, HeldChange, Hold, Mode, Origin, OwnerId,
    Permission, Policy, Profile, RunId, Scope, Source, Timestamp, Widening,
};

use super::{
    super::{
        Refusal, State,
        command::Broken,
        state::{Agent, HeldBack},
    },
    grants::Draft,
    narrowed, runs,
};

impl State {
    /// The whole file or nothing of it; only what narrows, if the settings before it say so.
    pub(super) fn configure(&self, policy: Arc<Policy>, run: &RunId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        if let Some(agent) = policy.agents.keys().find(|agent| agent.is_kept_for_tasks()) {
            return Err(Refusal::NameOfTask(agent.clone()));
        }
        if self.settings.widening == Widening::Apply {
            return self.follow_file(&policy, run, now);
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

    /// The change that waits for a person, with what it would give by now.
    pub(crate) fn held_change(&self, run: &RunId, now: Timestamp) -> Result<Option<HeldChange>, Refusal> {
        let told = |held: &HeldBack| self.told_of(held.change, &held.policy, run, now);
        self.held_back.as_ref().map(told).transpose()
    }

    fn told_of(&self, change: u64, policy: &Policy, run: &RunId, now: Timestamp) -> Result<HeldChange, Refusal> {
        let would_gain = self.would_gain(policy, &self.follow_file(policy, run, now)?, now);
        Ok(HeldChange { change, would_gain, besides: self.besides(policy) })
    }

    /// What of the file gives nobody more than now.
    pub(super) fn narrow_to_file(&self, policy: &Policy, run: &RunId, now: Timestamp) -> Result<Vec<Event>, Refusal> {
        Ok(unless_nothing(self.follow_file(&self.narrowed_to(policy), run, now)?))
    }

    /// A person agrees to what a file gives besides. Somebody who stands for an owner can agree to that owner's only.
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
        if let Some(owner) = owner
            && let Some((agent, _)) = self.widened(policy).find(|(_, others)| *others != owner)
        {
            return Err(Refusal::OtherOwner { agent: agent.clone(), owner: owner.clone() });
        }
        let events = self.follow_file(policy, run, now)?.into_iter();
        Ok(events.map(|event| agreed_by(&by, event)).collect())
    }

    /// Whom `policy` gives more than now, with whose agents they are. Settings are for everybody.
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
        // What one that goes gave to another that goes ends with the first.
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
        events.push(Event::ConfigReloaded { gained, lost: Vec::new(), left_out, agreed: None });
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
        if spec.rights.len() > max as usize {
            return Err(Refusal::TooManyGrants { agent: id.clone(), max });
        }
        let known = match self.agents.get(id) {
            Some(agent) if agent.source == Source::Operator => return Err(Refusal::AgentExists(id.clone())),
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
                let source = Source::Config;
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
        let mut wanted = without_repetitions(&spec.rights);
        for grant in known.into_iter().flat_map(|agent| &agent.held) {
            let Origin::Config(place) = &grant.origin else { continue };
            match wanted.iter().position(|right| is_written_as(grant, right)) {
                None => events.push(Event::GrantRevoked { grant: Arc::clone(grant), ended: Ended::Config }),
                Some(index) => {
                    let right = wanted.swap_remove(index);
                    if right.place != *place {
                        let moved = Grant { origin: Origin::Config(right.place.clone()), ..Grant::clone(grant) };
                        events.push(Event::GrantChanged { grant: Arc::new(moved) });
                    }
                }
            }
        }
        wanted.sort_by_key(|right| right.place.line);
        for (right, grant) in wanted.into_iter().zip(ids) {
            let draft = Draft::new(id, Origin::Config(right.place.clone()), None, Scope::Always, now).hold(right.hold);
            events.push(draft.issue(grant, right.right.clone()));
        }
        Ok(())
    }

    /// What agents may use after `events` and may not use now.
    fn gains(&self, events: &[Event], now: Timestamp) -> Vec<(AgentId, Permission)> {
        let issued =
            events.iter().filter_map(|event| if let Event::GrantIssued { grant } = event { Some(grant) } else { None });
        let is_new = |id: &AgentId| {
            events.iter().any(|event| matches!(event, Event::AgentRegistered { profile, .. } if profile.id == *id))
        };
        let new = issued.filter(|grant| {
            let holder = self.agents.get(&grant.to).filter(|_| !is_new(&grant.to));
            grant.hold == Hold::Use
                && !holder.is_some_and(|holder| self.uses(holder, &grant.right.permission, now, &Broken::new()))
        });
        new.map(|grant| (grant.to.clone(), grant.right.permission.clone())).collect()
    }

    /// What agents would gain by `events`: for use, or for passing on.
    fn would_gain(&self, policy: &Policy, events: &[Event], now: Timestamp) -> Vec<(AgentId, Permission)> {
        let to_pass_on = events.iter().filter_map(|event| match event.grant() {
            Some(grant) if grant.hold == Hold::PassOn && event.granted().is_some() => {
                Some((grant.to.clone(), grant.right.permission.clone()))
            }
            Some(_) | None => None,
        });
        let mut gains: Vec<_> = self.gains(events, now).into_iter().chain(to_pass_on).collect();
        // A line of the file for what somebody else gives now waits too: it would go on when that one takes it back.
        let narrowed = self.narrowed_to(policy);
        for (id, spec) in &policy.agents {
            let kept = narrowed.agents.get(id).map(|spec| &spec.rights);
            let held = spec.rights.iter().filter(|right| !kept.is_some_and(|kept| kept.contains(right)));
            let held = held.map(|right| (id.clone(), right.right.permission.clone()));
            let untold: Vec<_> = held.filter(|gain| !gains.contains(gain)).collect();
            gains.extend(untold);
        }
        gains
    }

    /// What would be different besides rights, a sentence each, so that a person agrees to nothing unseen.
    fn besides(&self, policy: &Policy) -> Vec<(Option<AgentId>, Arc<str>)> {
        let settings = narrowed::changed_settings(&self.settings, &policy.settings).into_iter();
        let settings = settings.map(|sentence| (None, sentence.into()));
        let agents = policy.agents.iter().flat_map(|(id, spec)| {
            let sentences = match self.agents.get(id) {
                None => vec![format!("new, {} in mode {:?}", spec.profile.kind, spec.profile.mode)],
                Some(agent) => {
                    let rules = narrowed::widening_rules(agent.rules.written(), &spec.rules);
                    narrowed::changed_profile(&agent.profile, &as_set(agent, &spec.profile))
                        .into_iter()
                        .chain(rules)
                        .collect()
                }
            };
            sentences.into_iter().map(|sentence| (Some(id.clone()), sentence.into()))
        });
        settings.chain(agents).collect()
    }

    /// The part of `policy` that gives nobody more than now. Whatever of it is left out widens.
    fn narrowed_to(&self, policy: &Policy) -> Policy {
        let Policy { settings, agents, left_out } = policy;
        let known = |(id, spec): (&AgentId, &AgentPolicy)| {
            let agent = self.agents.get(id).filter(|agent| stays(agent, policy))?;
            let AgentPolicy { profile, rights, rules } = spec;
            let rights = rights.iter().filter(|right| self.is_within(agent, right)).cloned().collect();
            let profile = narrowed_profile(agent, profile);
            let rules = narrowed::rules(agent.rules.written(), rules);
            Some((id.clone(), AgentPolicy { profile, rights, rules }))
        };
        let settings = narrowed::settings(&self.settings, settings);
        Policy { settings, agents: agents.iter().filter_map(known).collect(), left_out: left_out.clone() }
    }

    /// Whether what the file gives `agent` already lies within one line of the file as it was.
    fn is_within(&self, agent: &Agent, right: &BaseRight) -> bool {
        let path = right.right.permission.path();
        let protected = self.is_protected(&right.right.permission);
        // What names something sensitive is more than a broad line that covers it.
        let gives = self.gives(&right.right.permission);
        agent.held.iter().any(|grant| {
            matches!(grant.origin, Origin::Config(_))
                && (grant.hold == Hold::Use || grant.hold == right.hold)
                && gives(grant)
                && (!protected || grant.right.permission.path() == path)
        })
    }
}

fn mode_of(spec: &AgentPolicy) -> Mode {
    spec.profile.mode
}

/// The mode of `agent` under a file that describes it as `profile`: the one that somebody has set, as long as the file says
/// what it said then, and otherwise the file's.
fn mode_under(agent: &Agent, profile: &Profile) -> Mode {
    if agent.written_mode == Some(profile.mode) { agent.profile.mode } else { profile.mode }
}

fn as_set(agent: &Agent, profile: &Profile) -> Profile {
    Profile { mode: mode_under(agent, profile), ..profile.clone() }
}

/// What of a description gives no more than now. A mode that is not taken over leaves the line of the file as it was.
fn narrowed_profile(agent: &Agent, profile: &Profile) -> Profile {
    let narrowed = narrowed::profile(&agent.profile, &as_set(agent, profile));
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

/// What a file changes, if it changes anything: that it took effect says nothing by itself.
fn unless_nothing(events: Vec<Event>) -> Vec<Event> {
    let says_nothing = |event: &Event| matches!(event, Event::ConfigReloaded { left_out, .. } if left_out.is_empty());
    if events.iter().all(says_nothing) { Vec::new() } else { events }
}

/// Whether an agent goes when a file takes effect: it left the file, it is another owner's now, or another agent made it
/// under a name that the file gives.
fn gives_way(agent: &Agent, policy: &Policy) -> bool {
    match agent.source {
        Source::Agent => policy.agents.contains_key(&agent.profile.id),
        Source::Config => !stays(agent, policy),
        Source::Operator => false,
    }
}

/// Whether a file still speaks of the same agent: one of another owner is another one.
fn stays(agent: &Agent, policy: &Policy) -> bool {
    let spec = policy.agents.get(&agent.profile.id);
    spec.is_some_and(|spec| spec.profile.owner == agent.profile.owner && agent.source == Source::Config)
}

/// An agent that is no longer in the file lost what it held because of the file.
fn as_config_says(event: Event) -> Event {
    if let Event::GrantRevoked { grant, ended: Ended::HolderRetired } = event {
        return Event::GrantRevoked { grant, ended: Ended::Config };
    }
    event
}

fn without_repetitions(rights: &[BaseRight]) -> Vec<&BaseRight> {
    let mut unique: Vec<&BaseRight> = Vec::with_capacity(rights.len());
    for right in rights {
        if !unique.iter().any(|other| other.right == right.right && other.hold == right.hold) {
            unique.push(right);
        }
    }
    unique
}

fn is_written_as(grant: &Grant, right: &BaseRight) -> bool {
    grant.right == right.right && grant.hold == right.hold
}
