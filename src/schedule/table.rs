//! A reader for one map of front matter. It remembers the keys that were asked for, and reports the others as unknown.

use std::{str::FromStr, time::Duration};

use super::{
    Problem,
    yaml::{Node, Value},
};
use crate::{model::parse_duration, suggest::closest};

/// A map that is being read.
pub(super) struct Table {
    entries: Vec<(String, Node)>,
    known: Vec<&'static str>,
    /// The documented names of the keys, which are the first ones among equivalent names.
    keys: Vec<&'static str>,
    pub(super) problems: Vec<Problem>,
    name: &'static str,
}

impl Table {
    pub(super) fn new(name: &'static str, entries: Vec<(String, Node)>) -> Table {
        Table { entries, known: Vec::new(), keys: Vec::new(), problems: Vec::new(), name }
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.line(names).is_some()
    }

    /// Returns the line of the first entry under one of `names`.
    pub(super) fn line(&self, names: &[&str]) -> Option<u32> {
        self.entries.iter().find(|(key, _)| names.contains(&key.as_str())).map(|(_, node)| node.line)
    }

    /// Reports keys that have no meaning here, with the reason `why`.
    pub(super) fn refuse(&mut self, names: &[&'static str], why: &str) {
        for name in names {
            if let Some(line) = self.line(&[name]) {
                self.problems.push(Problem::at(line, format!("`{name}` {why}")));
                self.known.push(name);
            }
        }
    }

    /// Takes the value under one of `names`, which are equivalent.
    pub(super) fn take(&mut self, names: &[&'static str]) -> Option<Node> {
        self.known.extend(names);
        self.keys.extend(names.first());
        let found: Vec<_> = self.entries.iter().filter(|(key, _)| names.contains(&key.as_str())).cloned().collect();
        if let [(one, _), (other, node), ..] = found.as_slice() {
            self.problems.push(Problem::at(node.line, format!("`{one}` and `{other}` mean the same: keep one")));
        }
        found.into_iter().next().map(|(_, node)| node).filter(|node| node.value != Value::Nothing)
    }

    pub(super) fn text(&mut self, names: &[&'static str]) -> Option<String> {
        self.text_at(names).map(|(text, _)| text)
    }

    pub(super) fn text_at(&mut self, names: &[&'static str]) -> Option<(String, u32)> {
        let node = self.take(names)?;
        if let Value::Text { text, .. } = node.value {
            return Some((text.trim().to_owned(), node.line));
        }
        self.wrong(node.line, names, "is a text");
        None
    }

    pub(super) fn wrong(&mut self, line: u32, names: &[&'static str], what: &str) {
        let name = names.first().copied().unwrap_or_default();
        self.problems.push(Problem::at(line, format!("`{name}` {what}")));
    }

    pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(&mut self, names: &[&'static str]) -> Option<T> {
        let (text, line) = self.text_at(names)?;
        text.parse().map_err(|why| self.wrong(line, names, &format!("cannot be taken: {why}"))).ok()
    }

    pub(super) fn flag(&mut self, names: &[&'static str]) -> Option<bool> {
        let node = self.take(names)?;
        match node.value {
            Value::Text { ref text, plain: true } if text == "true" => Some(true),
            Value::Text { ref text, plain: true } if text == "false" => Some(false),
            Value::Nothing | Value::Text { .. } | Value::List(_) | Value::Map(_) => {
                self.wrong(node.line, names, "is `true` or `false`");
                None
            }
        }
    }

    pub(super) fn duration(&mut self, names: &[&'static str]) -> Option<Duration> {
        let (text, line) = self.text_at(names)?;
        match parse_duration(&text) {
            Ok(duration) if !duration.is_zero() => return Some(duration),
            Ok(_) => self.wrong(line, names, "must not be zero"),
            Err(why) => self.wrong(line, names, &format!("must be {why}, not `{}`", text.escape_debug())),
        }
        None
    }

    /// Reads a text, or a list of texts. Other values and blank texts are reported.
    pub(super) fn texts(&mut self, names: &[&'static str]) -> Vec<(String, u32)> {
        let Some(node) = self.take(names) else { return Vec::new() };
        let line = node.line;
        let nodes = if let Value::List(nodes) = node.value { nodes } else { vec![node] };
        let mut all: Vec<(String, u32)> = Vec::new();
        for node in nodes {
            match node.value {
                Value::Text { text, .. } if !text.trim().is_empty() => {
                    let text = text.trim().to_owned();
                    if !all.iter().any(|(known, _)| *known == text) {
                        all.push((text, node.line));
                    }
                }
                Value::Nothing | Value::Text { .. } | Value::List(_) | Value::Map(_) => {
                    self.wrong(line, names, "is a list of texts, none of them blank");
                }
            }
        }
        all
    }

    pub(super) fn finish(&mut self) {
        let unknown = self.entries.iter().filter(|(key, _)| !self.known.contains(&key.as_str()));
        for (key, node) in unknown {
            let help = match closest(key, self.known.iter().copied()) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("its keys are {}", self.keys.join(", ")),
            };
            let shown: String = key.chars().take(80).collect();
            let why = format!("{} has no `{}`: {help}", self.name, shown.escape_debug());
            self.problems.push(Problem::at(node.line, why));
        }
    }
}
