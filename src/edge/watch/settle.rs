//! Waits until whoever saves a file is done.

use std::time::Duration;

use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// Nothing happened for this long: done.
pub(super) const QUIET: Duration = Duration::from_millis(50);

/// Whoever writes without a pause is not waited for any longer.
pub(super) const LONGEST: Duration = Duration::from_millis(500);

/// Returns when `wake` has been quiet for a while, or has not been quiet for long.
pub(super) async fn settle(wake: &Notify) {
    let end = Instant::now() + LONGEST;
    while Instant::now() < end {
        let quiet = Instant::now() + QUIET;
        if timeout_at(quiet.min(end), wake.notified()).await.is_err() {
            return;
        }
    }
}
