//! Hearing what happens.

use std::fmt;

use tokio::sync::broadcast::{self, error::RecvError};

use crate::model::Recorded;

/// How many events a subscriber may be behind.
pub(super) const CAPACITY: usize = 4096;

/// Everything that happens from now on, in order.
#[derive(Debug)]
pub struct Subscription(pub(super) broadcast::Receiver<Recorded>);

/// Why there is no next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a subscriber missed something, or there will be nothing more")]
pub enum NoEvent {
    /// The engine ended.
    Ended,
    /// This many were missed, since the subscriber was too slow. The next call goes on after them.
    Missed(u64),
}

impl fmt::Display for NoEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoEvent::Ended => f.write_str("the engine ended"),
            NoEvent::Missed(count) => write!(f, "{count} events were missed: read faster, or read the state again"),
        }
    }
}

impl std::error::Error for NoEvent {}

impl Subscription {
    /// The next event.
    ///
    /// # Errors
    ///
    /// [`NoEvent::Missed`] if events were lost, [`NoEvent::Ended`] if there will be none.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Recorded, NoEvent> {
        self.0.recv().await.map_err(|why| match why {
            RecvError::Closed => NoEvent::Ended,
            RecvError::Lagged(count) => NoEvent::Missed(count),
        })
    }

    /// The next event, if there is one now.
    ///
    /// # Errors
    ///
    /// As [`Subscription::next`].
    pub fn try_next(&mut self) -> Result<Option<Recorded>, NoEvent> {
        match self.0.try_recv() {
            Ok(event) => Ok(Some(event)),
            Err(broadcast::error::TryRecvError::Empty) => Ok(None),
            Err(broadcast::error::TryRecvError::Closed) => Err(NoEvent::Ended),
            Err(broadcast::error::TryRecvError::Lagged(count)) => Err(NoEvent::Missed(count)),
        }
    }
}
