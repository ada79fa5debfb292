//! The due times of a schedule in a time zone whose clocks change.

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::Tz;

use super::CronExpression;
use crate::model::Timestamp;

/// The longest search range around a change of clocks. No change repeats more than a day.
const LONGEST_CHANGE: TimeDelta = TimeDelta::hours(26);

impl CronExpression {
    /// Returns the first moment after `after` at which the expression is due in `zone`. The result is `None` if that
    /// moment is beyond the calendar (the year 2100).
    ///
    /// An expression that names hours is due once for each time of day that it names, even if the clocks change. If the
    /// time is skipped, the expression is due at the first moment after the gap. If the time comes twice, it is due the
    /// first time. An expression for every hour follows elapsed time. It is due in both of two repeated hours, and not
    /// in a skipped hour.
    pub fn next(&self, after: Timestamp, zone: Tz) -> Option<Timestamp> {
        let seconds = i64::try_from(after.as_millis() / 1000).ok()?;
        let after = DateTime::from_timestamp(seconds, 0)?.naive_utc();
        // If the clocks go back soon, a local time that is over comes again.
        let (now, soon) = (offset(zone, after), offset(zone, after + LONGEST_CHANGE));
        let back = (now - soon).max(TimeDelta::zero());
        let mut local = self.after_local(after + now - back)?;
        let mut best: Option<NaiveDateTime> = None;
        loop {
            let (first, second) = self.moments(local, zone);
            if let Some(found) = best
                && first.is_none_or(|first| found <= first)
            {
                return timestamp(found);
            }
            let later = [first, second].into_iter().flatten().filter(|moment| after < *moment);
            best = best.into_iter().chain(later).min();
            if back.is_zero()
                && let Some(found) = best
            {
                return timestamp(found);
            }
            match self.after_local(local) {
                Some(next) => local = next,
                None => return best.and_then(timestamp),
            }
        }
    }

    /// Returns the moments at which the clocks show `local` and the expression is due: none, one, or two.
    fn moments(&self, local: NaiveDateTime, zone: Tz) -> (Option<NaiveDateTime>, Option<NaiveDateTime>) {
        match zone.from_local_datetime(&local) {
            MappedLocalTime::Single(moment) => (Some(moment.naive_utc()), None),
            MappedLocalTime::Ambiguous(first, _) if self.names_hours() => (Some(first.naive_utc()), None),
            MappedLocalTime::Ambiguous(first, second) => (Some(first.naive_utc()), Some(second.naive_utc())),
            MappedLocalTime::None if self.names_hours() => (Some(end_of_gap(local, zone)), None),
            MappedLocalTime::None => (None, None),
        }
    }
}

/// Returns the moment at which the clocks go forward over `local`.
fn end_of_gap(local: NaiveDateTime, zone: Tz) -> NaiveDateTime {
    let (before, after) = (offset(zone, local - LONGEST_CHANGE), offset(zone, local + LONGEST_CHANGE));
    // With the later offset, `local` is too early. With the earlier offset, it is too late.
    let (mut early, mut late) = (local - after, local - before);
    while TimeDelta::seconds(1) < late - early {
        let middle = early + TimeDelta::seconds((late - early).num_seconds() / 2);
        if offset(zone, middle) == before { early = middle } else { late = middle }
    }
    late
}

/// Returns the offset of the local clocks from UTC.
fn offset(zone: Tz, moment: NaiveDateTime) -> TimeDelta {
    TimeDelta::seconds(i64::from(zone.offset_from_utc_datetime(&moment).fix().local_minus_utc()))
}

fn timestamp(moment: NaiveDateTime) -> Option<Timestamp> {
    u64::try_from(moment.and_utc().timestamp_millis()).ok().map(Timestamp::from_millis)
}
