//! The rate of the requests of one credential: a bucket of tokens that fills at a constant rate.

use std::{
    num::NonZero,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bestow::event::Timestamp;

/// The time in which an empty bucket becomes full. So a bucket holds the requests of this time.
const FILLS: u64 = 2 * SECOND;

/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// The rate at which the bucket of a credential fills.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// The time in which one token comes, in nanoseconds.
    each: u64,
}

impl Rate {
    /// Fills a bucket with so many tokens in a second. A rate above one token in a nanosecond counts as that.
    pub(crate) fn per_second(count: NonZero<u32>) -> Rate {
        Rate { each: (SECOND / u64::from(count.get())).max(1) }
    }
}

/// The bucket of one credential.
///
/// It is stored as the time at which it is full again, in nanoseconds since 1970. A request that takes a token moves
/// that time on. So a request costs one exchange of a number, and an idle bucket costs nothing.
#[derive(Debug, Default)]
pub(crate) struct Bucket(AtomicU64);

impl Bucket {
    /// Takes a token.
    ///
    /// # Errors
    ///
    /// The time until there is one.
    pub(crate) fn take(&self, rate: Rate, now: Timestamp) -> Result<(), Duration> {
        self.taken(rate, now, |wait| wait == 0).map(drop)
    }

    /// Takes the next token, and returns the time until it is there.
    pub(crate) fn reserve(&self, rate: Rate, now: Timestamp) -> Duration {
        let (Ok(wait) | Err(wait)) = self.taken(rate, now, |_| true);
        wait
    }

    /// Takes the next token, if `is_wanted` returns true for the time until it is there, in nanoseconds.
    fn taken(&self, rate: Rate, now: Timestamp, is_wanted: impl Fn(u64) -> bool) -> Result<Duration, Duration> {
        let now = now.as_millis().saturating_mul(1_000_000);
        let empty = now.saturating_add(FILLS);
        // Only a few tokens are reserved. So a clock that was set back locks nobody out for long.
        let latest = empty.saturating_add(FILLS);
        let mut full = self.0.fetch_min(latest, Ordering::Relaxed).min(latest);
        loop {
            let next = full.max(now).saturating_add(rate.each);
            let nanos = next.saturating_sub(empty);
            let wait = Duration::from_nanos(nanos);
            if !is_wanted(nanos) {
                return Err(wait);
            }
            match self.0.compare_exchange_weak(full, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(wait),
                Err(other) => full = other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bestow::event::Timestamp;

    use super::{Bucket, Rate};

    const BEGIN: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    fn rate(count: u32) -> Rate {
        Rate::per_second(count.try_into().unwrap())
    }

    fn taken(bucket: &Bucket, rate: Rate, now: Timestamp) -> usize {
        (0..100_000).take_while(|_| bucket.take(rate, now).is_ok()).count()
    }

    #[test]
    fn a_full_bucket_holds_the_requests_of_two_seconds_and_fills_at_its_rate() {
        let (bucket, rate) = (Bucket::default(), rate(100));
        assert_eq!(taken(&bucket, rate, BEGIN), 200);
        assert_eq!(taken(&bucket, rate, BEGIN), 0);
        assert_eq!(taken(&bucket, rate, BEGIN.after(Duration::from_millis(50))), 5);
        assert_eq!(taken(&bucket, rate, BEGIN.after(Duration::from_secs(3_600))), 200, "it holds no more");
    }

    #[test]
    fn a_request_without_a_token_learns_the_time_until_there_is_one() {
        let (bucket, rate) = (Bucket::default(), rate(100));
        taken(&bucket, rate, BEGIN);
        let wait = bucket.take(rate, BEGIN).unwrap_err();
        assert_eq!(wait, Duration::from_millis(10));
        assert_eq!(bucket.take(rate, BEGIN.after(wait)), Ok(()));
    }

    #[test]
    fn tokens_that_are_reserved_come_one_after_the_other() {
        let (bucket, rate) = (Bucket::default(), rate(100));
        assert_eq!(bucket.reserve(rate, BEGIN), Duration::ZERO);
        taken(&bucket, rate, BEGIN);
        assert_eq!(bucket.reserve(rate, BEGIN), Duration::from_millis(10));
        assert_eq!(bucket.reserve(rate, BEGIN), Duration::from_millis(20));
        assert_eq!(bucket.take(rate, BEGIN.after(Duration::from_millis(20))), Err(Duration::from_millis(10)));
        assert_eq!(bucket.take(rate, BEGIN.after(Duration::from_millis(30))), Ok(()));
    }

    #[test]
    fn a_clock_that_goes_back_locks_a_credential_out_for_two_seconds_at_most() {
        let (bucket, rate) = (Bucket::default(), rate(100));
        taken(&bucket, rate, BEGIN.after(Duration::from_secs(86_400)));
        let wait = bucket.take(rate, BEGIN).unwrap_err();
        assert_eq!(wait, Duration::from_millis(2_010));
        assert_eq!(bucket.take(rate, BEGIN.after(wait)), Ok(()));
    }
}
