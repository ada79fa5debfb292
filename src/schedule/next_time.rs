//! The due times of a schedule in a time zone whose clocks change.

use chrono::{DateTime, NaiveDateTime, TimeDelta};

use super::CronExpression;
use crate::model::{Shown, TimeZone, Timestamp};

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
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let seconds = i64::try_from(after.as_millis() / 1000).ok()?;
        let after = DateTime::from_timestamp(seconds, 0)?.naive_utc();
        // If the clocks go back soon, a local time that is over comes again.
        let (now, soon) = (zone.offset(after), zone.offset(after + LONGEST_CHANGE));
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
    fn moments(&self, local: NaiveDateTime, zone: &TimeZone) -> (Option<NaiveDateTime>, Option<NaiveDateTime>) {
        match zone.moments(local) {
            Shown::Once(moment) => (Some(moment), None),
            Shown::Twice(first, _) if self.names_hours() => (Some(first), None),
            Shown::Twice(first, second) => (Some(first), Some(second)),
            Shown::Never if self.names_hours() => (Some(end_of_gap(local, zone)), None),
            Shown::Never => (None, None),
        }
    }
}

/// Returns the moment at which the clocks go forward over `local`.
fn end_of_gap(local: NaiveDateTime, zone: &TimeZone) -> NaiveDateTime {
    let (before, after) = (zone.offset(local - LONGEST_CHANGE), zone.offset(local + LONGEST_CHANGE));
    // With the later offset, `local` is too early. With the earlier offset, it is too late.
    let (mut early, mut late) = (local - after, local - before);
    while TimeDelta::seconds(1) < late - early {
        let middle = early + TimeDelta::seconds((late - early).num_seconds() / 2);
        if zone.offset(middle) == before { early = middle } else { late = middle }
    }
    late
}

fn timestamp(moment: NaiveDateTime) -> Option<Timestamp> {
    u64::try_from(moment.and_utc().timestamp_millis()).ok().map(Timestamp::from_millis)
}
