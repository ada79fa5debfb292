//! The ancestors of an agent: its creator, the creator's creator, and so on. A denial for an ancestor also binds its
//! descendants, even after the ancestor is retired.

use std::{collections::BTreeSet, iter, ptr, sync::Arc};

use crate::model::{AgentId, Ended, Event, Mode, OwnerId, RunId, SavedDecision, Timestamp, Verdict};

use super::{State, agent::Agent};

impl State {
    /// Returns all ancestors of `agent`, registered or retired, the nearest first.
    pub(super) fn above<'s>(&'s self, agent: &'s Agent) -> Vec<&'s Agent> {
        let (mut all, mut done, mut of) = (Vec::<&Agent>::new(), 0, agent);
        loop {
            for parent in self.directly_above(of) {
                if !all.iter().any(|known| ptr::eq(*known, parent)) {
                    all.push(parent);
                }
            }
            let Some(next) = all.get(done) else { return all };
            (of, done) = (next, done + 1);
        }
    }

    /// Returns the further runs whose denials and policies bind `agent`: the runs in which `agent` or one of its
    /// ancestors was created, except the current runs of the ancestors in `above`. Each run comes with the creator that
    /// was in it.
    pub(super) fn runs_of_creation<'s>(agent: &'s Agent, above: &[&'s Agent]) -> Vec<(&'s AgentId, &'s RunId)> {
        let mut all: Vec<(&AgentId, &RunId)> = Vec::new();
        for made in iter::once(agent).chain(above.iter().copied()) {
            let (Some(parent), Some(run)) = (&made.profile.parent, &made.made_in) else { continue };
            let is_known = above.iter().any(|other| other.run == *run) || all.iter().any(|(_, known)| *known == run);
            if !is_known {
                all.push((parent, run));
            }
        }
        all
    }

    /// Returns true if `agent` or one of its ancestors is in a mode that allows only reads without approval.
    pub(crate) fn only_reads_by_itself(&self, agent: &AgentId) -> bool {
        let is_strict = |agent: &Agent| matches!(agent.profile.mode, Mode::Plan | Mode::Untrusted);
        let agent = self.agents.get(agent);
        agent.is_some_and(|agent| is_strict(agent) || self.above(agent).into_iter().any(is_strict))
    }

    /// Returns the registered creator of `agent` and the retired ancestors that bind it directly.
    fn directly_above<'s>(&'s self, agent: &'s Agent) -> impl Iterator<Item = &'s Agent> {
        let there = agent.profile.parent.as_ref().and_then(|parent| self.agents.get(parent));
        let there = there.filter(|parent| is_child(agent, parent));
        there.into_iter().chain(agent.bound_by.iter().filter_map(|number| self.gone.agents.get(number)))
    }

    /// Returns true if `agent` created an agent that is registered or still binds others.
    pub(super) fn binds(&self, agent: &Agent) -> bool {
        self.children_of(agent).next().is_some() || self.gone.agents().any(|other| is_child(other, agent))
    }

    /// Returns the registered agents that `agent` created.
    fn children_of<'s>(&'s self, agent: &'s Agent) -> impl Iterator<Item = &'s Agent> {
        let named = self.kin.children(&agent.profile.id).filter_map(|id| self.agents.get(id));
        named.filter(|other| is_child(other, agent))
    }

    /// Keeps the binding part of `agent`, which is no longer registered, for its descendants. Retired agents that bind
    /// no other agent any more are dropped.
    ///
    /// Returns the runs that lost an agent through this.
    pub(super) fn bury(&mut self, agent: Agent) -> BTreeSet<(OwnerId, RunId)> {
        let mut left: BTreeSet<_> = agent.runs().collect();
        let children: Vec<_> = self.children_of(&agent).map(|child| child.profile.id.clone()).collect();
        let retired = self.gone.agents.iter().filter(|(_, other)| is_child(other, &agent));
        let retired: Vec<_> = retired.map(|(number, _)| *number).collect();
        if !(children.is_empty() && retired.is_empty()) {
            let number = self.gone.keep(agent.as_bond());
            for child in children {
                if let Some(child) = self.agents.get_mut(&child) {
                    self.gone.bind(number, &mut child.bound_by);
                }
            }
            retired.into_iter().for_each(|child| self.gone.bind_retired(number, child));
        }
        left.extend(self.gone.release(&agent.bound_by).iter().flat_map(Agent::runs));
        left
    }

    /// Ends the denials that bind no agent any more after agents were retired.
    pub(super) fn update_denials(&self, events: &[Event], _now: Timestamp) -> Vec<Event> {
        if self.rulings.is_empty() || !events.iter().any(|event| event.retired().is_some()) {
            return Vec::new();
        }
        let is_over = |ruling: &&Arc<SavedDecision>| match &ruling.run {
            Some(run) => !self.goes_on(&ruling.owner, run, None),
            None => !self.binds_somebody(ruling) && !self.noes_for_later.contains(&ruling.id),
        };
        let noes = self.rulings.values().filter(|ruling| ruling.verdict == Verdict::Deny);
        let ended = |ruling: &Arc<SavedDecision>| Event::RulingEnded {
            ruling: Arc::clone(ruling),
            ended: Ended::HolderRetired,
        };
        noes.filter(is_over).map(ended).collect()
    }

    /// Returns true if the agent of a permanent denial is registered, or retired and still binds others.
    fn binds_somebody(&self, ruling: &SavedDecision) -> bool {
        let has = |agent: &Agent| agent.rulings.iter().any(|other| other.id == ruling.id);
        self.agents.get(&ruling.agent).is_some_and(has) || self.gone.agents().any(has)
    }
}

fn is_child(agent: &Agent, of: &Agent) -> bool {
    agent.profile.parent.as_ref() == Some(&of.profile.id) && agent.profile.owner == of.profile.owner
}
