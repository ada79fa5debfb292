//! Subscriptions to events.

use std::sync::Arc;

use tokio::sync::{
    Notify,
    broadcast::{self, error::TryRecvError},
};

use crate::model::Recorded;

/// The number of events by which a subscriber may lag.
pub(super) const CAPACITY: usize = 4096;

/// A stream of every event from the subscription on, in order.
#[derive(Debug)]
pub struct Subscription {
    pub(super) events: broadcast::Receiver<Recorded>,
    /// Rings after events were sent. A subscriber does not wait in the channel itself, where each send would wake all.
    pub(super) bell: Arc<Notify>,
}

/// The reason why there is no next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(clippy::exhaustive_enums, reason = "a subscriber missed something, or there will be nothing more")]
pub enum NoEvent {
    /// The engine ended.
    #[error("the engine ended")]
    Ended,
    /// The number of events that were missed, because the subscriber was too slow. The next call continues after them.
    #[error("{0} events were missed: read faster, or read the state again")]
    Missed(u64),
}

impl Subscription {
    /// Creates a subscription to an engine that has ended.
    pub(super) fn over() -> Subscription {
        Subscription { events: broadcast::channel(1).1, bell: Arc::default() }
    }

    /// Waits for the next event.
    ///
    /// # Errors
    ///
    /// [`NoEvent::Missed`] if events were lost, [`NoEvent::Ended`] if no more events will come.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Result<Recorded, NoEvent> {
        let bell = Arc::clone(&self.bell);
        loop {
            // The listener is registered before the look, so that no event is missed in between.
            let mut rings = std::pin::pin!(bell.notified());
            rings.as_mut().enable();
            if let Some(event) = self.try_next()? {
                return Ok(event);
            }
            rings.await;
        }
    }

    /// Returns the next event, if there is one now.
    ///
    /// # Errors
    ///
    /// The errors of [`Subscription::next`].
    pub fn try_next(&mut self) -> Result<Option<Recorded>, NoEvent> {
        match self.events.try_recv() {
            Ok(event) => Ok(Some(event)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Closed) => Err(NoEvent::Ended),
            Err(TryRecvError::Lagged(count)) => Err(NoEvent::Missed(count)),
        }
    }
}
