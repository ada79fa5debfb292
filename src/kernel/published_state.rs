//! The published state. It lags the decided state until the store confirms each batch.
//!
//! A loss of rights is published at once. A gain is published only after it is stored. The published state therefore
//! never holds a right that the decided state has lost. When no batch is waiting, the two states are equal.

use std::{collections::BTreeSet, sync::Arc};

use crate::model::{Ended, Event, Grant, Hold, Outcome, ProcessEvent, Verdict};

use super::{State, support::earlier};

impl State {
    /// Removes or reduces the grant that `event` ends or changes, before the event is stored. [`State::catch_up`]
    /// applies the complete event later.
    pub(crate) fn lose(&mut self, event: &Event, ahead: &State) {
        if let Some(grant) = event.grant().filter(|_| ends_or_shortens(event)) {
            self.agree_on(grant, ahead);
        }
    }

    /// Applies `event` after it was stored. A grant that was lost in the meantime stays lost.
    pub(crate) fn catch_up(&mut self, event: &Event, ahead: &State) {
        self.apply(event);
        if let Some(grant) = event.grant() {
            self.agree_on(grant, ahead);
        }
    }

    /// Reduces a grant here to what the grant in `ahead` still gives. A grant that is missing there is removed here. A
    /// grant that is wider there stays as it is here, until the widening is stored.
    fn agree_on(&mut self, grant: &Grant, ahead: &State) {
        let Some(here) = self.grants.get(&grant.id).cloned() else { return };
        let Some(there) = ahead.grants.get(&grant.id) else {
            return self.apply(&Event::GrantExpired { grant: here });
        };
        let until = earlier(here.until, there.until);
        let hold = if there.hold == Hold::PassOn { Hold::PassOn } else { here.hold };
        if (until, hold) != (here.until, here.hold) {
            let grant = Arc::new(Grant { until, hold, ..Grant::clone(&here) });
            self.apply(&Event::GrantChanged { grant });
        }
    }

    /// Returns the events that state the reduced form of every grant that `events` changed.
    pub(crate) fn reductions<'e>(&self, events: impl Iterator<Item = &'e Event>) -> Vec<Event> {
        let changed = events.filter(|event| matches!(event, Event::GrantChanged { .. })).filter_map(Event::grant);
        let ids: BTreeSet<_> = changed.map(|grant| grant.id).collect();
        let here = ids.iter().filter_map(|id| self.grants.get(id));
        here.map(|grant| Event::GrantChanged { grant: Arc::clone(grant) }).collect()
    }
}

fn ends_or_shortens(event: &Event) -> bool {
    only_takes(event) || matches!(event, Event::GrantChanged { .. })
}

/// Returns true if an event gives no rights: it only removes something, denies something or records a fact. An event
/// that is not listed here may give something.
pub(crate) fn only_takes(event: &Event) -> bool {
    if let Event::Resolved { resolution, .. } = event {
        return resolution.outcome != Outcome::Granted && resolution.granted.is_empty();
    }
    if let Event::RulingMade { ruling } = event {
        return ruling.verdict == Verdict::Deny;
    }
    if let Event::RulingEnded { ruling, ended } = event {
        // A denial whose time is over no longer counts, whether its end is recorded or not. A retired agent needs none.
        let is_over = matches!(ended, Ended::Expired | Ended::HolderRetired);
        return ruling.verdict == Verdict::Allow || is_over;
    }
    if let Event::RulingUsed { ruling } = event {
        return ruling.verdict == Verdict::Allow;
    }
    if let Event::Process(event) = event {
        return matches!(event, ProcessEvent::Stopped { .. } | ProcessEvent::Exited { .. });
    }
    matches!(
        event,
        Event::AgentRetired { .. }
            | Event::ApproverArrived { .. }
            | Event::ApproverLeft { .. }
            | Event::CarrierConnected { .. }
            | Event::CarrierDisconnected { .. }
            | Event::ConfigPolled { .. }
            | Event::ConfigRejected { .. }
            | Event::GrantExpired { .. }
            | Event::GrantRevoked { .. }
            | Event::GrantUsed { .. }
            | Event::HookCompleted { .. }
            | Event::HookFailed { .. }
            | Event::HookStarted { .. }
            | Event::FactsMerged { .. }
            | Event::PeerRefused { .. }
            | Event::Refused { .. }
            | Event::Routed { .. }
            | Event::RunBegan { .. }
            | Event::RunEnded { .. }
            | Event::SandboxViolated { .. }
            | Event::StoreFailed { .. }
            | Event::UserActive { .. }
    )
}

/// Returns the `events` that take stored permissions away. Objects that the same events first created are left out.
pub(crate) fn what_takes<'e>(events: impl Iterator<Item = &'e Event>) -> Vec<Event> {
    let (mut grants, mut requests, mut agents) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut processes = BTreeSet::new();
    let mut takes = Vec::new();
    for event in events {
        let never_was = if let Event::GrantIssued { grant } = event {
            !grants.insert(grant.id)
        } else if let Event::Requested { request } = event {
            !requests.insert(request.id)
        } else if let Event::AgentRegistered { profile, .. } = event {
            !agents.insert(&profile.id)
        } else if let Event::AgentRetired { agent } = event {
            agents.remove(agent)
        } else if let Event::Process(event) = event {
            if only_starts(event) {
                !processes.insert(event.process().id)
            } else {
                processes.contains(&event.process().id)
            }
        } else if let Event::RunBegan { agent, .. } | Event::RunEnded { agent, .. } = event {
            agents.contains(agent)
        } else if let Event::Routed { request, .. } = event {
            requests.contains(&request.id)
        } else if let Event::Resolved { resolution, .. } = event {
            requests.contains(&resolution.request)
        } else {
            event.grant().is_some_and(|grant| grants.contains(&grant.id))
        };
        if only_takes(event) && !never_was {
            takes.push(event.clone());
        }
    }
    takes
}

fn only_starts(event: &ProcessEvent) -> bool {
    matches!(event, ProcessEvent::Started { .. })
}
