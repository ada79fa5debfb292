//! What time it is.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

use crate::model::Timestamp;

/// Tells the time, and waits for it. Within one engine it must never go back.
#[async_trait]
pub trait Clock: fmt::Debug + Send + Sync {
    /// What time it is.
    ///
    /// # Errors
    ///
    /// When it cannot be told; then whatever has an end counts as over.
    fn now(&self) -> Result<Timestamp, ClockUnreadable>;

    /// Waits until it is `moment`.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops waiting, and nothing else.
    async fn reaches(&self, moment: Timestamp);
}

/// The time cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockUnreadable;

impl fmt::Display for ClockUnreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the clock cannot be read: it stands before 1970, or beyond what can be counted")
    }
}

impl std::error::Error for ClockUnreadable {}

/// The machine's clock: its wall time when the engine started, and from then on the time that really went by.
///
/// Setting the machine's clock back does not lengthen anything, and a suspended machine does not stop the count.
#[derive(Debug)]
pub struct SystemClock {
    started_at: Result<Timestamp, ClockUnreadable>,
    boot_then: Duration,
}

impl SystemClock {
    /// Starts counting.
    #[expect(clippy::new_without_default, reason = "it reads the clock, which a default should not")]
    pub fn new() -> SystemClock {
        let wall = clock_gettime(ClockId::Realtime);
        let millis = u64::try_from(wall.tv_sec).ok().and_then(|seconds| seconds.checked_mul(1000));
        let part = u64::try_from(wall.tv_nsec / 1_000_000).ok();
        let started_at = millis.zip(part).map(|(whole, part)| Timestamp::from_millis(whole + part));
        SystemClock { started_at: started_at.ok_or(ClockUnreadable), boot_then: since_boot() }
    }
}

/// Counts on while the machine is suspended, and cannot be set.
fn since_boot() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let boot = clock_gettime(clock);
    let seconds = Duration::from_secs(u64::try_from(boot.tv_sec).unwrap_or(0));
    seconds.saturating_add(Duration::from_nanos(u64::try_from(boot.tv_nsec).unwrap_or(0)))
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Result<Timestamp, ClockUnreadable> {
        self.started_at.map(|started_at| started_at.after(since_boot().saturating_sub(self.boot_then)))
    }

    async fn reaches(&self, moment: Timestamp) {
        // In steps: the runtime's timer does not count while the machine is suspended.
        while let Ok(left) = self.now().map(|now| now.until(moment)) {
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(Duration::from_secs(30))).await;
        }
    }
}

/// A clock that stands still until it is told to go on: for tests, which never sleep.
#[derive(Debug)]
pub struct ManualClock {
    now: watch::Sender<Timestamp>,
}

impl ManualClock {
    /// A clock that stands at `moment`.
    pub fn at(moment: Timestamp) -> ManualClock {
        ManualClock { now: watch::Sender::new(moment) }
    }

    /// Lets `duration` go by.
    pub fn advance(&self, duration: Duration) {
        self.now.send_modify(|now| *now = now.after(duration));
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Result<Timestamp, ClockUnreadable> {
        Ok(*self.now.borrow())
    }

    async fn reaches(&self, moment: Timestamp) {
        // The sender lives as long as this clock, so waiting ends only by reaching.
        let _ = self.now.subscribe().wait_for(|now| moment <= *now).await;
    }
}
