//! The effects of time. A permission ends at its time even without a tick. The tick records the end.

use std::sync::Arc;

use crate::model::{Decider, Ended, Event, GrantId, Outcome, RequestId, SavedDecisionId, Timestamp};

use super::super::State;

impl State {
    pub(super) fn tick(&self, now: Timestamp) -> Vec<Event> {
        let over = self.ending.range(..=(now, GrantId::new(u64::MAX)));
        let over = over.filter_map(|(_, id)| self.grants.get(id));
        let expired = over.map(|grant| Event::GrantExpired { grant: grant.whole() });
        let rulings = self.rulings_ending.range(..=(now, SavedDecisionId::new(u64::MAX)));
        let rulings = rulings.filter_map(|(_, id)| self.rulings.get(id));
        let rulings = rulings.map(|ruling| Event::RulingEnded { ruling: Arc::clone(ruling), ended: Ended::Expired });
        let late = self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now);
        let late = late.filter_map(|(_, id): &(Timestamp, RequestId)| self.pending.get(id));
        expired
            .chain(rulings)
            .chain(late.map(|waiting| waiting.resolved_without_grant(Outcome::Expired, Decider::Timeout, now)))
            .collect()
    }

    /// Returns the time at which the next tick has work to do.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let ending = self.ending.first().map(|(until, _)| *until);
        let deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
        let ruling = self.rulings_ending.first().map(|(until, _)| *until);
        ending.into_iter().chain(deadline).chain(ruling).min()
    }
}
