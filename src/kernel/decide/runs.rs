//! Runs of agents. Each agent has its own run, unless a person or the host program puts several agents into one.

use crate::model::{Actor, AgentId, Decider, Ended, Event, Outcome, OwnerId, RunId, Timestamp};

use super::{
    super::{Refusal, State, agent::Agent, command::Entering},
    grants::same_owner,
};

impl State {
    /// Ends the run of `agent` with its permissions, requests and decisions, and begins `run`.
    pub(super) fn begin_run(
        &self,
        agent: &AgentId,
        run: RunId,
        entering: Entering,
        by: Actor,
        owner: Option<&OwnerId>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let known = self.agent(agent)?;
        owner.map_or(Ok(()), |owner| same_owner(known, owner))?;
        if known.run == run {
            return Ok(Vec::new());
        }
        self.refuse_other_run(known, &run, entering)?;
        let asked = known.pending.iter().filter_map(|request| self.pending.get(request));
        let asked = asked.map(|waiting| waiting.resolved_without_grant(Outcome::Cancelled, Decider::RunOver, now));
        let rulings = self.rulings_left_behind(known, &Ended::RunEnded(known.run.clone()), false);
        let began = [ended(known), Event::RunBegan { agent: agent.clone(), run, by: Some(by) }];
        Ok(revocations_of_run(known).chain(asked).chain(rulings).chain(began).collect())
    }

    /// Refuses to put an agent into a run of others by accident, or to join a run that does not exist.
    fn refuse_other_run(&self, agent: &Agent, run: &RunId, entering: Entering) -> Result<(), Refusal> {
        let goes_on = self.goes_on(&agent.profile.owner, run, Some(&agent.profile.id));
        match (entering, goes_on) {
            (Entering::Own, false) | (Entering::Shared, true) => Ok(()),
            (Entering::Own, true) => Err(Refusal::RunGoesOn(run.clone())),
            (Entering::Shared, false) => Err(Refusal::UnknownRun(run.clone())),
        }
    }
}

/// Returns the revocations of the permissions that end with the run of `agent`.
pub(super) fn revocations_of_run(agent: &Agent) -> impl Iterator<Item = Event> + Clone + '_ {
    let over = agent.held.iter().filter(|grant| grant.run.as_ref() == Some(&agent.run));
    over.map(|grant| Event::GrantRevoked { grant: grant.whole(), ended: Ended::RunEnded(agent.run.clone()) })
}

/// Returns the event that ends the run of `agent`.
pub(super) fn ended(agent: &Agent) -> Event {
    Event::RunEnded { agent: agent.profile.id.clone(), run: agent.run.clone() }
}

/// Returns a sequence of distinct runs derived from `run`.
pub(super) fn numbered(run: &RunId) -> impl Iterator<Item = RunId> + '_ {
    (1_u32..).map(|number| run.numbered(number))
}
