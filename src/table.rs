//! The one reader of tables, for every format of files. It reads a table key by key, and remembers the keys that it was
//! asked for. All other keys are unknown. A mistake is reported with its place, and the reading goes on.

use std::{fmt::Display, ops::RangeInclusive, time::Duration};

use crate::{
    model::{InvalidDuration, parse_duration},
    node::{Key, Node},
    quote::quoted,
    suggest::did_you_mean,
};

/// A mistake in a file.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) message: String,
    /// The remedy, if it is known.
    pub(crate) help: Option<String>,
}

impl Mistake {
    fn new(message: String) -> Mistake {
        Mistake { message, help: None }
    }
}

/// The collected mistakes of a file, with their places.
pub(crate) trait Report<P> {
    fn mistake(&mut self, place: P, mistake: Mistake);

    /// Returns the value, or records the mistake.
    fn value_or_mistake<T>(&mut self, place: P, result: Result<T, Mistake>) -> Option<T> {
        result.map_err(|mistake| self.mistake(place, mistake)).ok()
    }
}

/// A value and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<T, P> {
    pub(crate) place: P,
    pub(crate) value: T,
}

/// One table of a file, while it is read.
#[derive(Debug)]
pub(crate) struct Table<'n, N: Node> {
    /// The name of the table in messages: `[agents.lead]`.
    name: String,
    entries: &'n N::Entries,
    /// Every name of the keys that were asked for.
    known: Vec<&'static str>,
    /// The documented name of each of these keys.
    documented: Vec<&'static str>,
}

