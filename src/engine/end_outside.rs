//! Notification of the work outside the engine.

#[cfg(feature = "sandbox")]
use std::sync::Arc;

use crate::{
    kernel::Command,
    model::{Event, ProcessEvent},
};

#[cfg(feature = "sandbox")]
use super::outside::Outside;
use super::shared::Shared;

impl Shared {
    /// Ends all work outside the engine, and records how it ended.
    pub(super) async fn end_outside(&self) {
        let Some(outside) = self.outside.get().cloned() else { return };
        // This fails only if the engine is closed, and then no work is left.
        let _ = self.execute_own(Command::EndProcesses).at_once();
        // This fails only if the runtime ends, and the process with it.
        let _ = tokio::task::spawn_blocking(move || outside.wait()).await;
    }

    /// Returns the one outside component, created on first use.
    #[cfg(feature = "sandbox")]
    pub(super) fn outside<T: Outside + Default>(&self) -> Option<Arc<T>> {
        let outside = self.outside.get_or_init(|| Arc::new(T::default()));
        Arc::clone(outside).as_any().downcast().ok()
    }

    pub(super) fn tell_outside(&self, events: &[Event]) {
        if let Some(outside) = self.outside.get() {
            outside.hear(events);
        }
    }

    /// Reports at once the work that must end, even if storing the events fails.
    pub(super) fn tell_outside_losses(&self, events: &[Event]) {
        let takes =
            |event: &&Event| matches!(event, Event::AgentRetired { .. } | Event::Process(ProcessEvent::Stopped { .. }));
        let losses: Vec<_> = events.iter().filter(takes).cloned().collect();
        self.tell_outside(&losses);
    }
}
