//! Subscriptions to events.

use tokio::sync::broadcast::{self, error::RecvError};

use crate::model::Recorded;

/// The number of events by which a subscriber may lag.
pub(super) const CAPACITY: usize = 4096;

/// A stream of every event from the subscription on, in order.
#[derive(Debug)]
pub struct Subscription(pub(super) broadcast::Receiver<Recorded>);

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
        self.0.recv().await.map_err(|why| match why {
            RecvError::Closed => NoEvent::Ended,
            RecvError::Lagged(count) => NoEvent::Missed(count),
        })
    }

    /// Returns the next event, if there is one now.
    ///
    /// # Errors
    ///
    /// The errors of [`Subscription::next`].
    pub fn try_next(&mut self) -> Result<Option<Recorded>, NoEvent> {
        match self.0.try_recv() {
            Ok(event) => Ok(Some(event)),
            Err(broadcast::error::TryRecvError::Empty) => Ok(None),
            Err(broadcast::error::TryRecvError::Closed) => Err(NoEvent::Ended),
            Err(broadcast::error::TryRecvError::Lagged(count)) => Err(NoEvent::Missed(count)),
        }
    }
}
