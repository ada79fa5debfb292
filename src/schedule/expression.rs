//! Cron expressions: five fields for minute, hour, day of the month, month, and day of the week.
//!
//! This module parses the fields, because people write them differently from the crate `cron`. That crate reads seconds
//! too, counts the days of the week from 1, and requires both day fields to match. The search through the calendar uses
//! that crate.

use std::{collections::BTreeSet, fmt, str::FromStr, sync::Arc};

use chrono::{DateTime, NaiveDateTime};
use cron::Schedule;

/// A cron expression: five fields, or one of `@yearly`, `@monthly`, `@weekly`, `@daily`, `@hourly` and their other
/// names.
///
/// Each field is `*`, a number, a range `a-b`, one of these with a step `/n`, or a list of them. Months and days of the
/// week have names of three letters. Sunday is 0 and 7. A day field is restricted if it does not start with `*`. If
/// both day fields are restricted, a day matches if one of them names it, as in Vixie's cron. Otherwise a day matches
/// if both fields match.
///
/// ```
/// # #[cfg(feature = "schedule")] {
/// use bestow::schedule::CronExpression;
/// assert!("30 9 * * mon-fri".parse::<CronExpression>().is_ok());
/// assert!("0 0 31 2 *".parse::<CronExpression>().is_err(), "there is no such day");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CronExpression {
    text: Arc<str>,
    /// The schedules of the crate. The expression is due when one of them is.
    any_of: Vec<Schedule>,
    names_hours: bool,
}

/// The reason for which a text is not a [`CronExpression`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidExpression {
    /// The text has this number of fields instead of five.
    #[error(
        "a schedule has five fields (minute, hour, day of the month, month, day of the week), not {}{}",
        .0,
        if *.0 == 6 { ": leave the seconds out" } else { "" }
    )]
    Fields(usize),
    /// The word after `@` is not known.
    #[error(
        "`{}` is not a schedule: use @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly",
        .0.escape_debug()
    )]
    Word(String),
    /// One field is not valid.
    #[error("the {field} `{}` is not {expected}", written.escape_debug())]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The text of the field.
        written: String,
        /// The texts that the field can have.
        expected: String,
    },
    /// Every field is valid, but no day matches them.
    #[error("this time never comes: no such month has such a day")]
    Never,
}

impl fmt::Display for CronExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for CronExpression {
    fn eq(&self, other: &CronExpression) -> bool {
        self.text == other.text
    }
}

impl Eq for CronExpression {}

/// The values that a field can have.
struct Field {
    name: &'static str,
    first: u32,
    last: u32,
    /// Names of the values, starting with the first number.
    names: &'static [&'static str],
}

const MINUTE: Field = Field { name: "minute", first: 0, last: 59, names: &[] };
const HOUR: Field = Field { name: "hour", first: 0, last: 23, names: &[] };
const DAY: Field = Field { name: "day of the month", first: 1, last: 31, names: &[] };
const MONTH: Field = Field {
    name: "month",
    first: 1,
    last: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
/// While a field is parsed, Sunday is 0 at the start of a range and 7 at its end.
const WEEKDAY: Field =
    Field { name: "day of the week", first: 0, last: 7, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

const WORDS: [(&str, &str); 7] = [
    ("@annually", "0 0 1 1 *"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("@midnight", "0 0 * * *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@yearly", "0 0 1 1 *"),
];

impl FromStr for CronExpression {
    type Err = InvalidExpression;

    fn from_str(text: &str) -> Result<Self, InvalidExpression> {
        let text = text.trim();
        let known = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, fields)| *fields);
        if known.is_none() && text.starts_with('@') {
            return Err(InvalidExpression::Word(text.chars().take(40).collect()));
        }
        let fields: Vec<&str> = known.unwrap_or(text).split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(InvalidExpression::Fields(fields.len()));
        };
        let hours = HOUR.read(hour)?;
        let (minutes, months) = (MINUTE.read(minute)?, MONTH.read(month)?);
        let days = DAY.read(day)?;
        let weekdays: BTreeSet<u32> = WEEKDAY.read(weekday)?.into_iter().map(|day| day % 7).collect();
        let schedule = |day: &str, weekday: &str| {
            let fields = format!("0 {} {} {day} {} {weekday}", list(&minutes, 0), list(&hours, 0), list(&months, 0));
            // The fields are within their ranges, so the crate accepts them.
            fields.parse::<Schedule>().map_err(|_| InvalidExpression::Never)
        };
        // The crate counts Sunday as 1.
        let (day_list, weekday_list) = (list(&days, 0), list(&weekdays, 1));
        let any_of = if day.starts_with('*') || weekday.starts_with('*') {
            vec![schedule(&day_list, &weekday_list)?]
        } else {
            vec![schedule(&day_list, "*")?, schedule("*", &weekday_list)?]
        };
        let names_hours = hours.len() < 24;
        let expression = CronExpression { text: text.into(), any_of, names_hours };
        let comes = expression.after_local(DateTime::UNIX_EPOCH.naive_utc()).is_some();
        if comes { Ok(expression) } else { Err(InvalidExpression::Never) }
    }
}

