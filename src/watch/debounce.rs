//! Waits until a save is complete (debounce).

use std::time::Duration;

use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// The time without events after which a save counts as complete.
pub(super) const QUIET: Duration = Duration::from_millis(50);

/// The maximum time to wait for a process that writes without a pause.
pub(super) const LONGEST: Duration = Duration::from_millis(500);

/// Returns when `wake` had no event for a while, or after the maximum time.
pub(super) async fn settle(wake: &Notify) {
    let end = Instant::now() + LONGEST;
    while Instant::now() < end {
        let quiet = Instant::now() + QUIET;
        if timeout_at(quiet.min(end), wake.notified()).await.is_err() {
            return;
        }
    }
}
