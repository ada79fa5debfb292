//! Reads one table of the file key by key, and records the keys that were read. All other keys are unknown.

use std::{ops::RangeInclusive, time::Duration};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    Problem,
    diagnostics::{Diagnostics, did_you_mean, quoted},
};
use crate::model::parse_duration;

/// A value and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<T> {
    pub(super) offset: usize,
    pub(super) value: T,
}

/// One table of the file, while it is read.
#[derive(Debug)]
pub(super) struct Table<'t> {
    /// The name of the table in messages: `[agents.lead]`.
    name: String,
    entries: &'t DeTable<'t>,
    known: Vec<&'static str>,
}

impl<'t> Table<'t> {
    pub(super) fn new(name: impl Into<String>, entries: &'t DeTable<'t>) -> Table<'t> {
        Table { name: name.into(), entries, known: Vec::new() }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Returns the position of the value under `key`.
    pub(super) fn offset_of(&self, key: &str) -> usize {
        self.entries.get(key).map(|value| value.span().start).unwrap_or_default()
    }

    fn take(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.entries.get(key)
    }

    /// Reads a table.
    pub(super) fn table(&mut self, key: &'static str, found: &mut Diagnostics<'_>) -> Option<&'t DeTable<'t>> {
        let value = self.take(key)?;
        found.ok(value.span().start, as_table(key, value.get_ref()))
    }

