//! The state ahead, on which commands are decided, and the published state.

use crate::{
    kernel::State,
    model::{Event, Timestamp},
};

/// The states of an engine.
#[derive(Debug)]
pub(super) struct States {
    published: State,
    /// The state with every decision. Without a store it is none: every step is confirmed at once, so the published
    /// state has every decision. A second state would double the memory and the time of each change.
    ahead: Option<State>,
}

impl States {
    /// Creates the state of an engine whose steps are confirmed at once.
    pub(super) fn one(state: State) -> States {
        States { published: state, ahead: None }
    }

    /// Creates the states of an engine whose steps wait for a store.
    pub(super) fn two(state: State) -> States {
        States { ahead: Some(state.clone()), published: state }
    }

    pub(super) fn published(&self) -> &State {
        &self.published
    }

    pub(super) fn ahead(&self) -> &State {
        self.ahead.as_ref().unwrap_or(&self.published)
    }

    pub(super) fn ahead_mut(&mut self) -> &mut State {
        self.ahead.as_mut().unwrap_or(&mut self.published)
    }

    /// Takes out of the published state the permissions that decided events end.
    pub(super) fn lose(&mut self, events: &[Event]) {
        if let Some(ahead) = &self.ahead {
            events.iter().for_each(|event| self.published.lose(event, ahead));
        }
    }

    /// Applies confirmed events to the published state.
    pub(super) fn catch_up(&mut self, events: &[Event]) {
        if let Some(ahead) = &self.ahead {
            events.iter().for_each(|event| self.published.catch_up(event, ahead));
        }
    }

    /// Forgets the decisions in `events`, which are not confirmed, except the losses. Returns the losses.
    pub(super) fn roll_back<'e>(&mut self, events: impl Iterator<Item = &'e Event>, now: Timestamp) -> Vec<Event> {
        let Some(ahead) = &mut self.ahead else { return Vec::new() };
        *ahead = self.published.clone();
        ahead.keep_losses(events, now)
    }
}
