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

    /// The time that clocks on the wall show, by which schedules go. People and their machines set it, so it may jump, also
    /// back. No right depends on it.
    ///
    /// # Errors
    ///
    /// When it cannot be told.
    fn wall(&self) -> Result<Timestamp, ClockUnreadable> {
        self.now()
    }

    /// Waits until clocks on the wall show `moment`, or until they were set.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops waiting, and nothing else.
    async fn wall_reaches(&self, moment: Timestamp) {
        self.reaches(moment).await;
    }
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
        SystemClock { started_at: wall_time(), boot_then: since_boot() }
    }

    /// The difference between the wall time and the time that went by, in milliseconds: another one once the wall time is set.
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

/// The longest time for which a clock is not looked at while somebody waits for it.
const STEP: Duration = Duration::from_secs(30);

/// A wall clock that is this much off from where it was has been set. Less is the machine keeping it right.
const SET: i128 = 2_000;

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
                // It may be told again later.
                Err(ClockUnreadable) => STEP,
            };
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(STEP)).await;
        }
    }
}

/// A clock that stands still until it is told to go on: for tests, which never sleep.
#[derive(Debug)]
pub struct ManualClock {
    shown: watch::Sender<Moment>,
}

/// A moment of a [`ManualClock`].
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Timestamp,
    wall: Timestamp,
    /// How often the wall time was set.
    times_set: u64,
}

impl ManualClock {
    /// A clock that stands at `moment`.
    pub fn at(moment: Timestamp) -> ManualClock {
        ManualClock { shown: watch::Sender::new(Moment { now: moment, wall: moment, times_set: 0 }) }
    }

    /// Lets `duration` go by.
    pub fn advance(&self, duration: Duration) {
        self.shown.send_modify(|shown| {
            (shown.now, shown.wall) = (shown.now.after(duration), shown.wall.after(duration));
        });
    }

    /// Sets the wall time, as somebody does who corrects the machine's clock. No time goes by.
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
        // The sender lives as long as this clock, so waiting ends only by reaching.
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
