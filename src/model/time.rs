//! Points in time. No code here knows the current time. The `Clock` does.

use std::{fmt, str::FromStr, time::Duration};

use chrono::{DateTime, SecondsFormat, Utc};

use super::serde_text::shown_as_text;

/// The last time that RFC 3339 can express: 9999-12-31T23:59:59.999Z.
const END_OF_TIME: u64 = 253_402_300_799_999;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z. Its text form is RFC 3339, so it is never after the year
/// 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

shown_as_text!(Timestamp);

impl Timestamp {
    /// Creates a time from milliseconds since 1970-01-01T00:00:00Z. A later time than the last one becomes the last
    /// one.
    pub const fn from_millis(millis: u64) -> Timestamp {
        Timestamp(if millis < END_OF_TIME { millis } else { END_OF_TIME })
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the time `duration` later, but never a time after the last one.
    #[must_use]
    pub fn after(self, duration: Duration) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Returns the duration until `later`. It is zero if `later` is in the past.
    pub fn until(self, later: Timestamp) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}

/// The error for a text that is not a time in RFC 3339, as in `2026-11-22T09:30:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a moment is written as in `2026-11-22T09:30:00Z`")]
pub struct InvalidTimestamp;

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let moment = DateTime::parse_from_rfc3339(text).map_err(|_| InvalidTimestamp)?;
        u64::try_from(moment.timestamp_millis()).map(Timestamp::from_millis).map_err(|_| InvalidTimestamp)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(timestamp: Timestamp) -> String {
        timestamp.to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = i64::try_from(self.0).ok().and_then(DateTime::<Utc>::from_timestamp_millis);
        f.write_str(&moment.unwrap_or(DateTime::<Utc>::MAX_UTC).to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
