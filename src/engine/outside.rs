//! Work outside the engine that ends when its permissions end.

use std::{any::Any, fmt::Debug, sync::Arc};

use crate::model::Event;

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
