//! The values of front matter, for the reader of tables.

use std::{fmt::Display, str::FromStr, time::Duration};

use super::{
    Problem,
    yaml::{Node, Value},
};
use crate::{
    node::{self, Key},
    table::{self, Mistake, Report},
};

/// A text and its line.
pub(super) type TextAt<'n> = table::At<&'n str, u32>;

/// A map that is being read, with its problems so far.
pub(super) struct Table<'n> {
    pub(super) table: table::Table<'n, Node>,
    pub(super) problems: Vec<Problem>,
}

impl node::Node for Node {
    type Place = u32;
    type Entries = Vec<(String, Node)>;

    const TABLE: &'static str = "map";
    const A_TABLE: &'static str = "a map";
    const A_TEXT: &'static str = "a text";
    const A_DURATION: &'static str = "a duration, as in `5m`";

    fn place(&self) -> u32 {
        self.line
    }

    fn is_empty(&self) -> bool {
        self.value == Value::Nothing
    }

    fn kind(&self) -> &'static str {
        match self.value {
            Value::Nothing => "empty",
            Value::Text { .. } => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    fn as_text(&self) -> Option<&str> {
        if let Value::Text { text, .. } = &self.value { Some(text.trim()) } else { None }
    }

    fn as_flag(&self) -> Option<bool> {
        match &self.value {
            Value::Text { text, plain: true } => text.parse().ok(),
            Value::Nothing | Value::Text { .. } | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns none: a number without quotation marks is a text here.
    fn as_integer(&self) -> Option<(&str, u32)> {
        None
    }

    fn as_list(&self) -> Option<&[Node]> {
        if let Value::List(nodes) = &self.value { Some(nodes) } else { None }
    }

    fn as_entries(&self) -> Option<&Vec<(String, Node)>> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    fn get<'n>(entries: &'n Vec<(String, Node)>, name: &str) -> Option<&'n Node> {
        entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    fn entries<'n>(entries: &'n Vec<(String, Node)>) -> impl Iterator<Item = (&'n str, u32, &'n Node)>
    where
        Self: 'n,
    {
        entries.iter().map(|(key, node)| (key.as_str(), node.line, node))
    }
}

impl Report<u32> for Vec<Problem> {
    fn mistake(&mut self, line: u32, Mistake { message, help }: Mistake) {
        self.push(Problem::at(line, help.iter().fold(message, |message, help| format!("{message}; {help}"))));
    }
}

impl<'n> Table<'n> {
    pub(super) fn new(name: &str, entries: &'n Vec<(String, Node)>) -> Table<'n> {
        Table { table: table::Table::new(name, entries), problems: Vec::new() }
    }

    /// Returns the line of the first entry under `key`.
    pub(super) fn line(&self, key: impl Key) -> Option<u32> {
        self.table.peek(key).map(|node| node.line)
    }

    /// Reports keys that have no meaning here, with the reason `why`.
    pub(super) fn refuse(&mut self, names: &[&'static str], why: &str) {
        for name in names {
            if let Some(line) = self.line(*name) {
                self.problems.push(Problem::at(line, format!("`{name}` {why}")));
                self.table.tolerate(name);
            }
        }
    }

    pub(super) fn value(&mut self, key: impl Key) -> Option<&'n Node> {
        self.table.value(key, &mut self.problems)
    }

    /// Returns the line of a value that is written without content, or as an empty list.
    pub(super) fn blank(&self, key: impl Key) -> Option<u32> {
        self.table.blank(key)
    }

    pub(super) fn text(&mut self, key: impl Key) -> Option<TextAt<'n>> {
        self.table.text(key, &mut self.problems)
    }

    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self, key: impl Key) -> Option<T> {
        let text = self.text(key)?;
        text.value.parse().map_err(|why| self.wrong(text.place, key, &format!("cannot be taken: {why}"))).ok()
    }

    pub(super) fn flag(&mut self, key: impl Key) -> Option<bool> {
        self.table.flag(key, &mut self.problems)
    }

    /// Reads a duration that is not zero.
    pub(super) fn duration(&mut self, key: impl Key) -> Option<Duration> {
        self.table.duration(key, Duration::from_millis(1), &mut self.problems)
    }

    /// Reads a text, or a list of texts, each once. Blank texts are reported.
    pub(super) fn texts(&mut self, key: impl Key) -> Vec<TextAt<'n>> {
        let mut all: Vec<TextAt<'n>> = Vec::new();
        for text in self.table.one_or_many(key, &mut self.problems).unwrap_or_default() {
            if text.value.is_empty() {
                self.wrong(text.place, key, "must not be blank");
            } else if !all.iter().any(|known| known.value == text.value) {
                all.push(text);
            }
        }
        all
    }

    pub(super) fn wrong(&mut self, line: u32, key: impl Key, what: &str) {
        let name = key.names().first().copied().unwrap_or_default();
        self.problems.push(Problem::at(line, format!("`{name}` {what}")));
    }

    /// Returns the problems, with every key that was not read among them.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        self.table.finish(&mut self.problems);
        self.problems
    }
}
