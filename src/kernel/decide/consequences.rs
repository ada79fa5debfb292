//! The consequences of events. They cannot fail, because the events are already decided.

use std::{collections::BTreeSet, sync::Arc};

use crate::model::{AgentId, Event, Grant, Hold, Timestamp};

use super::super::{State, agent::Agent, command::StaleGrants, compact_grant::CompactGrant, state::Waiting};

impl State {
    /// Returns the revocations that cascade from the events.
    pub(in super::super) fn cascade(&self, events: &[Event], now: Timestamp) -> Vec<Event> {
        let ended = ended(events);
        let settings_changed = events.iter().any(|event| matches!(event, Event::SettingsChanged { .. }));
        // New settings may restrict free reading, protect further paths, or make further paths sensitive. A write to a
        // sensitive path needs a permission that names it.
        if settings_changed {
            return self.cascade_of_settings_and(&ended, now);
        }
        if ended.is_empty() { Vec::new() } else { self.cascade_of(&ended, now) }
    }

    /// Moves requests to reachable people, and ends requests for permissions that are held by now.
    pub(in super::super) fn requests_follow(&self, events: &[Event], now: Timestamp) -> Vec<Event> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        let mut follow: Vec<_> = receivers(events)
            .filter_map(|agent| self.agents.get(agent))
            .flat_map(|agent| self.covered(agent, now))
            .collect();
        if events.iter().any(changes_presence) {
            let done: BTreeSet<_> = follow.iter().filter_map(resolved).collect();
            let open = self.pending.values().filter(|waiting| !done.contains(&waiting.request.id));
            follow.extend(open.filter_map(|waiting| self.moved(waiting, now)));
        }
        follow
    }

    /// Returns the ends of requests of `agent` for permissions that it holds by now. A request about an action is
    /// excluded, because only a person can answer it.
    ///
    /// Grants from before the request do not count. The agent held them when it asked, so their paths lead elsewhere by
    /// now.
    fn covered<'s>(&'s self, agent: &'s Agent, now: Timestamp) -> impl Iterator<Item = Event> + 's {
        let pending = agent.pending.iter().filter_map(|id| self.pending.get(id));
        let pending = pending.filter(|waiting| !waiting.request.asks_about_action());
        let held = move |waiting: &&Waiting| {
            let later = |grant: &Arc<CompactGrant>| waiting.first_later_grant <= grant.id;
            waiting.request.permissions().all(|permission| self.usable(agent, permission, now).any(later))
        };
        pending.filter(held).map(move |waiting| waiting.resolved_as_held(now))
    }

    /// Adds the lost permissions to a reload event, after all revocations have cascaded.
    pub(in super::super) fn with_losses_told(&self, mut events: Vec<Event>, now: Timestamp) -> Vec<Event> {
        let told = events.iter().position(|event| matches!(event, Event::ConfigReloaded { .. }));
        let Some(place) = told else { return events };
        // A new agent with the id of a retired one is a different agent.
        let went: BTreeSet<_> = events.iter().filter_map(Event::retired).collect();
        let lost = |grant: &Arc<Grant>| went.contains(&grant.to) || !self.still_uses(grant, now);
        let gone = ended(&events).into_iter().filter(|grant| grant.hold == Hold::Use && lost(grant));
        let all: BTreeSet<_> = gone.map(|grant| (grant.to.clone(), grant.pinned.permission.clone())).collect();
        if let Some(Event::ConfigReloaded { lost, .. }) = events.get_mut(place) {
            lost.extend(all);
        }
        events
    }

    fn still_uses(&self, grant: &Grant, now: Timestamp) -> bool {
        let holder = self.agents.get(&grant.to);
        holder.is_some_and(|holder| self.uses(holder, &grant.pinned.permission, now, &StaleGrants::new()))
    }
}

fn ended(events: &[Event]) -> Vec<Arc<Grant>> {
    let ended = events.iter().filter_map(|event| {
        if let Event::GrantRevoked { grant, .. } | Event::GrantExpired { grant } = event { Some(grant) } else { None }
    });
    ended.cloned().collect()
}

fn receivers(events: &[Event]) -> impl Iterator<Item = &AgentId> {
    let issued =
        events.iter().filter_map(|event| if let Event::GrantIssued { grant } = event { Some(&grant.to) } else { None });
    issued.collect::<BTreeSet<_>>().into_iter()
}

fn resolved(event: &Event) -> Option<crate::model::RequestId> {
    if let Event::Resolved { resolution, .. } = event { Some(resolution.request) } else { None }
}

fn changes_presence(event: &Event) -> bool {
    matches!(
        event,
        Event::CarrierConnected { .. }
            | Event::CarrierDisconnected { .. }
            | Event::ApproverArrived { .. }
            | Event::ApproverLeft { .. }
            | Event::SettingsChanged { .. }
    )
}