impl<'n, N: Node + 'n> Table<'n, N> {
    pub(crate) fn new(name: impl Into<String>, entries: &'n N::Entries) -> Table<'n, N> {
        Table { name: name.into(), entries, known: Vec::new(), documented: Vec::new() }
    }

    /// Returns the first value under `key`, even if it is empty. The key counts as unknown until it is read.
    pub(crate) fn peek(&self, key: impl Key) -> Option<&'n N> {
        key.names().iter().find_map(|name| N::get(self.entries, name))
    }

    /// Returns true if there is a value under `key`.
    pub(crate) fn has(&self, key: impl Key) -> bool {
        self.peek(key).is_some_and(|node| !node.is_empty())
    }

    /// Marks `key` as known.
    pub(crate) fn know(&mut self, key: impl Key) {
        self.known.extend(key.names());
        self.documented.extend(key.names().first());
    }

    /// Accepts `name` without documenting it.
    #[cfg(feature = "schedule")]
    pub(crate) fn tolerate(&mut self, name: &'static str) {
        self.known.push(name);
    }

    /// Returns the value under `key`, of any type. Two values under equivalent names are reported.
    pub(crate) fn value(&mut self, key: impl Key, found: &mut impl Report<N::Place>) -> Option<&'n N> {
        self.know(key);
        let mut values = key.names().iter().filter_map(|name| Some((name, N::get(self.entries, name)?)));
        let (one, value) = values.next()?;
        if let Some((other, second)) = values.next() {
            let message = format!("`{one}` and `{other}` mean the same: keep one");
            found.mistake(second.place(), Mistake::new(message));
        }
        Some(value).filter(|value| !value.is_empty())
    }

    /// Returns the place of a value under `key` that is written without content, or as an empty list.
    #[cfg(feature = "schedule")]
    pub(crate) fn blank(&self, key: impl Key) -> Option<N::Place> {
        let written = key.names().iter().filter_map(|name| N::get(self.entries, name));
        written
            .filter(|value| value.is_empty() || value.as_list().is_some_and(|list| list.is_empty()))
            .map(|value| value.place())
            .next()
    }

    /// Reads a value with `read`. A value without such a form is reported as not being `expected`.
    fn read<T>(
        &mut self,
        key: impl Key,
        expected: &str,
        found: &mut impl Report<N::Place>,
        read: impl FnOnce(&'n N) -> Option<T>,
    ) -> Option<At<T, N::Place>> {
        let node = self.value(key, found)?;
        let value = found.value_or_mistake(node.place(), read(node).ok_or_else(|| unlike(key, expected, node)))?;
        Some(At { place: node.place(), value })
    }

    /// Reads a table.
    pub(crate) fn table(&mut self, key: impl Key, found: &mut impl Report<N::Place>) -> Option<&'n N::Entries> {
        self.read(key, N::A_TABLE, found, N::as_entries).map(|table| table.value)
    }

    /// Reads a text.
    pub(crate) fn text(&mut self, key: impl Key, found: &mut impl Report<N::Place>) -> Option<At<&'n str, N::Place>> {
        self.read(key, N::A_TEXT, found, N::as_text)
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&mut self, key: impl Key, found: &mut impl Report<N::Place>) -> Option<bool> {
        self.read(key, "`true` or `false`", found, N::as_flag).map(|flag| flag.value)
    }

    /// Reads a list of texts. Invalid elements are reported and left out.
    pub(crate) fn texts(&mut self, key: impl Key, found: &mut impl Report<N::Place>) -> Vec<At<&'n str, N::Place>> {
        let expected = "a list of texts";
        let list = self.read(key, expected, found, N::as_list);
        list.map(|list| elements(key, expected, list.value, found, N::as_text)).unwrap_or_default()
    }

    /// Reads a list of tables, each with its place. Invalid elements are reported and left out.
    pub(crate) fn tables(
        &mut self,
        key: impl Key,
        found: &mut impl Report<N::Place>,
    ) -> Vec<(N::Place, &'n N::Entries)> {
        let Some(list) = self.read(key, "a list of tables", found, N::as_list) else { return Vec::new() };
        let tables = elements(key, N::A_TABLE, list.value, found, N::as_entries);
        tables.into_iter().map(|table| (table.place, table.value)).collect()
    }

    /// Reads a text or a list of texts. Invalid elements are reported and left out. Returns none if the value is
    /// missing or is neither.
    pub(crate) fn one_or_many(
        &mut self,
        key: impl Key,
        found: &mut impl Report<N::Place>,
    ) -> Option<Vec<At<&'n str, N::Place>>> {
        let expected = "a text or a list of texts";
        let list = self.read(key, expected, found, |node| match node.as_text() {
            Some(text) => Some(Err(text)),
            None => node.as_list().map(Ok),
        })?;
        Some(match list.value {
            Ok(list) => elements(key, expected, list, found, N::as_text),
            Err(text) => vec![At { place: list.place, value: text }],
        })
    }

    /// Reads a text, or a non-empty list of texts. Returns none if the value is missing, or is invalid, which is
    /// reported.
    pub(crate) fn one_or_more(
        &mut self,
        key: impl Key,
        found: &mut impl Report<N::Place>,
    ) -> Option<Vec<At<&'n str, N::Place>>> {
        let list = self.peek(key).and_then(|node| Some((node.place(), node.as_list()?.len())));
        let texts = self.one_or_many(key, found)?;
        if let Some((place, 0)) = list {
            let message = format!("`{}` must not be an empty list", first(key));
            found.mistake(place, Mistake { message, help: Some("remove it instead".to_owned()) });
            return None;
        }
        list.is_none_or(|(_, length)| length == texts.len()).then_some(texts)
    }

    /// Reads one of the given words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: impl Key,
        words: &[(&'static str, T)],
        found: &mut impl Report<N::Place>,
    ) -> Option<T> {
        let text = self.text(key, found)?;
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(*meaning);
        }
        let all = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let message = format!("`{}` must be one of {all}, not {}", first(key), quoted(text.value));
        let help = did_you_mean(text.value, words.iter().map(|(word, _)| *word));
        found.mistake(text.place, Mistake { message, help });
        None
    }

    /// Reads a whole number within `range`.
    pub(crate) fn number<T>(
        &mut self,
        key: impl Key,
        range: RangeInclusive<T>,
        found: &mut impl Report<N::Place>,
    ) -> Option<T>
    where
        T: Copy + PartialOrd + Display + TryFrom<i64>,
    {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let At { place, value: (digits, radix) } = self.read(key, &expected, found, N::as_integer)?;
        let number = i64::from_str_radix(digits, radix).ok().and_then(|number| T::try_from(number).ok());
        let number = number.filter(|number| range.contains(number));
        let wrong = || Mistake::new(format!("`{}` must be {expected}, not {}", first(key), quoted(digits)));
        found.value_or_mistake(place, number.ok_or_else(wrong))
    }

    /// Reads a duration of at least `shortest`.
    pub(crate) fn duration(
        &mut self,
        key: impl Key,
        shortest: Duration,
        found: &mut impl Report<N::Place>,
    ) -> Option<Duration> {
        self.duration_by(key, parse_duration, found, |duration| {
            if duration >= shortest {
                Ok(())
            } else if shortest <= Duration::from_millis(1) {
                Err("not be zero".to_owned())
            } else {
                Err(format!("be at least {shortest:?}"))
            }
        })
    }

    /// Reads a duration within `range`, which a message shows as `shown`.
    pub(crate) fn duration_within(
        &mut self,
        key: impl Key,
        range: RangeInclusive<Duration>,
        shown: &str,
        parse: fn(&str) -> Result<Duration, InvalidDuration>,
        found: &mut impl Report<N::Place>,
    ) -> Option<Duration> {
        self.duration_by(key, parse, found, |duration| {
            if range.contains(&duration) { Ok(()) } else { Err(format!("be from {shown}")) }
        })
    }

    /// Reads a duration that `check` accepts. Otherwise `check` returns what the value must do.
    fn duration_by(
        &mut self,
        key: impl Key,
        parse: fn(&str) -> Result<Duration, InvalidDuration>,
        found: &mut impl Report<N::Place>,
        check: impl FnOnce(Duration) -> Result<(), String>,
    ) -> Option<Duration> {
        let At { place, value } = self.read(key, N::A_DURATION, found, N::as_text)?;
        let duration = parse(value).map_err(|why| format!("be {why}, not {}", quoted(value)));
        let duration = duration.and_then(|duration| check(duration).map(|()| duration));
        let wrong = |must| Mistake::new(format!("`{}` must {must}", first(key)));
        found.value_or_mistake(place, duration.map_err(wrong))
    }

    /// Reports every key that was not read.
    pub(crate) fn finish(self, found: &mut impl Report<N::Place>) {
        for (key, place, value) in N::entries(self.entries) {
            if self.known.contains(&key) {
                continue;
            }
            let kind = if value.as_entries().is_some() { N::TABLE } else { "key" };
            let message = format!("unknown {kind} {} in {}", quoted(key), self.name);
            let known = || format!("its keys are {}", self.documented.join(", "));
            let help = did_you_mean(key, self.known.iter().copied()).unwrap_or_else(known);
            found.mistake(place, Mistake { message, help: Some(help) });
        }
    }
}

/// Reads the elements of a list with `read`. Invalid elements are reported and left out.
fn elements<'n, N: Node, T>(
    key: impl Key,
    expected: &str,
    list: &'n [N],
    found: &mut impl Report<N::Place>,
    read: impl Fn(&'n N) -> Option<T>,
) -> Vec<At<T, N::Place>> {
    let element = |node: &'n N| {
        let value = found.value_or_mistake(node.place(), read(node).ok_or_else(|| unlike(key, expected, node)))?;
        Some(At { place: node.place(), value })
    };
    list.iter().filter_map(element).collect()
}

/// Returns the value as a table.
pub(crate) fn as_table<'n, N: Node>(name: &str, node: &'n N) -> Result<&'n N::Entries, Mistake> {
    node.as_entries().ok_or_else(|| Mistake::new(format!("`{name}` must be {}, not {}", N::A_TABLE, node.kind())))
}

fn first(key: impl Key) -> &'static str {
    key.names().first().copied().unwrap_or_default()
}

fn unlike<N: Node>(key: impl Key, expected: &str, node: &N) -> Mistake {
    Mistake::new(format!("`{}` must be {expected}, not {}", first(key), node.kind()))
}
