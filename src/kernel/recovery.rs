//! Recovery after records were set aside. The revocations in those records remain in effect.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::model::{
    Actor, AgentId, ApproverId, CredentialEvent, Ended, Event, GrantId, Mode, OwnerId, Profile, Reason, Rule,
    SavedDecision, SavedDecisionId, Settings, Timestamp, Tools, Verdict, Widening,
};

use super::State;

/// The restrictive facts of records that no longer count.
#[derive(Debug, Default)]
pub(crate) struct LostRevocations {
    grants: BTreeSet<GrantId>,
    rulings: BTreeSet<SavedDecisionId>,
    /// Permanent denials and retired agents in recorded order. A denial binds the agent that has the id at that point.
    in_order: Vec<Taken>,
    /// The settings that were in force at the end of the records.
    settings: Option<Arc<Settings>>,
    /// True if a change was held back under these settings, even if the settings themselves could not be read.
    confirms: bool,
    profiles: BTreeMap<AgentId, Arc<Profile>>,
    rules: BTreeMap<AgentId, Arc<[Rule]>>,
    modes: BTreeMap<AgentId, Mode>,
    declared: BTreeMap<(OwnerId, ApproverId), Arc<Tools>>,
    /// The credentials that were revoked, or that got another secret.
    credentials: BTreeSet<Arc<str>>,
}

#[derive(Debug)]
enum Taken {
    No(Arc<SavedDecision>),
    Agent(AgentId),
}

impl LostRevocations {
    /// Adds one event of the records. Events must be added in recorded order.
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
                // After an interrupted truncation, two decisions may have one number. Denials are therefore compared as
                // a whole.
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
        if let Event::CredentialChanged { change } = event
            && change.change != CredentialEvent::Created
        {
            self.credentials.insert(Arc::clone(&change.credential));
        }
        if let Event::DeclarationsChanged { owner, declarer, tools, .. } = event {
            self.declared.insert((owner.clone(), declarer.clone()), Arc::clone(tools));
        }
    }
}

impl State {
    /// Repeats the restrictions in `lost`, and nothing else. These are grants that ended or were consumed, retired
    /// agents, revoked or rotated credentials, withdrawn approvals, permanent denials, tool declarations, and
    /// restrictions that a policy file put on settings, modes and rules. If the policy file is wider by now, its
    /// widening part may have to wait for a person. Grants in the records are not issued again.
    ///
    /// Each event is a separate step with its own consequences.
    pub(crate) fn take_away_again(
        &mut self,
        lost: &LostRevocations,
        reason: Option<&Reason>,
        now: Timestamp,
    ) -> Vec<Vec<Event>> {
        let ended = || Ended::Revoked { by: Actor::Operator, reason: reason.cloned() };
        let mut steps = Vec::new();
        // Each entry is looked up when it is processed, because an earlier step may have removed it.
        for id in &lost.grants {
            let grant = self.grants.get(id).map(|grant| grant.whole());
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
                // If no agent has the id, the denial is stored for a later one, because a policy file may bring the
                // agent back.
                Taken::No(ruling) => ruling.is_live(now).then(|| {
                    let id = SavedDecisionId::new(self.next_ruling);
                    vec![Event::RulingMade { ruling: Arc::new(SavedDecision { id, ..SavedDecision::clone(ruling) }) }]
                }),
            };
            steps.extend(events.map(|events| self.carry_on(events, now)));
        }
        let credentials = self.credentials_lost_again(lost.credentials.iter(), now);
        steps.extend((!credentials.is_empty()).then(|| self.carry_on(credentials, now)));
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
