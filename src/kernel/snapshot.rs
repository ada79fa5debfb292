//! Serialization of a complete state. Values that can be derived from other values are not written.

use serde::Serialize;

use super::{State, held_grants::giver, write_roots::WriteRoots};
use crate::model::{Event, Settings};

/// A state that was read, before its indexes are built. They need room, and what was read is no longer needed.
#[derive(Debug)]
pub(crate) struct UnlinkedState(State);

impl UnlinkedState {
    /// Builds the indexes. The result is equal to the state whose image was read.
    pub(crate) fn link(self) -> ReplayedState {
        let mut state = self.0;
        state.link();
        ReplayedState(state)
    }
}

/// A state that is rebuilt from its records, and in which nothing is decided yet. It lacks the index of write grants:
/// keeping it up to date is a good part of the work of a replay.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct ReplayedState(State);

impl ReplayedState {
    /// Returns the state before the first event.
    pub(crate) fn new() -> ReplayedState {
        let mut state = State::new(Settings::default());
        state.write_roots = WriteRoots::off();
        ReplayedState(state)
    }

    /// Applies the next event.
    pub(crate) fn apply(&mut self, event: &Event) {
        self.0.apply(event);
    }

    /// Builds the index that was missing.
    pub(crate) fn into_state(self) -> State {
        let mut state = self.0;
        state.write_roots = WriteRoots::of(state.grants.values().map(|grant| &**grant));
        state
    }
}

impl State {
    /// Returns the complete state as JSON. Equal states have equal images.
    #[cfg(all(test, feature = "property-tests"))]
    pub(crate) fn to_image(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Reads the output of [`State::to_image`].
    pub(crate) fn from_image(image: &[u8]) -> Result<UnlinkedState, serde_json::Error> {
        // A text whose encoding is known is read faster.
        let read = str::from_utf8(image).map_or_else(|_| serde_json::from_slice(image), serde_json::from_str);
        read.map(UnlinkedState)
    }

    /// Rebuilds the indexes from the stored values, except that of write grants.
    fn link(&mut self) {
        self.protect();
        self.gone.recount();
        for agent in self.agents.values() {
            self.kin.add(agent);
            self.gone.count(&agent.bound_by);
        }
        self.write_roots = WriteRoots::off();
        for grant in self.grants.values() {
            self.ending.extend(grant.until.map(|until| (until, grant.id)));
            if let Some(holder) = self.agents.get_mut(&grant.to) {
                // Grants arrive in id order, which is the order of this list.
                holder.held.add(grant);
            }
            if let Some(giver) = giver(&grant.origin).and_then(|giver| self.agents.get_mut(giver)) {
                giver.given.insert(grant.id);
            }
        }
        let ends = self.rulings.values().filter_map(|ruling| Some((ruling.until?, ruling.id)));
        self.rulings_ending.extend(ends);
        for (id, waiting) in &self.pending {
            self.deadlines.insert((waiting.request.deadline, *id));
            if let Some(asker) = self.agents.get_mut(&waiting.request.from) {
                asker.pending.insert(*id);
            }
        }
    }
}
