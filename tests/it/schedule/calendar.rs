//! Compares a year of schedules with a calculator that checks every minute of the year and contains the clock changes
//! as constants.

use bestow::{
    event::Timestamp,
    schedule::{CronExpression, TimeZone},
};
use chrono::{Datelike, NaiveDate, NaiveDateTime, TimeDelta, Timelike};

/// A place: its offset in winter and in summer, and the moments in UTC at which summer begins and ends in 2026.
struct Place {
    zone: TimeZone,
    winter: i64,
    summer: i64,
    begins: NaiveDateTime,
    ends: NaiveDateTime,
}

fn zone(name: &str) -> TimeZone {
    name.parse().unwrap()
}

fn moment(month: u32, day: u32, hour: u32, minute: u32) -> NaiveDateTime {
    NaiveDate::from_ymd_opt(2026, month, day).unwrap().and_hms_opt(hour, minute, 0).unwrap()
}

/// Returns New York: changes on the second Sunday of March and the first Sunday of November, at two in the morning.
fn new_york() -> Place {
    let (begins, ends) = (moment(3, 8, 7, 0), moment(11, 1, 6, 0));
    Place { zone: zone("America/New_York"), winter: -300, summer: -240, begins, ends }
}

/// Returns Berlin: changes on the last Sundays of March and October, at one in UTC.
fn berlin() -> Place {
    let (begins, ends) = (moment(3, 29, 1, 0), moment(10, 25, 1, 0));
    Place { zone: zone("Europe/Berlin"), winter: 60, summer: 120, begins, ends }
}

/// Returns Lord Howe: changes by half an hour, on the southern hemisphere, so summer spans the new year.
fn lord_howe() -> Place {
    // The summer of 2025 ends on the first Sunday of April. The next one begins on the first Sunday of October. Both
    // changes are at two.
    let (ends, begins) = (moment(4, 4, 15, 0), moment(10, 3, 15, 30));
    Place { zone: zone("Australia/Lord_Howe"), winter: 630, summer: 660, begins, ends }
}

impl Place {
    fn offset(&self, moment: NaiveDateTime) -> TimeDelta {
        let within = |from, to| from <= moment && moment < to;
        let summer =
            if self.begins < self.ends { within(self.begins, self.ends) } else { !within(self.ends, self.begins) };
        TimeDelta::minutes(if summer { self.summer } else { self.winter })
    }

    /// Returns the moments at which clocks show `local`, earliest first.
    fn moments(&self, local: NaiveDateTime) -> Vec<NaiveDateTime> {
        let possible = [self.summer, self.winter].map(TimeDelta::minutes);
        let shown = possible.into_iter().filter(|offset| self.offset(local - *offset) == *offset);
        let mut moments: Vec<_> = shown.map(|offset| local - offset).collect();
        moments.sort();
        moments
    }
}

type Due = fn(&NaiveDateTime) -> bool;

fn minutes_of_the_year() -> impl Iterator<Item = NaiveDateTime> {
    let start = moment(1, 1, 0, 0);
    (0..365 * 24 * 60).map(move |minute| start + TimeDelta::minutes(minute))
}

