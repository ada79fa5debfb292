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
        self.agents.values().chain(self.gone.agents()).any(|other| is_child(other, agent))
    }

    /// Keeps the binding part of `agent`, which is no longer registered, for its descendants. Retired agents that bind
    /// no other agent any more are dropped.
    ///
    /// Returns the runs that lost an agent through this.
    pub(super) fn bury(&mut self, agent: Agent) -> BTreeSet<(OwnerId, RunId)> {
        let mut left: BTreeSet<_> = runs_of(&agent).collect();
        if self.binds(&agent) {
            let number = self.gone.keep(agent.as_bond());
            let all = self.agents.values_mut().chain(self.gone.agents.values_mut());
            for other in all.filter(|other| is_child(other, &agent)) {
                other.bound_by.insert(number);
            }
        }
        while !self.gone.agents.is_empty() {
            let all = self.agents.values().chain(self.gone.agents());
            let needed: BTreeSet<u64> = all.flat_map(|agent| agent.bound_by.iter().copied()).collect();
            let before = self.gone.agents.len();
            self.gone.agents.retain(|number, agent| {
                let is_needed = needed.contains(number);
                left.extend((!is_needed).then(|| runs_of(agent)).into_iter().flatten());
                is_needed
            });
            if self.gone.agents.len() == before {
                break;
            }
        }
        left
    }

    /// Ends the denials that bind no agent any more after agents were retired.
    pub(super) fn update_denials(&self, events: &[Event], _now: Timestamp) -> Vec<Event> {
        if self.rulings.is_empty() || !events.iter().any(|event| event.retired().is_some()) {
            return Vec::new();
        }
        let everybody = || self.agents.values().chain(self.gone.agents());
        let runs: BTreeSet<_> = everybody().flat_map(runs_of).collect();
        let lasting: BTreeSet<_> = everybody().flat_map(|agent| agent.rulings.iter().map(|ruling| ruling.id)).collect();
        let is_over = |ruling: &&Arc<SavedDecision>| match &ruling.run {
            Some(run) => !runs.contains(&(ruling.owner.clone(), run.clone())),
            None => !lasting.contains(&ruling.id) && !self.noes_for_later.contains(&ruling.id),
        };
        let noes = self.rulings.values().filter(|ruling| ruling.verdict == Verdict::Deny);
        let ended = |ruling: &Arc<SavedDecision>| Event::RulingEnded {
            ruling: Arc::clone(ruling),
            ended: Ended::HolderRetired,
        };
        noes.filter(is_over).map(ended).collect()
    }
}

fn is_child(agent: &Agent, of: &Agent) -> bool {
    agent.profile.parent.as_ref() == Some(&of.profile.id) && agent.profile.owner == of.profile.owner
}

/// Returns the current run of an agent and the run in which it was created.
fn runs_of(agent: &Agent) -> impl Iterator<Item = (OwnerId, RunId)> + '_ {
    iter::once(&agent.run).chain(&agent.made_in).map(|run| (agent.profile.owner.clone(), run.clone()))
}
