//! A state that is behind another one: what everybody sees while the disk still writes down what was decided.
//!
//! What ends something is seen at once, what gives something only once it is stored. So the one behind never holds a
//! right that the one ahead has lost, and when nothing is on its way the two are equal.

use std::sync::Arc;

use crate::model::{Event, Grant, Outcome, ProcessEvent, Verdict};

use super::State;

impl State {
    /// Takes over, before it is stored, what `event` ends. The whole of it follows with [`State::catch_up`].
    pub(crate) fn lose(&mut self, event: &Event, ahead: &State) {
        if let Some(grant) = event.grant().filter(|_| ends_or_shortens(event)) {
            self.agree_on(grant, ahead);
        }
    }

    /// Takes over `event`, which is stored by now. What was lost since stays lost.
    pub(crate) fn catch_up(&mut self, event: &Event, ahead: &State) {
        self.apply(event);
        if let Some(grant) = event.grant() {
            self.agree_on(grant, ahead);
        }
    }

    /// A grant that is here is as it is ahead; one that is not there is gone here too.
    fn agree_on(&mut self, grant: &Grant, ahead: &State) {
        let Some(here) = self.grants.get(&grant.id).cloned() else { return };
        match ahead.grants.get(&grant.id) {
            None => self.apply(&Event::GrantExpired { grant: here }),
            Some(there) if *there != here => self.apply(&Event::GrantChanged { grant: Arc::clone(there) }),
            Some(_) => {}
        }
    }
}

fn ends_or_shortens(event: &Event) -> bool {
    only_takes(event) || matches!(event, Event::GrantChanged { .. })
}

/// Whether an event gives nobody anything: it takes away, or says no. Whatever is not named here may give something.
pub(crate) fn only_takes(event: &Event) -> bool {
    if let Event::Resolved { resolution, .. } = event {
        return resolution.outcome != Outcome::Granted && resolution.granted.is_empty();
    }
    if let Event::RulingMade { ruling } = event {
        return ruling.verdict == Verdict::Deny;
    }
    if let Event::RulingEnded { ruling, .. } | Event::RulingUsed { ruling } = event {
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