    /// Reads a text.
    pub(super) fn text(&mut self, key: &'static str, found: &mut Diagnostics<'_>) -> Option<At<&'t str>> {
        let value = self.take(key)?;
        let offset = value.span().start;
        let text = value.get_ref().as_str().ok_or_else(|| unlike(key, "a text in quotes", value.get_ref()));
        found.ok(offset, text).map(|value| At { offset, value })
    }

    /// Reads a list of texts. Invalid elements are reported and left out.
    pub(super) fn texts(&mut self, key: &'static str, found: &mut Diagnostics<'_>) -> Vec<At<&'t str>> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let list = value.get_ref().as_array().ok_or_else(|| unlike(key, "a list of texts", value.get_ref()));
        let Some(list) = found.ok(value.span().start, list) else { return Vec::new() };
        let mut texts = Vec::with_capacity(list.len());
        for value in list.iter() {
            let offset = value.span().start;
            let text = value.get_ref().as_str().ok_or_else(|| unlike(key, "a list of texts", value.get_ref()));
            texts.extend(found.ok(offset, text).map(|value| At { offset, value }));
        }
        texts
    }

    /// Reads a list of tables, each with its position. Invalid elements are reported and left out.
    pub(super) fn tables(&mut self, key: &'static str, found: &mut Diagnostics<'_>) -> Vec<(usize, &'t DeTable<'t>)> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let list = value.get_ref().as_array().ok_or_else(|| unlike(key, "a list of tables", value.get_ref()));
        let Some(list) = found.ok(value.span().start, list) else { return Vec::new() };
        let mut tables = Vec::with_capacity(list.len());
        for value in list.iter() {
            let offset = value.span().start;
            tables.extend(found.ok(offset, as_table(key, value.get_ref())).map(|table| (offset, table)));
        }
        tables
    }

    /// Reads a text, or a non-empty list of texts. Returns none if the value is missing, or is invalid, which is
    /// reported.
    pub(super) fn one_or_more(&mut self, key: &'static str, found: &mut Diagnostics<'_>) -> Option<Vec<At<&'t str>>> {
        let expected = "a text or a list of texts";
        let value = self.take(key)?;
        let offset = value.span().start;
        if let Some(text) = value.get_ref().as_str() {
            return Some(vec![At { offset, value: text }]);
        }
        let list = value.get_ref().as_array().ok_or_else(|| unlike(key, expected, value.get_ref()));
        let list = found.ok(offset, list)?;
        if list.is_empty() {
            let problem = Problem::new(format!("`{key}` must not be an empty list"));
            found.add(offset, problem.help("remove it instead"));
            return None;
        }
        let mut texts = Vec::with_capacity(list.len());
        for value in list.iter() {
            let offset = value.span().start;
            let text = value.get_ref().as_str().ok_or_else(|| unlike(key, expected, value.get_ref()));
            texts.extend(found.ok(offset, text).map(|value| At { offset, value }));
        }
        (texts.len() == list.len()).then_some(texts)
    }

    /// Returns the value under `key`, of any type.
    pub(super) fn value(&mut self, key: &'static str) -> Option<At<&'t DeValue<'t>>> {
        let value = self.take(key)?;
        Some(At { offset: value.span().start, value: value.get_ref() })
    }

    /// Reads one of the given words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        found: &mut Diagnostics<'_>,
    ) -> Option<T> {
        let text = self.text(key, found)?;
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(*meaning);
        }
        let all = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let mut problem = Problem::new(format!("`{key}` must be one of {all}, not {}", quoted(text.value)));
        problem.help = did_you_mean(text.value, words.iter().map(|(word, _)| *word));
        found.add(text.offset, problem);
        None
    }

    /// Reads `true` or `false`.
    pub(super) fn flag(&mut self, key: &'static str, found: &mut Diagnostics<'_>) -> Option<bool> {
        let value = self.take(key)?;
        let flag = value.get_ref().as_bool().ok_or_else(|| unlike(key, "`true` or `false`", value.get_ref()));
        found.ok(value.span().start, flag)
    }

    /// Reads a whole number within `range`.
    pub(super) fn number<T>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<T>,
        found: &mut Diagnostics<'_>,
    ) -> Option<T>
    where
        T: Copy + PartialOrd + std::fmt::Display + TryFrom<i64>,
    {
        let value = self.take(key)?;
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let number = match value.get_ref().as_integer() {
            Some(written) => i64::from_str_radix(written.as_str(), written.radix())
                .ok()
                .and_then(|number| T::try_from(number).ok())
                .filter(|number| range.contains(number))
                .ok_or_else(|| Problem::new(format!("`{key}` must be {expected}, not {}", quoted(written.as_str())))),
            None => Err(unlike(key, &expected, value.get_ref())),
        };
        found.ok(value.span().start, number)
    }

    /// Reads a duration of at least `shortest`.
    pub(super) fn duration(
        &mut self,
        key: &'static str,
        shortest: Duration,
        found: &mut Diagnostics<'_>,
    ) -> Option<Duration> {
        let value = self.take(key)?;
        let duration = match value.get_ref().as_str() {
            Some(text) => match parse_duration(text) {
                Ok(duration) if duration >= shortest => Ok(duration),
                Ok(_) if shortest <= Duration::from_millis(1) => Err(Problem::new(format!("`{key}` must not be zero"))),
                Ok(_) => Err(Problem::new(format!("`{key}` must be at least {shortest:?}"))),
                Err(why) => Err(Problem::new(format!("`{key}` must be {why}, not {}", quoted(text)))),
            },
            None => Err(unlike(key, "a duration in quotes, as in `\"5m\"`", value.get_ref())),
        };
        found.ok(value.span().start, duration)
    }

    /// Reads a duration within `range`, which a message shows as `shown`.
    pub(super) fn duration_within(
        &mut self,
        key: &'static str,
        range: RangeInclusive<Duration>,
        shown: &str,
        found: &mut Diagnostics<'_>,
    ) -> Option<Duration> {
        let offset = self.entries.get(key).map(|value| value.span().start);
        let duration = self.duration(key, Duration::ZERO, found)?;
        if range.contains(&duration) {
            return Some(duration);
        }
        found.add(offset?, Problem::new(format!("`{key}` must be from {shown}")));
        None
    }

    /// Reports every key that was not read.
    pub(super) fn finish(self, found: &mut Diagnostics<'_>) {
        #[cfg(test)]
        super::tests::finished(&self.name, &self.known);
        for (key, value) in self.entries {
            if self.known.contains(&key.get_ref().as_ref()) {
                continue;
            }
            let kind = if value.get_ref().is_table() { "table" } else { "key" };
            let mut problem = Problem::new(format!("unknown {kind} {} in {}", quoted(key.get_ref()), self.name));
            problem.help = did_you_mean(key.get_ref(), self.known.iter().copied());
            found.add(key.span().start, problem);
        }
    }
}

/// Returns `value` as a table.
pub(super) fn as_table<'t>(name: &str, value: &'t DeValue<'t>) -> Result<&'t DeTable<'t>, Problem> {
    value.as_table().ok_or_else(|| unlike(name, "a table", value))
}

fn unlike(key: &str, expected: &str, value: &DeValue<'_>) -> Problem {
    let kind = match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    Problem::new(format!("`{key}` must be {expected}, not {kind}"))
}
