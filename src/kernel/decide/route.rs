//! The route of a request to a person.

use std::cmp::Reverse;

use crate::model::{AgentId, Event, Request, Route};

use super::super::{Refusal, State, agent::Agent};

impl State {
    /// Returns the route of a request. A foreground agent asks its own user. Otherwise the request goes to the
    /// foreground agent of its owner whose user was active last. A notification to an agent is not activity. Without a
    /// foreground agent, the request goes to the owner's approvers, and otherwise into the queue. It never crosses
    /// owners (`sources/004`, "Permission requests").
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

    /// Disconnects an agent. If the agent is not connected, nothing happens.
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
