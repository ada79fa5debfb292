//! Work with a time limit that holds even if a call of the system does not return.

use std::{
    fmt,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// The time in which a host reads an answer.
pub(super) const WRITING: Duration = Duration::from_millis(500);

/// The reason why some work has no result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoResult {
    /// The work goes on.
    TooSlow(Duration),
    /// The work has panicked, or there is no thread for it.
    Failed,
}

impl fmt::Display for NoResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoResult::TooSlow(limit) => write!(f, "there is no answer within {} milliseconds", limit.as_millis()),
            NoResult::Failed => f.write_str("there is no answer: the hook has failed"),
        }
    }
}

/// Does `work` on a thread of its own, and waits for its result until `limit`. The thread is left to itself then: it
/// may wait for the system, which cannot be interrupted.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoResult> {
    let (done, result) = mpsc::sync_channel(1);
    let started = thread::Builder::new().spawn(move || {
        // After the limit, the result is not needed any more.
        let _ = done.send(work());
    });
    started.map_err(|_| NoResult::Failed)?;
    result.recv_timeout(limit).map_err(|why| match why {
        RecvTimeoutError::Timeout => NoResult::TooSlow(limit),
        RecvTimeoutError::Disconnected => NoResult::Failed,
    })
}
