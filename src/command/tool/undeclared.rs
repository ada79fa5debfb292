//! The input of a tool of which nothing is known: every text in it may be a path or a command line.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    super::{answer::Classification, classifier::Classifier},
    ToolUse, declared, is_guarded, is_sensitive,
};

/// How deep an input may be nested.
const MAX_DEPTH: usize = 16;

/// The most texts that an input may hold, with the names of its fields.
const MAX_TEXTS: usize = 256;

/// The most command lines that are made of them.
const MAX_LINES: usize = 2048;

/// The most bytes that are read as command lines.
const MAX_BYTES: usize = 64 * 1024;

/// A longer text is read line by line.
const MAX_LINE: usize = 8 * 1024;

/// The longest text that may be a path.
const MAX_PATH: usize = 4096;

/// Everything in an input that may be a path or a command line.
#[derive(Debug, Default)]
pub(crate) struct Undeclared<'v> {
    /// Every text, and the names of the fields.
    pub(crate) texts: Vec<&'v str>,
    /// Every text as a command line, and what texts that stand beside each other come to together.
    pub(crate) lines: Vec<Cow<'v, str>>,
    /// The input holds more than is read, so nobody knows what the call does.
    pub(crate) is_beyond: bool,
}

impl<'v> Undeclared<'v> {
    /// Reads `input`.
    pub(crate) fn of(input: &'v Value) -> Undeclared<'v> {
        let mut read = Undeclared::default();
        read.value(input, 0);
        let bytes: usize = read.lines.iter().map(|line| line.len()).sum();
        read.is_beyond |= read.texts.len() > MAX_TEXTS || read.lines.len() > MAX_LINES || bytes > MAX_BYTES;
        if read.is_beyond {
            read.texts.truncate(MAX_TEXTS);
            let mut bytes = 0;
            read.lines.retain(|line| {
                bytes += line.len();
                bytes <= MAX_BYTES
            });
        }
        read
    }

    fn value(&mut self, value: &'v Value, depth: usize) {
        if depth > MAX_DEPTH || self.texts.len() > MAX_TEXTS || self.lines.len() > MAX_LINES {
            self.is_beyond = true;
            return;
        }
        match value {
            Value::String(text) => self.text(text),
            Value::Array(all) => {
                let words: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
                if words.len() > 1 {
                    self.lines.push(declared::joined(&words).into());
                }
                all.iter().for_each(|one| self.value(one, depth + 1));
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.text(name);
                    self.value(value, depth + 1);
                }
                self.beside(fields.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &'v str) {
        self.texts.push(text);
        if text.len() <= MAX_LINE {
            self.lines.push(text.into());
        } else {
            self.lines.extend(text.lines().map(Cow::Borrowed));
            self.is_beyond |= text.lines().any(|line| line.len() > MAX_LINE);
        }
    }

    /// A program in one field and its arguments in another.
    fn beside(&mut self, fields: impl Iterator<Item = &'v Value> + Clone) {
        let is_program = |word: &&str| !word.is_empty() && word.len() <= 256 && !word.contains(char::is_whitespace);
        let programs = fields.clone().filter_map(Value::as_str).filter(is_program);
        for program in programs {
            for value in fields.clone() {
                if self.lines.len() > MAX_LINES {
                    return;
                }
                match value {
                    Value::String(rest) if rest != program && rest.len() <= MAX_LINE => {
                        self.lines.push(format!("{program} {rest}").into());
                    }
                    Value::Array(all) => {
                        let words: Vec<&str> =
                            std::iter::once(program).chain(all.iter().filter_map(Value::as_str)).collect();
                        self.lines.push(declared::joined(&words).into());
                    }
                    Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
                }
            }
        }
    }

    /// The worst that any of its lines comes to.
    pub(crate) fn worst(&self, classifier: &Classifier) -> Option<Classification> {
        let judged = self.lines.iter().map(|line| classifier.classify(line));
        judged.reduce(|worst, next| if next.tier > worst.tier { next } else { worst })
    }

    /// The texts that may be paths, the hosts, and the files of `file:` URLs.
    pub(crate) fn uses(&self) -> Vec<ToolUse<'v>> {
        let mut uses: Vec<ToolUse<'v>> = Vec::new();
        for text in &self.texts {
            let used = if is_url(text) { declared::host(text).ok() } else { None };
            let used = used.or_else(|| may_be_a_path(text).then(|| ToolUse::read(text)));
            uses.extend(used.filter(|used| !uses.contains(used)));
        }
        uses
    }
}

/// The words of a text, as far as they may be paths or names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| c.is_whitespace() || "'\"`=:;|&<>(),[]{}$".contains(c);
    text.split(divides).filter(|word| !word.is_empty())
}

impl<'v> Undeclared<'v> {
    /// The short texts that may name something in the working directory, and those that name what is sensitive.
    pub(crate) fn names(&self) -> Vec<&'v str> {
        let short = |text: &&&str| text.len() <= 255 && !text.contains('/') && !text.trim().is_empty();
        let mut names: Vec<&str> = self.texts.iter().filter(short).copied().collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The words of longer texts that may be paths.
    pub(crate) fn words(&self) -> Vec<Cow<'v, str>> {
        let mut all: Vec<Cow<'v, str>> = Vec::new();
        for text in &self.texts {
            let may_be = |word: &&str| *word != *text && !is_url(text) && (may_be_a_path(word) || sensitive(word));
            all.extend(words(text).filter(may_be).map(Cow::Borrowed));
            if sensitive(text) {
                all.push((*text).into());
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn sensitive(word: &str) -> bool {
    word.len() <= MAX_PATH && (is_sensitive(word) || is_guarded(word))
}

fn is_url(text: &str) -> bool {
    let scheme = text.trim().split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.eq_ignore_ascii_case("file") || declared::REACHED.iter().any(|known| known.eq_ignore_ascii_case(scheme))
    })
}

/// Reports whether a text looks like a path.
pub(crate) fn may_be_a_path(text: &str) -> bool {
    let fits = !text.is_empty() && text.len() <= MAX_PATH && !text.contains('\0');
    fits && (is_certainly_a_path(text) || text.contains('/') || text == "..")
}

/// Reports whether a text is written as a path and as nothing else.
pub(crate) fn is_certainly_a_path(text: &str) -> bool {
    ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start))
}
