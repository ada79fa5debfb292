//! Tests of cron expressions as people write them.

use bestow::{
    event::Timestamp,
    schedule::{CronExpression, InvalidExpression, TimeZone},
};
use proptest::prelude::*;

fn expression(text: &str) -> CronExpression {
    text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
}

fn wrong(text: &str) -> InvalidExpression {
    text.parse::<CronExpression>().expect_err(text)
}

/// Returns the next moments in UTC, without seconds.
fn next(text: &str, after: &str, count: usize) -> Vec<String> {
    let mut after: Timestamp = after.parse().unwrap();
    let mut all = Vec::new();
    for _ in 0..count {
        after = expression(text).next(after, &TimeZone::utc()).unwrap();
        all.push(after.to_string().trim_end_matches(":00.000Z").to_owned());
    }
    all
}

#[test]
fn the_next_moment_is_after_the_one_given_and_never_the_same() {
    assert_eq!(next("* * * * *", "2026-01-01T00:00:00Z", 2), ["2026-01-01T00:01", "2026-01-01T00:02"]);
    assert_eq!(next("* * * * *", "2026-01-01T00:00:59.999Z", 1), ["2026-01-01T00:01"]);
    assert_eq!(next("5 4 * * *", "2026-01-01T04:05:00Z", 1), ["2026-01-02T04:05"]);
}

#[test]
fn every_field_has_its_say() {
    for (text, expected) in [
        ("30 * * * *", "2026-01-01T00:30"),
        ("0 9 * * *", "2026-01-01T09:00"),
        ("0 0 15 * *", "2026-01-15T00:00"),
        ("0 0 1 6 *", "2026-06-01T00:00"),
        ("0 0 * * 1", "2026-01-05T00:00"),
        ("*/15 * * * *", "2026-01-01T00:15"),
        ("10-12 3 * * *", "2026-01-01T03:10"),
        ("7,3 3 * * *", "2026-01-01T03:03"),
        ("0 22-23/1 * * *", "2026-01-01T22:00"),
        ("50/5 0 * * *", "2026-01-01T00:50"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
    ] {
        assert_eq!(next(text, "2026-01-01T00:00:00Z", 1), [expected], "{text}");
    }
}

#[test]
fn sunday_is_0_and_7_and_has_a_name() {
    for text in ["0 0 * * 0", "0 0 * * 7", "0 0 * * sun", "0 0 * * SUN"] {
        assert_eq!(next(text, "2026-01-01T00:00:00Z", 2), ["2026-01-04T00:00", "2026-01-11T00:00"], "{text}");
    }
    for text in ["0 0 * * 5-7", "0 0 * * fri-sun", "0 0 * * 5,6,0"] {
        let three = ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00"];
        assert_eq!(next(text, "2026-01-01T00:00:00Z", 3), three, "{text}");
    }
    let every_other = ["2026-01-01T00:00", "2026-01-03T00:00", "2026-01-04T00:00", "2026-01-06T00:00"];
    assert_eq!(next("0 0 * * */2", "2025-12-31T00:00:00Z", 4), every_other, "Thursday, Saturday, Sunday, Tuesday");
}

#[test]
fn months_and_days_have_names() {
    assert_eq!(next("0 0 1 mar,SEP *", "2026-01-01T00:00:00Z", 2), ["2026-03-01T00:00", "2026-09-01T00:00"]);
    assert_eq!(next("0 9 * * mon-fri", "2026-01-02T09:00:00Z", 1), ["2026-01-05T09:00"]);
}

#[test]
fn two_restricted_day_fields_are_joined_by_or_and_a_star_makes_it_and() {
    let both = ["2026-02-13T00:00", "2026-02-20T00:00", "2026-02-27T00:00", "2026-03-06T00:00", "2026-03-13T00:00"];
    assert_eq!(next("0 0 13 * 5", "2026-02-12T00:00:00Z", 5), both, "every Friday, and every 13th");
    assert_eq!(next("0 0 13 * 5", "2026-05-11T00:00:00Z", 2), ["2026-05-13T00:00", "2026-05-15T00:00"]);
    assert_eq!(next("0 0 */2 * 5", "2026-01-01T00:00:00Z", 2), ["2026-01-09T00:00", "2026-01-23T00:00"], "odd Fridays");
}

#[test]
fn words_stand_for_five_fields() {
    for (word, expected) in [
        ("@yearly", "2027-01-01T00:00"),
        ("@annually", "2027-01-01T00:00"),
        ("@monthly", "2026-02-01T00:00"),
        ("@weekly", "2026-01-04T00:00"),
        ("@daily", "2026-01-02T00:00"),
        ("@midnight", "2026-01-02T00:00"),
        ("@Hourly", "2026-01-01T01:00"),
    ] {
        assert_eq!(next(word, "2026-01-01T00:00:00Z", 1), [expected], "{word}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_field_and_what_could_stand_there() {
    assert_eq!(wrong("* * * *"), InvalidExpression::Fields(4));
    assert_eq!(wrong("0 * * * * *"), InvalidExpression::Fields(6), "seconds are not among them");
    assert_eq!(wrong(""), InvalidExpression::Fields(0));
    assert!(matches!(wrong("@reboot"), InvalidExpression::Word(word) if word == "@reboot"));
    for (text, name) in [
        ("60 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day of the month"),
        ("* * 32 * *", "day of the month"),
        ("* * * 0 *", "month"),
        ("* * * 13 *", "month"),
        ("* * * * 8", "day of the week"),
        ("x * * * *", "minute"),
        ("*/0 * * * *", "minute"),
        ("20-10 * * * *", "minute"),
        ("5- * * * *", "minute"),
        ("1,,2 * * * *", "minute"),
        ("-1 * * * *", "minute"),
        ("+1 * * * *", "minute"),
        ("1/2/3 * * * *", "minute"),
        ("* mon * * *", "hour"),
        ("* * * * fri-mon", "day of the week"),
        ("? * * * *", "minute"),
        ("99999999999999999999 * * * *", "minute"),
    ] {
        let told = wrong(text);
        assert!(matches!(&told, InvalidExpression::Field { field, .. } if *field == name), "{text}: {told}");
    }
    for text in ["0 0 31 2 *", "0 0 30,31 feb *", "0 0 31 4,6,9,11 *"] {
        assert_eq!(wrong(text), InvalidExpression::Never, "{text}");
    }
}

#[test]
fn the_calendar_ends_with_the_year_2100() {
    let last: Timestamp = "2100-12-31T23:59:00Z".parse().unwrap();
    assert_eq!(expression("* * * * *").next(last, &TimeZone::utc()), None);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[0-9*/,@ a-z-]{0,24}", any in any::<String>()) {
        for text in [text, any] {
            if let Ok(expression) = text.parse::<CronExpression>() {
                prop_assert!(expression.next("2026-01-01T00:00:00Z".parse().unwrap(), &TimeZone::utc()).is_some());
            }
        }
    }
}