impl CronExpression {
    /// Returns the next local date and time that the fields match, after `local`. Time zones are not considered.
    pub(super) fn after_local(&self, local: NaiveDateTime) -> Option<NaiveDateTime> {
        let next = |schedule: &Schedule| schedule.after(&local.and_utc()).next().map(|next| next.naive_utc());
        self.any_of.iter().filter_map(next).min()
    }

    /// Returns true if the expression names some hours of the day, and not every hour.
    pub(super) fn names_hours(&self) -> bool {
        self.names_hours
    }
}

fn list(numbers: &BTreeSet<u32>, offset: u32) -> String {
    numbers.iter().map(|number| (number + offset).to_string()).collect::<Vec<_>>().join(",")
}

impl Field {
    fn read(&self, written: &str) -> Result<BTreeSet<u32>, InvalidExpression> {
        let mut all = BTreeSet::new();
        for part in written.split(',') {
            let numbers = self.part(part).ok_or_else(|| self.unlike(written))?;
            all.extend(numbers);
        }
        Ok(all)
    }

    fn part(&self, part: &str) -> Option<impl Iterator<Item = u32> + use<>> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(number(step).filter(|step| *step > 0)?)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            None if range == "*" => (self.first, self.last_of_all()),
            None => {
                let first = self.value(range)?;
                // `5/15` means every 15 from 5 on.
                (first, if step.is_some() { self.last_of_all() } else { first })
            }
            Some((first, last)) => (self.value(first)?, self.end(last)?),
        };
        let step = usize::try_from(step.unwrap_or(1)).ok()?;
        (first <= last).then(|| (first..=last).step_by(step))
    }

    /// Returns the last value for `*` and for open steps. Sunday must not occur twice, because the steps would become
    /// uneven.
    fn last_of_all(&self) -> u32 {
        if self.last == 7 { 6 } else { self.last }
    }

    /// Parses the end of a range, which may be Sunday.
    fn end(&self, text: &str) -> Option<u32> {
        let is_sunday = self.last == 7 && text.eq_ignore_ascii_case("sun");
        if is_sunday { Some(7) } else { self.value(text) }
    }

    fn value(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().zip(self.first..).find(|(name, _)| name.eq_ignore_ascii_case(text));
        let value = named.map(|(_, value)| value).or_else(|| number(text))?;
        (self.first..=self.last).contains(&value).then_some(value)
    }

    fn unlike(&self, written: &str) -> InvalidExpression {
        let names = match (self.names.first(), self.names.last()) {
            (Some(first), Some(last)) => format!(" (or {first} to {last})"),
            _ => String::new(),
        };
        let expected = format!(
            "a list of numbers from {} to {}{names}, ranges from low to high, or `*`, each with a step above zero or \
             none",
            self.first, self.last
        );
        InvalidExpression::Field { field: self.name, written: written.chars().take(80).collect(), expected }
    }
}

/// Parses a number of at most four digits, without a sign.
fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}
