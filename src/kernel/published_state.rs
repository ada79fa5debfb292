//! The published state. It lags the decided state until the store confirms each batch.
//!
//! A loss of permissions is published at once. A gain is published only after it is stored. The published state
//! therefore never holds a permission that the decided state has lost. When no batch is waiting, the two states are
//! equal.

use std::{collections::BTreeSet, sync::Arc};

use crate::model::{CredentialEvent, Ended, Event, GrantId, Outcome, ProcessEvent, Timestamp, Verdict};

use super::State;

impl State {
    /// Removes or reduces the grant that `event` ends or changes, before the event is stored. [`State::catch_up`]
    /// applies the complete event later.
    pub(crate) fn lose(&mut self, event: &Event, ahead: &State) {
        if let Some(grant) = event.grant().filter(|_| only_takes(event)) {
            self.agree_on(grant.id, ahead);
        }
        if let Event::CredentialChanged { change } = event {
            self.credentials.agree_on(&change.credential, &ahead.credentials);
        }
    }

    /// Applies `event` after it was stored. A grant that was lost in the meantime stays lost.
    pub(crate) fn catch_up(&mut self, event: &Event, ahead: &State) {
        // Both states share a grant that both have.
        if let Event::GrantIssued { grant } = event
            && let Some(there) = ahead.grants.get(&grant.id)
        {
            return self.issue(Arc::clone(there));
        }
        self.apply(event);
        if let Some(grant) = event.grant() {
            self.agree_on(grant.id, ahead);
        }
        if let Event::CredentialChanged { change } = event {
            self.credentials.agree_on(&change.credential, &ahead.credentials);
        }
    }

    /// Makes a grant here the grant in `ahead`. A grant that is missing there is removed here.
    fn agree_on(&mut self, id: GrantId, ahead: &State) {
        let Some(here) = self.grants.get(&id) else { return };
        match ahead.grants.get(&id) {
            None => self.end(id),
            Some(there) if !Arc::ptr_eq(there, here) => {
                self.take_out(id);
                self.issue(Arc::clone(there));
            }
            Some(_) => {}
        }
    }

    /// Applies the part of unstored `events` that takes permissions away, with everything that follows from it here.
    /// Returns this part.
    ///
    /// More can follow here than in the state in which the events were decided. A grant that lost one support may have
    /// gained another one, and a retired agent may have had its answer. Neither is stored, so the grant ends, and the
    /// request ends unanswered.
    pub(crate) fn keep_losses<'e>(&mut self, events: impl Iterator<Item = &'e Event>, now: Timestamp) -> Vec<Event> {
        let mut kept = Vec::new();
        for event in what_takes(events) {
            let retired = event.retired().and_then(|agent| self.agents.get(agent));
            let losses = retired.map_or_else(|| vec![event.clone()], |agent| self.retire(agent, now));
            losses.iter().for_each(|event| self.apply(event));
            kept.extend(losses);
        }
        let follow = self.cascade(&kept, now);
        follow.iter().for_each(|event| self.apply(event));
        kept.extend(follow);
        kept
    }
}

/// Returns true if an event gives no permissions: it only removes something, denies something or records a fact. An
/// event that is not listed here may give something.
pub(crate) fn only_takes(event: &Event) -> bool {
    if let Event::Resolved { resolution, .. } = event {
        return match resolution.outcome {
            Outcome::Granted => false,
            Outcome::Denied => resolution.granted.is_empty(),
            // The permissions that such a resolution lists were held before the request.
            Outcome::Expired | Outcome::Cancelled | Outcome::Unavailable => true,
        };
    }
    if let Event::RulingMade { ruling } = event {
        return ruling.verdict == Verdict::Deny;
    }
    if let Event::RulingEnded { ruling, ended } = event {
        // A denial whose time or run is over no longer counts, even if its end is not recorded. A retired agent needs
        // none.
        let is_over = matches!(ended, Ended::Expired | Ended::RunEnded(_) | Ended::HolderRetired);
        return ruling.verdict == Verdict::Allow || is_over;
    }
    if let Event::RulingUsed { ruling } = event {
        return ruling.verdict == Verdict::Allow;
    }
    if let Event::CredentialChanged { change } = event {
        return change.change == CredentialEvent::Revoked;
    }
    // An engine on a full disk starts with its policy file.
    if let Event::ConfigReloaded { gained, widened, .. } = event {
        return gained.is_empty() && widened.is_empty();
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
            // A grant changes only to an earlier end, to delegation only, or to another line of the file.
            | Event::GrantChanged { .. }
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
            | Event::SandboxEnded { .. }
            | Event::SandboxViolated { .. }
            | Event::StoreFailed { .. }
            // An engine also starts on a full disk, so that permissions can be revoked.
            | Event::StoreOpened { .. }
            | Event::UserActive { .. }
            | Event::WriteKeyed { .. }
    )
}

/// Returns the `events` that take stored permissions away. Objects that the same events first created are left out.
fn what_takes<'e>(events: impl Iterator<Item = &'e Event>) -> Vec<Event> {
    let (mut grants, mut requests, mut agents) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut processes, mut commands) = (BTreeSet::new(), BTreeSet::new());
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
        } else if let Event::SandboxApplied { command: Some(command), .. } = event {
            !commands.insert(*command)
        } else if let Event::SandboxEnded { command, .. } = event {
            commands.contains(command)
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