/// Returns the moments of a schedule that names hours: each time of day once, at its first occurrence or at the end of
/// the gap.
fn by_the_clock(place: &Place, due: Due) -> Vec<NaiveDateTime> {
    let times = minutes_of_the_year().filter(due);
    let mut all: Vec<_> = times.map(|local| place.moments(local).first().copied().unwrap_or(place.begins)).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns the moments of a schedule that is due in every hour: each moment at which clocks show a due time.
fn by_what_goes_by(place: &Place, due: Due) -> Vec<NaiveDateTime> {
    let start = moment(1, 1, 0, 0);
    let mut all = Vec::new();
    let mut moment = start - TimeDelta::days(1);
    while moment <= start + TimeDelta::days(366) {
        let local = moment + place.offset(moment);
        if local.year() == 2026 && due(&local) {
            all.push(moment);
        }
        moment += TimeDelta::minutes(1);
    }
    all
}

fn calculated(text: &str, place: &Place) -> Vec<NaiveDateTime> {
    let expression: CronExpression = text.parse().unwrap();
    let mut now = Timestamp::from_millis(1_766_000_000_000); // December 2025
    let mut all = Vec::new();
    while let Some(next) = expression.next(now, &place.zone) {
        let moment = chrono::DateTime::from_timestamp_millis(next.as_millis() as i64).unwrap().naive_utc();
        let local = moment + place.offset(moment);
        if local.year() > 2026 {
            break;
        }
        if local.year() == 2026 {
            all.push(moment);
        }
        now = next;
    }
    all
}

const BY_THE_CLOCK: [(&str, Due); 7] = [
    ("30 2 * * *", |t| t.hour() == 2 && t.minute() == 30),
    ("*/20 1-3 * * *", |t| (1..=3).contains(&t.hour()) && t.minute() % 20 == 0),
    ("15 1 * * *", |t| t.hour() == 1 && t.minute() == 15),
    ("0 */2 * * *", |t| t.hour() % 2 == 0 && t.minute() == 0),
    ("59 1,2 * * 0", |t| [1, 2].contains(&t.hour()) && t.minute() == 59 && t.weekday().num_days_from_sunday() == 0),
    ("0 2 25 10 mon", |t| {
        t.hour() == 2
            && t.minute() == 0
            && t.month() == 10
            && (t.day() == 25 || t.weekday().num_days_from_sunday() == 1)
    }),
    ("@weekly", |t| t.hour() == 0 && t.minute() == 0 && t.weekday().num_days_from_sunday() == 0),
];

const EVERY_HOUR: [(&str, Due); 4] = [
    ("@hourly", |t| t.minute() == 0),
    ("*/7 * * * *", |t| t.minute() % 7 == 0),
    ("45 */1 * mar,apr,oct,nov *", |t| t.minute() == 45 && [3, 4, 10, 11].contains(&t.month())),
    ("* 0-23 8,25,29 * *", |t| [8, 25, 29].contains(&t.day())),
];

#[test]
fn a_year_is_what_a_naive_calculator_says_in_zones_whose_clocks_change() {
    for place in [new_york(), berlin(), lord_howe()] {
        for (text, due) in BY_THE_CLOCK {
            let expected = by_the_clock(&place, due);
            assert!(expected.len() > 4, "{text}");
            assert_eq!(calculated(text, &place), expected, "{text} in {}", place.zone);
        }
        for (text, due) in EVERY_HOUR {
            let expected = by_what_goes_by(&place, due);
            assert!(expected.len() > 4, "{text}");
            assert_eq!(calculated(text, &place), expected, "{text} in {}", place.zone);
        }
    }
}

#[test]
fn a_skipped_time_is_due_at_the_end_of_the_gap_and_once() {
    let march: Vec<_> = calculated("0,30 2 29 3 *", &berlin());
    assert_eq!(march, [moment(3, 29, 1, 0)], "both at three in the morning, which is one in UTC");
}

#[test]
fn a_repeated_time_is_due_the_first_time() {
    assert_eq!(calculated("30 2 25 10 *", &berlin()), [moment(10, 25, 0, 30)]);
    assert_eq!(calculated("30 * 25 10 *", &berlin()).len(), 25, "but each of 25 hours has its half");
}

/// Between the two equal hours, the rest of the second one is still to come.
#[test]
fn asking_within_a_repeated_hour_finds_what_comes_in_its_second_pass() {
    let expression: CronExpression = "10 * * * *".parse().unwrap();
    let zone = &zone("Europe/Berlin");
    let first: Timestamp = "2026-10-25T00:40:00Z".parse().unwrap();
    assert_eq!(expression.next(first, zone), Some("2026-10-25T01:10:00Z".parse().unwrap()));
    let second: Timestamp = "2026-10-25T01:40:00Z".parse().unwrap();
    assert_eq!(expression.next(second, zone), Some("2026-10-25T02:10:00Z".parse().unwrap()));
}

#[test]
fn a_day_whose_midnight_is_skipped_still_begins() {
    // Havana: clocks change from midnight to one on the second Sunday of March.
    let expression: CronExpression = "@daily".parse().unwrap();
    let before: Timestamp = "2026-03-07T12:00:00Z".parse().unwrap();
    assert_eq!(expression.next(before, &zone("America/Havana")), Some("2026-03-08T05:00:00Z".parse().unwrap()));
}
