//! The facts about a whole batch of events that the delivery of each event needs. They are collected once, so that the
//! cost of a large batch grows with its length only.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::model::{AgentId, Event, RequestId};

/// The facts about one batch.
#[derive(Debug, Default)]
pub(super) struct BatchFacts<'e> {
    registered: HashSet<&'e AgentId, RandomState>,
    /// The retired agents, with the position of the last event that retires one of that name.
    retired: HashMap<&'e AgentId, usize, RandomState>,
    /// The requests that no person was shown, because no permission was missing.
    never_asked: HashSet<RequestId, RandomState>,
}

impl<'e> BatchFacts<'e> {
    pub(super) fn of(events: &'e [Event]) -> BatchFacts<'e> {
        let mut facts = BatchFacts::default();
        for (place, event) in events.iter().enumerate() {
            if let Event::AgentRegistered { profile, .. } = event {
                facts.registered.insert(&profile.id);
            }
            if let Some(agent) = event.retired() {
                facts.retired.insert(agent, place);
            }
            if let Event::Requested { request } = event
                && !request.is_open()
            {
                facts.never_asked.insert(request.id);
            }
        }
        facts
    }

    /// Returns true if the batch registers `agent`.
    pub(super) fn registers(&self, agent: &AgentId) -> bool {
        self.registered.contains(agent)
    }

    /// Returns true if the event at `place` is about an agent that the same batch retires. It is no news for a later
    /// agent of that name.
    pub(super) fn is_about_retired(&self, agent: &AgentId, place: usize) -> bool {
        self.retired.get(agent).is_some_and(|retired| place <= *retired)
    }

    /// Returns true if the request was answered without a person.
    pub(super) fn was_never_asked(&self, request: RequestId) -> bool {
        self.never_asked.contains(&request)
    }
}
