//! The route of a request to a person.

use std::{cmp::Reverse, sync::Arc};

use crate::model::{AgentId, Decider, Event, Interaction, OnNoUser, Outcome, Request, Route, Timestamp};

use super::{
    super::{Refusal, State, agent::Agent, state::Waiting},
    requests::resolution,
};

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

    /// Returns the route of `request`, or its end if nobody is reachable and it may not wait.
    pub(super) fn route_or_resolve(&self, request: &Arc<Request>, carrier: Option<&AgentId>, now: Timestamp) -> Event {
        let route = self.route(request);
        if self.may_wait(&route) {
            return Event::Routed { request: Arc::clone(request), route };
        }
        let resolution = resolution(request, Outcome::Unavailable, &[], None, Decider::NobodyThere, None, now);
        Event::Resolved { resolution, carrier: carrier.cloned() }
    }

    fn may_wait(&self, route: &Route) -> bool {
        match self.settings.interaction {
            Interaction::NonInteractive => false,
            Interaction::Interactive => *route != Route::Queue || self.settings.on_no_user == OnNoUser::Queue,
        }
    }

    /// Returns the event that moves or ends a request that cannot stay on its route.
    pub(super) fn moved(&self, waiting: &Waiting, now: Timestamp) -> Option<Event> {
        let owner = &waiting.request.owner;
        let stays = match &waiting.route {
            Route::Carrier(agent) => self.connected.get(owner).is_some_and(|there| there.contains(agent)),
            Route::Approvers => self.approvers.contains_key(owner),
            Route::Queue => false,
        };
        let interactive = self.settings.interaction == Interaction::Interactive;
        if stays && interactive {
            return None;
        }
        let next = self.route_or_resolve(&waiting.request, waiting.carrier().as_ref(), now);
        let same_place = matches!(&next, Event::Routed { route, .. } if *route == waiting.route);
        (!same_place).then_some(next)
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
