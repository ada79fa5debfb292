//! When a schedule is due in a place whose clocks change.

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::Tz;

use super::CronExpression;
use crate::model::Timestamp;

/// No change of clocks repeats more than a day.
const LONGEST_CHANGE: TimeDelta = TimeDelta::hours(26);

impl CronExpression {
    /// The first moment after `after` at which this is due where clocks show the time of `zone`; none if that is too far away
    /// for the calendar (the year 2100).
    ///
    /// When clocks change, what names hours happens once for each time of day that it names: if the time is skipped, at
    /// the first moment after the gap; if it comes twice, the first time. What is due in every hour follows the time that
    /// really goes by: it is due in both of two equal hours, and not in an hour that there is not.
    pub fn next(&self, after: Timestamp, zone: Tz) -> Option<Timestamp> {
        let seconds = i64::try_from(after.as_millis() / 1000).ok()?;
        let after = DateTime::from_timestamp(seconds, 0)?.naive_utc();
        // Where clocks go back soon, a time of day that is over comes again.
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

    /// When clocks show `local` and this is due: never, once, or twice.
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

/// The moment at which clocks that skip `local` go forward.
fn end_of_gap(local: NaiveDateTime, zone: Tz) -> NaiveDateTime {
    let (before, after) = (offset(zone, local - LONGEST_CHANGE), offset(zone, local + LONGEST_CHANGE));
    // By the clocks of afterwards it is not time yet, by those of before it is over.
    let (mut early, mut late) = (local - after, local - before);
    while TimeDelta::seconds(1) < late - early {
        let middle = early + TimeDelta::seconds((late - early).num_seconds() / 2);
        if offset(zone, middle) == before { early = middle } else { late = middle }
    }
    late
}

/// How far clocks are ahead of UTC.
fn offset(zone: Tz, moment: NaiveDateTime) -> TimeDelta {
    TimeDelta::seconds(i64::from(zone.offset_from_utc_datetime(&moment).fix().local_minus_utc()))
}

fn timestamp(moment: NaiveDateTime) -> Option<Timestamp> {
    u64::try_from(moment.and_utc().timestamp_millis()).ok().map(Timestamp::from_millis)
}
