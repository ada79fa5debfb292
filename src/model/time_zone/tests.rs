//! Tests of time zones and their changes of clocks.

use super::*;

fn zone(name: &str) -> TimeZone {
    name.parse().unwrap()
}

fn moment(text: &str) -> NaiveDateTime {
    text.parse().unwrap()
}

#[test]
fn every_listed_name_is_a_zone_of_that_name() {
    let names: Vec<_> = TimeZone::names().collect();
    assert!(names.len() > 500, "{}", names.len());
    for name in names {
        assert_eq!(zone(name).name(), name);
    }
}

#[test]
fn a_zone_is_shown_by_its_name() {
    assert_eq!(zone("Europe/Berlin").to_string(), "Europe/Berlin");
    assert_eq!(zone("UTC"), TimeZone::utc());
}

#[test]
fn what_is_no_zone_is_refused_by_name() {
    for name in ["", "Europe/Berlim", "europe/berlin", "Etc/Unknown", "../Europe/Berlin", "+02:00", "EST5EDT4,M3"] {
        let why = name.parse::<TimeZone>().unwrap_err().to_string();
        assert!(why.starts_with(&format!("`{name}` is not a time zone")), "{why}");
    }
}

#[test]
fn a_local_time_is_shown_once_twice_or_never() {
    let berlin = zone("Europe/Berlin");
    assert_eq!(berlin.moments(moment("2026-07-01T12:00:00")), Shown::Once(moment("2026-07-01T10:00:00")));
    assert_eq!(berlin.moments(moment("2026-03-29T02:30:00")), Shown::Never);
    let twice = Shown::Twice(moment("2026-10-25T00:30:00"), moment("2026-10-25T01:30:00"));
    assert_eq!(berlin.moments(moment("2026-10-25T02:30:00")), twice);
}

/// A database without the rules of later years would show winter.
#[test]
fn summer_time_goes_on_after_the_last_listed_change() {
    let moment = moment("2090-07-01T00:00:00");
    assert_eq!(zone("Europe/Berlin").offset(moment), TimeDelta::hours(2));
    assert_eq!(zone("Australia/Lord_Howe").offset(moment), TimeDelta::minutes(630));
}

#[test]
fn moments_beyond_the_calendar_have_the_offset_of_its_end() {
    let utc = TimeZone::utc();
    for moment in [NaiveDateTime::MIN, NaiveDateTime::MAX] {
        assert_eq!(utc.offset(moment), TimeDelta::zero());
        assert_eq!(utc.moments(moment), Shown::Once(moment));
    }
}
