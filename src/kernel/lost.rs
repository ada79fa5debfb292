//! Records are set aside, and what they took away stays away.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::model::{
    Actor, AgentId, ApproverId, Ended, Event, GrantId, Mode, OwnerId, Profile, Reason, Rule, Ruling, RulingId,
    Settings, Timestamp, Tools, Verdict, Widening,
};

use super::State;

/// What is known of records that no longer count.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    grants: BTreeSet<GrantId>,
    rulings: BTreeSet<RulingId>,
    /// Noes for good and agents that went, in their order: a no is said to whoever has the name then.
    in_order: Vec<Taken>,
    /// What was in force at the end.
    settings: Option<Arc<Settings>>,
    /// A change was held back under them, whatever can be read of them.
    confirms: bool,
    profiles: BTreeMap<AgentId, Arc<Profile>>,
    rules: BTreeMap<AgentId, Arc<[Rule]>>,
    modes: BTreeMap<AgentId, Mode>,
    declared: BTreeMap<(OwnerId, ApproverId), Arc<Tools>>,
}

#[derive(Debug)]
enum Taken {
    No(Arc<Ruling>),
    Agent(AgentId),
}

impl Lost {
    /// Takes in one of them, in their order.
    pub(crate) fn hear(&mut self, event: &Event) {
        if let Event::GrantRevoked { grant, .. } | Event::GrantExpired { grant } | Event::GrantUsed { grant, .. } =
            event
        {
            self.grants.insert(grant.id);
        }
        if let Event::AgentRetired { agent } = event {
            self.in_order.push(Taken::Agent(agent.clone()));
        }
        if let Event::RulingMade { ruling } = event
            && ruling.verdict == Verdict::Deny
            && ruling.run.is_none()
        {
            self.in_order.push(Taken::No(Arc::clone(ruling)));
        }
        if let Event::RulingUsed { ruling } | Event::RulingEnded { ruling, .. } = event {
            match ruling.verdict {
                Verdict::Allow => drop(self.rulings.insert(ruling.id)),
                // After a cut that was killed, one number may mean two of them.
                Verdict::Deny => self.in_order.retain(|taken| !matches!(taken, Taken::No(no) if no == ruling)),
                Verdict::Ask => {}
            }
        }
        if let Event::SettingsChanged { settings } = event {
            (self.settings, self.confirms) = (Some(Arc::clone(settings)), false);
        }
        if let Event::ConfigHeldBack { .. } = event {
            self.confirms = true;
        }
        if let Event::AgentChanged { profile } = event {
            self.profiles.insert(profile.id.clone(), Arc::clone(profile));
        }
        if let Event::ModeChanged { agent, mode, .. } = event {
            self.modes.insert(agent.clone(), *mode);
        }
        if let Event::RulesChanged { agent, rules } = event {
            self.rules.insert(agent.clone(), Arc::clone(rules));
        }
        if let Event::DeclarationsChanged { owner, declarer, tools, .. } = event {
            self.declared.insert((owner.clone(), declarer.clone()), Arc::clone(tools));
        }
    }
}

impl State {
    /// Takes away again what `lost` had taken away from what is there, and nothing else: rights that ended or were used up,
    /// agents that went, what people no longer allow, what they denied for good, what they declared of tools, and what a file
    /// narrowed of settings, modes and rules: it may be wide again by now, and wait for a person. What was given is not given.
    ///
    /// Each event is a step of its own with what follows from it.
    pub(crate) fn take_away_again(&mut self, lost: &Lost, reason: Option<&Reason>, now: Timestamp) -> Vec<Vec<Event>> {
        let ended = || Ended::Revoked { by: Actor::Operator, reason: reason.cloned() };
        let mut steps = Vec::new();
        // Each is looked for when its turn comes: it may have gone with the one before.
        for id in &lost.grants {
            let grant = self.grants.get(id).cloned();
            let event = grant.map(|grant| Event::GrantRevoked { grant, ended: ended() });
            steps.extend(event.map(|event| self.carry_on(vec![event], now)));
        }
        for id in &lost.rulings {
            let ruling = self.rulings.get(id).cloned();
            let event = ruling.map(|ruling| Event::RulingEnded { ruling, ended: ended() });
            steps.extend(event.map(|event| self.carry_on(vec![event], now)));
        }
        for taken in &lost.in_order {
            let events = match taken {
                Taken::Agent(agent) => self.agents.get(agent).map(|agent| self.retire(agent, now)),
                // If nobody has the name, it waits for whoever does: a file may bring the agent back.
                Taken::No(ruling) => ruling.is_live(now).then(|| {
                    let id = RulingId::new(self.next_ruling);
                    vec![Event::RulingMade { ruling: Arc::new(Ruling { id, ..Ruling::clone(ruling) }) }]
                }),
            };
            steps.extend(events.map(|events| self.carry_on(events, now)));
        }
        let mut settings = Settings::clone(lost.settings.as_ref().unwrap_or(&self.settings));
        if lost.confirms {
            settings.widening = Widening::Confirm;
        }
        let settings = self.settings_within(&settings);
        steps.extend(settings.map(|event| self.carry_on(vec![event], now)));
        for profile in lost.profiles.values() {
            let event = self.profile_within(profile);
            steps.extend(event.map(|event| self.carry_on(vec![event], now)));
        }
        for (agent, mode) in &lost.modes {
            let event = self.mode_within(agent, *mode);
            steps.extend(event.map(|event| self.carry_on(vec![event], now)));
        }
        for (agent, rules) in &lost.rules {
            let event = self.rules_within(agent, rules);
            steps.extend(event.map(|event| self.carry_on(vec![event], now)));
        }
        for ((owner, declarer), tools) in &lost.declared {
            let event = self.declared_again(owner, declarer, tools);
            steps.extend(event.map(|event| self.carry_on(vec![event], now)));
        }
        steps
    }
}
