//! What goes on outside the engine, and ends with what it rests on.

use std::{any::Any, fmt::Debug, sync::Arc};

use crate::{
    kernel::Command,
    model::{Event, ProcessEvent},
};

use super::shared::Shared;

/// Something outside the engine that acts for agents, and is told at once what ends that.
///
/// Both calls come under the engine's lock: they neither wait nor call the engine.
pub(crate) trait Outside: Any + Debug + Send + Sync {
    /// Hears what happened, as soon as it counts; what takes something away, before it is stored.
    fn hear(&self, events: &[Event]);

    /// The engine is closed, or its last handle is gone.
    fn end(&self);

    /// Waits until what was ended is gone. Not under the lock, and on a thread that may wait.
    fn wait(&self);

    /// As what it is.
    #[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox starts processes"))]
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl Shared {
    /// Ends everything outside, and leaves the facts of how it ended.
    pub(super) async fn end_outside(&self) {
        let Some(outside) = self.outside.get().cloned() else { return };
        // Fails only if the engine is closed, and then nothing goes on.
        let _ = self.execute(Command::EndProcesses).at_once();
        // Fails only if the runtime ends, and the process with it.
        let _ = tokio::task::spawn_blocking(move || outside.wait()).await;
    }

    /// The one thing outside, made when it is first needed.
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

    /// Tells at once what is to end, whatever becomes of the disk.
    pub(super) fn tell_outside_losses(&self, events: &[Event]) {
        let takes =
            |event: &&Event| matches!(event, Event::AgentRetired { .. } | Event::Process(ProcessEvent::Stopped { .. }));
        let losses: Vec<_> = events.iter().filter(takes).cloned().collect();
        self.tell_outside(&losses);
    }
}
