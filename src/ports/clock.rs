//! Clocks: the current time, and waiting for a time.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

use crate::model::Timestamp;

/// A clock. Within one engine, its time must never go back.
#[async_trait]
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the current time.
    ///
    /// # Errors
    ///
    /// Fails if the time cannot be read. Everything with an end time then counts as expired.
    fn now(&self) -> Result<Timestamp, ClockUnreadable>;

    /// Waits until the time is `moment`.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the wait, and has no other effect.
    async fn reaches(&self, moment: Timestamp);

    /// Returns the wall time, which schedules use. People and their machines set it, so it may jump forward and back.
    /// The validity of permissions does not depend on it.
    ///
    /// # Errors
    ///
    /// Fails if the time cannot be read.
    fn wall(&self) -> Result<Timestamp, ClockUnreadable> {
        self.now()
    }

    /// Waits until the wall time is `moment`, or until somebody sets the wall time.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the wait, and has no other effect.
    async fn wall_reaches(&self, moment: Timestamp) {
        self.reaches(moment).await;
    }
}

/// The error for a clock that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the clock cannot be read: its time is before 1970 or too large")]
pub struct ClockUnreadable;

/// The clock of the machine: the wall time at the start of the engine, plus the elapsed time.
///
/// Setting the wall time back does not extend any validity. The elapsed time includes the time in which the machine is
/// suspended.
#[derive(Debug)]
pub struct SystemClock {
    started_at: Result<Timestamp, ClockUnreadable>,
    boot_then: Duration,
}

impl SystemClock {
    /// Creates a clock that starts at the current wall time.
    #[expect(clippy::new_without_default, reason = "it reads the clock, which a default should not")]
    pub fn new() -> SystemClock {
        SystemClock { started_at: wall_time(), boot_then: since_boot() }
    }

    /// Returns the difference between the wall time and the time since boot, in milliseconds. It changes when somebody
    /// sets the wall time.
    fn offset(&self) -> Option<i128> {
        let wall = i128::from(self.wall().ok()?.as_millis());
        Some(wall - i128::try_from(since_boot().as_millis()).ok()?)
    }
}

fn wall_time() -> Result<Timestamp, ClockUnreadable> {
    let wall = clock_gettime(ClockId::Realtime);
    let millis = u64::try_from(wall.tv_sec).ok().and_then(|seconds| seconds.checked_mul(1000));
    let part = u64::try_from(wall.tv_nsec / 1_000_000).ok();
    millis.zip(part).map(|(whole, part)| Timestamp::from_millis(whole + part)).ok_or(ClockUnreadable)
}

/// The longest interval between two readings of the clock during a wait.
const STEP: Duration = Duration::from_secs(30);

/// The least change of the offset, in milliseconds, that means that somebody set the wall time. A smaller change is an
/// automatic correction.
const SET: i128 = 2_000;

/// Returns the time since boot. It includes suspended time, and cannot be set.
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
        // The wait is split into steps, because the runtime's timer does not count while the machine is suspended.
        while let Ok(left) = self.now().map(|now| now.until(moment)) {
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(STEP)).await;
        }
    }

    fn wall(&self) -> Result<Timestamp, ClockUnreadable> {
        wall_time()
    }

    async fn wall_reaches(&self, moment: Timestamp) {
        let before = self.offset();
        loop {
            let is_set = self.offset().zip(before).is_none_or(|(now, before)| SET < (now - before).abs());
            let left = match self.wall() {
                Ok(_) if is_set => return,
                Ok(now) => now.until(moment),
                // The clock may be readable again later.
                Err(ClockUnreadable) => STEP,
            };
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(STEP)).await;
        }
    }
}

/// A clock that advances only on request. It is for tests, which never sleep.
#[derive(Debug)]
pub struct ManualClock {
    shown: watch::Sender<Moment>,
}

/// The state of a [`ManualClock`].
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Timestamp,
    wall: Timestamp,
    /// The number of times that the wall time was set.
    times_set: u64,
}

impl ManualClock {
    /// Creates a clock at `moment`.
    pub fn at(moment: Timestamp) -> ManualClock {
        ManualClock { shown: watch::Sender::new(Moment { now: moment, wall: moment, times_set: 0 }) }
    }

    /// Advances the time and the wall time by `duration`.
    pub fn advance(&self, duration: Duration) {
        self.shown.send_modify(|shown| {
            (shown.now, shown.wall) = (shown.now.after(duration), shown.wall.after(duration));
        });
    }

    /// Sets the wall time, like a person who corrects the machine's clock. No time elapses.
    pub fn set_wall(&self, moment: Timestamp) {
        self.shown.send_modify(|shown| (shown.wall, shown.times_set) = (moment, shown.times_set + 1));
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Result<Timestamp, ClockUnreadable> {
        Ok(self.shown.borrow().now)
    }

    async fn reaches(&self, moment: Timestamp) {
        // The sender lives as long as this clock, so the wait ends only when the time is reached.
        let _ = self.shown.subscribe().wait_for(|shown| moment <= shown.now).await;
    }

    fn wall(&self) -> Result<Timestamp, ClockUnreadable> {
        Ok(self.shown.borrow().wall)
    }

    async fn wall_reaches(&self, moment: Timestamp) {
        let mut shown = self.shown.subscribe();
        let times_set = shown.borrow().times_set;
        let _ = shown.wait_for(|shown| moment <= shown.wall || shown.times_set != times_set).await;
    }
}
