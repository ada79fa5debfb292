//! Work outside the engine that ends when its permissions end.

use std::{any::Any, fmt::Debug, sync::Arc};

use crate::{
    kernel::Command,
    model::{Event, ProcessEvent},
};

use super::shared::Shared;

/// A component outside the engine that acts for agents and is notified at once of events that end its work.
///
/// `hear` and `end` are called under the engine's lock: they must neither block nor call the engine.
pub(crate) trait Outside: Any + Debug + Send + Sync {
    /// Receives events as soon as they take effect. Events that take permissions away arrive before they are stored.
    fn hear(&self, events: &[Event]);

    /// Ends all work, because the engine is closed or its last handle is gone.
    fn end(&self);

    /// Waits until the ended work is gone. It is not called under the lock, and runs on a thread that may block.
    fn wait(&self);

    /// Returns the component as its concrete type.
    #[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox starts processes"))]
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl Shared {
    /// Ends all work outside the engine, and records how it ended.
    pub(super) async fn end_outside(&self) {
        let Some(outside) = self.outside.get().cloned() else { return };
        // This fails only if the engine is closed, and then no work is left.
        let _ = self.execute(Command::EndProcesses).at_once();
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
