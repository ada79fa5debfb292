//! Through whom a question reaches a person.

use std::cmp::Reverse;

use crate::model::{AgentId, Event, Request, Route};

use super::super::{Refusal, State, state::Agent};

impl State {
    /// A foreground agent asks its own user. Otherwise the question goes through the foreground agent of the same
    /// owner whose user was active last (a notice to an agent is not activity), else to the owner's approvers,
    /// else into the queue. `sources/004`, "Permission requests"; never across owners.
    pub(super) fn route(&self, request: &Request) -> Route {
        let there = self.connected.get(&request.owner);
        if let Some(own) = there.and_then(|there| there.get(&request.from)) {
            return Route::Carrier(own.clone());
        }
        let activity = |agent| (self.agents.get(agent).map(|agent| agent.active), Reverse(agent));
        match there.into_iter().flatten().map(activity).max() {
            Some((_, Reverse(agent))) => Route::Carrier(agent.clone()),
            None if self.approvers.contains_key(&request.owner) => Route::Approvers,
            None => Route::Queue,
        }
    }

    pub(super) fn connected(&self, agent: AgentId) -> Result<Vec<Event>, Refusal> {
        if !self.agent(&agent)?.profile.kind.is_foreground() {
            return Err(Refusal::NotForeground(agent));
        }
        Ok(vec![Event::CarrierConnected { agent }])
    }

    /// Whoever is not there any more cannot be refused to go.
    pub(super) fn disconnected(&self, agent: AgentId) -> Vec<Event> {
        let there = self.agents.get(&agent).is_some_and(|agent| self.is_connected(agent));
        if there { vec![Event::CarrierDisconnected { agent }] } else { Vec::new() }
    }

    pub(super) fn user_active(&self, agent: AgentId) -> Result<Vec<Event>, Refusal> {
        if !self.agent(&agent)?.profile.kind.is_foreground() {
            return Err(Refusal::NotForeground(agent));
        }
        Ok(vec![Event::UserActive { agent }])
    }

    pub(super) fn is_connected(&self, agent: &Agent) -> bool {
        self.connected.get(&agent.profile.owner).is_some_and(|there| there.contains(&agent.profile.id))
    }
}
