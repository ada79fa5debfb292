//! Records are set aside, and what they took away stays away.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::model::{Actor, AgentId, Ended, Event, GrantId, Reason, Ruling, RulingId, Timestamp, Verdict};

use super::State;

/// What is known of records that no longer count.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    grants: BTreeSet<GrantId>,
    agents: Vec<AgentId>,
    rulings: BTreeSet<RulingId>,
    noes: BTreeMap<RulingId, Arc<Ruling>>,
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
            self.agents.push(agent.clone());
        }
        if let Event::RulingMade { ruling } = event
            && ruling.verdict == Verdict::Deny
            && ruling.run.is_none()
        {
            self.noes.insert(ruling.id, Arc::clone(ruling));
        }
        if let Event::RulingUsed { ruling } | Event::RulingEnded { ruling, .. } = event
            && self.noes.remove(&ruling.id).is_none()
            && ruling.verdict == Verdict::Allow
        {
            self.rulings.insert(ruling.id);
        }
    }
}

impl State {
    /// Takes away again what `lost` had taken away from what is there, and nothing else: rights that ended or were used up,
    /// agents that went, what people no longer allow and what they denied for good. What was given is not given.
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
        for ruling in lost.noes.values() {
            let is_there = self.agents.get(&ruling.agent).is_some_and(|agent| agent.profile.owner == ruling.owner);
            if is_there && ruling.is_live(now) {
                let ruling = Arc::new(Ruling { id: RulingId::new(self.next_ruling), ..Ruling::clone(ruling) });
                steps.push(self.carry_on(vec![Event::RulingMade { ruling }], now));
            }
        }
        for agent in &lost.agents {
            let events = self.agents.get(agent).map(|agent| self.retire(agent, now));
            steps.extend(events.map(|events| self.carry_on(events, now)));
        }
        steps
    }
}
