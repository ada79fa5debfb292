//! The input of an unknown tool. Every text in it may be a path or a command line.

use std::{borrow::Cow, collections::HashMap};

use foldhash::fast::RandomState;
use serde_json::{Map, Value};

use crate::{
    classification::{Classification, Judged},
    classifier::Classifier,
    evaluator::{self, is_known},
    named_uses::NamedUses,
    syntax,
    tier::Tier,
    tool::{ToolUse, declared, is_guarded, is_sensitive},
    values::{SpokenPart, StrictJson, base_name, path_in_file_url, percent_decoded},
};

/// The deepest nesting of an input.
const MAX_DEPTH: usize = 16;

/// The limit of texts in an input, including the names of its fields.
const MAX_TEXTS: usize = 256;

/// The limit of command lines that are built from these texts.
const MAX_LINES: usize = 2048;

/// The limit of bytes that are read as command lines.
const MAX_BYTES: usize = 64 * 1024;

/// The longest text, in bytes, that is read as one command line. A longer text is read line by line.
const MAX_LINE: usize = 8 * 1024;

/// The longest text that may be a path, in bytes.
const MAX_PATH: usize = 4096;

/// The texts of an input that may be paths or command lines.
#[derive(Debug, Default)]
pub struct Undeclared<'v> {
    /// Every text, and the names of the fields.
    pub texts: Vec<&'v str>,
    /// Every text that is not the name of a field.
    values: Vec<&'v str>,
    /// Every text as a command line, and the command lines that neighbouring texts form together.
    lines: Vec<Cow<'v, str>>,
    /// The total bytes of these lines.
    bytes: usize,
    /// True if the input exceeds a limit, so that the effects of the call are unknown.
    pub is_beyond: bool,
    /// True if the name of a field counts only where it may be a path.
    names_are_fields: bool,
}

impl<'v> Undeclared<'v> {
    /// Collects the texts of `input` up to the limits.
    pub fn of(input: &'v Value) -> Undeclared<'v> {
        let mut read = Undeclared::default();
        read.value(input, 0);
        read
    }

    /// Collects the texts of the fields that the declaration of a tool does not name. The name of such a field counts
    /// only if it may be a path.
    pub fn of_fields(fields: &'v Map<String, Value>) -> Undeclared<'v> {
        let mut read = Undeclared { names_are_fields: true, ..Undeclared::default() };
        read.fields(fields, 0);
        read
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && !self.is_beyond
    }

    fn fields(&mut self, fields: &'v Map<String, Value>, depth: usize) {
        for (name, value) in fields {
            if !self.names_are_fields || may_be_a_path(name) || sensitive(name) {
                self.text(name);
            }
            // A field whose name is no program tells about its value, and runs nothing with it.
            if !self.names_are_fields && is_known(base_name(name)) {
                self.after(name, value);
            }
            self.value(value, depth + 1);
        }
        self.beside(fields.values());
    }

    fn value(&mut self, value: &'v Value, depth: usize) {
        self.is_beyond |= depth > MAX_DEPTH;
        if self.is_beyond {
            return;
        }
        match value {
            Value::String(text) => {
                self.text(text);
                self.values.push(text);
            }
            Value::Array(all) => {
                self.joined(None, all);
                all.iter().for_each(|one| self.value(one, depth + 1));
            }
            Value::Object(fields) => self.fields(fields, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Adds a line, unless a limit is reached.
    fn line(&mut self, line: impl Into<Cow<'v, str>>) {
        let line = line.into();
        self.bytes += line.len();
        self.is_beyond |= self.bytes > MAX_BYTES || self.lines.len() >= MAX_LINES;
        if !self.is_beyond {
            self.lines.push(line);
        }
    }

    fn text(&mut self, text: &'v str) {
        self.is_beyond |= self.texts.len() >= MAX_TEXTS;
        if self.is_beyond {
            return;
        }
        self.texts.push(text);
        if is_glob_of_paths(text) {
            // As the operand of a reader, it stands for the files that it matches.
            self.line(["cat ", text].concat());
        }
        if text.len() <= MAX_LINE {
            self.line(text);
        } else {
            text.lines().for_each(|line| self.line(line));
            self.is_beyond |= text.lines().any(|line| line.len() > MAX_LINE);
        }
    }

    /// Adds the texts of a list as one line, after a program if there is one.
    fn joined(&mut self, program: Option<&'v str>, list: &'v [Value]) {
        let words = || program.into_iter().chain(list.iter().filter_map(Value::as_str));
        // A list that is too long is not even joined.
        self.is_beyond |= words().map(str::len).sum::<usize>() > MAX_BYTES;
        if !self.is_beyond && (program.is_some() || words().nth(1).is_some()) {
            let words: Vec<&str> = words().collect();
            self.line(declared::joined(&words));
        }
    }

    /// Adds lines for a program in one field and its arguments in another.
    fn beside(&mut self, fields: impl Iterator<Item = &'v Value> + Clone) {
        let is_program = |word: &&str| !word.is_empty() && word.len() <= 256 && !word.contains(char::is_whitespace);
        let programs = fields.clone().filter_map(Value::as_str).filter(is_program);
        for program in programs {
            fields.clone().for_each(|value| self.after(program, value));
        }
    }

    /// Adds a line for a program and its arguments.
    fn after(&mut self, program: &'v str, arguments: &'v Value) {
        if self.is_beyond {
            return;
        }
        match arguments {
            Value::String(rest) if rest != program && rest.len() <= MAX_LINE => self.line([program, rest].join(" ")),
            Value::Array(all) => self.joined(Some(program), all),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }

    /// Returns every text and every list of texts as a command line.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &**line)
    }

    /// Returns the strictest classification of all lines.
    pub(super) fn worst(&self, classifier: &Classifier) -> Option<Classification> {
        let all = self.lines.iter().map(|line| classifier.classify(line));
        all.reduce(|worst, next| if next.tier > worst.tier { next } else { worst })
    }

    /// Classifies every line once, with the resources that it names.
    pub fn follow(&self, classifier: &Classifier) -> Followed<'_> {
        let mut followed = Followed::default();
        for line in &self.lines {
            let mut next = classifier.judge(line);
            followed.named.push(std::mem::take(&mut next.named));
            followed.spoken.insert(line, next.spoken());
            let tier = next.classification.tier;
            // A sentence may tell about a command that destroys.
            if tier == Tier::Destructive && self.values.contains(&&**line) && is_only_told(line, classifier) {
                continue;
            }
            if followed.worst.as_ref().is_none_or(|worst| tier > worst.classification.tier) {
                followed.worst = Some(next);
            }
        }
        followed
    }

    /// Returns the texts that may be paths, the hosts, and the files of `file:` URLs.
    pub fn uses(&self) -> Vec<ToolUse<'v>> {
        let mut uses: Vec<ToolUse<'v>> = Vec::new();
        for text in &self.texts {
            let used = if is_url(text) { declared::host(text).ok() } else { None };
            let used = used.or_else(|| may_be_a_path(text).then(|| ToolUse::read(text)));
            uses.extend(used.filter(|used| !uses.contains(used)));
        }
        uses
    }
}

/// The results for the lines of an input.
#[derive(Debug, Default)]
pub struct Followed<'l> {
    /// The strictest classification of all lines.
    pub worst: Option<Judged>,
    /// The uses of each line.
    pub named: Vec<NamedUses>,
    /// The commands of each line. `None` for a line that was not understood.
    pub spoken: HashMap<&'l str, Option<Vec<SpokenPart>>, RandomState>,
}

/// Returns true if a text destroys nothing without its sentences. No shell would run anything in such a sentence.
fn is_only_told(text: &str, classifier: &Classifier) -> bool {
    let rest: Vec<&str> = text.lines().filter(|line| !is_sentence(line)).collect();
    rest.len() < text.lines().count() && classifier.classify(&rest.join("\n")).tier < Tier::Destructive
}

/// The number of words that a sentence has at least.
const MIN_SENTENCE_WORDS: usize = 5;

/// Returns true for a line that begins with a word of letters which is no known program, and has no sign of a shell.
fn is_sentence(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return false };
    let is_word = first.chars().all(char::is_alphabetic) && !evaluator::is_known(&first.to_lowercase());
    let has_signs = line.contains([';', '|', '&', '$', '`', '<', '>', '(', ')', '{', '}', '\\', '\'', '"']);
    is_word && !has_signs && words.count() + 1 >= MIN_SENTENCE_WORDS
}

/// Returns the words of a text that may be paths or names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| c.is_whitespace() || "'\"`=:;|&<>(),[]{}$".contains(c);
    text.split(divides).filter(|word| !word.is_empty())
}

impl<'v> Undeclared<'v> {
    /// Returns the short texts that may name a file in the working directory.
    pub fn names(&self) -> Vec<&'v str> {
        let short = |text: &&&str| text.len() <= 255 && !text.contains('/') && !text.trim().is_empty();
        let mut names: Vec<&str> = self.texts.iter().filter(short).copied().collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the words of longer texts that may be paths.
    pub fn words(&self) -> Vec<Cow<'v, str>> {
        let mut all: Vec<Cow<'v, str>> = Vec::new();
        for text in &self.texts {
            let may_be = |word: &&str| *word != *text && !is_url(text) && (may_be_a_path(word) || sensitive(word));
            all.extend(words(text).filter(may_be).map(Cow::Borrowed));
            all.extend(pieces(text).filter_map(spelled_otherwise).map(Cow::Owned));
            if sensitive(text) {
                all.push((*text).into());
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl<'v> Undeclared<'v> {
    /// Returns the texts that may name a directory, and the texts that may name a file in one. An unknown tool may join
    /// any two of its texts.
    pub fn places(&self) -> (Vec<Cow<'v, str>>, Vec<&'v str>) {
        let is_one_word = |text: &&&str| !text.is_empty() && text.len() <= 255 && !text.contains(char::is_whitespace);
        let mut words: Vec<&str> = self.values.iter().filter(is_one_word).copied().collect();
        words.sort_unstable();
        words.dedup();
        let directories = words.iter().map(|text| spelled_otherwise(text).map_or(Cow::Borrowed(*text), Cow::Owned));
        let names = words.iter().filter(|text| !text.starts_with(['/', '~']) && !is_url(text)).copied();
        (directories.collect(), names.collect())
    }
}

/// Returns true for one word that is a pattern of paths.
fn is_glob_of_paths(text: &str) -> bool {
    text.len() <= MAX_PATH
        && text.contains('/')
        && text.contains(['*', '?', '[', '{'])
        && text.chars().all(|c| c.is_alphanumeric() || "/._-+@~*?[]{},!^".contains(c))
}

/// Returns the input with each text that is a JSON object or list of its own, and its value, side by side. An unknown
/// tool may read such a text.
pub fn with_nested_json(input: &Value) -> Cow<'_, Value> {
    if has_nested_json(input) { Cow::Owned(unfolded(input, 0)) } else { Cow::Borrowed(input) }
}

fn has_nested_json(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim_start().starts_with(['{', '[']),
        Value::Array(all) => all.iter().any(has_nested_json),
        Value::Object(fields) => fields.values().any(has_nested_json),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn unfolded(value: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return value.clone();
    }
    match value {
        Value::String(text) if has_nested_json(value) => match StrictJson::read(text.trim().as_bytes()) {
            Ok(StrictJson(inner)) => Value::Array(vec![value.clone(), unfolded(&inner, depth + 1)]),
            Err(_) => value.clone(),
        },
        Value::Array(all) => all.iter().map(|value| unfolded(value, depth + 1)).collect(),
        Value::Object(fields) => {
            let unfolded = |(name, value): (&String, &Value)| (name.clone(), unfolded(value, depth + 1));
            Value::Object(fields.iter().map(unfolded).collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain.clone(),
    }
}

/// Returns the parts of a text that may be paths in another spelling.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| c.is_whitespace() || "'`=,;|&<>()[]".contains(c);
    text.split(divides).map(|piece| piece.trim_matches('"')).filter(|piece| piece.len() <= MAX_PATH)
}

/// Returns the path of a text in another spelling: a `file:` address, a path after `@`, an encoded path, or a path that
/// starts with the variable of the home directory.
fn spelled_otherwise(text: &str) -> Option<String> {
    let plain = text.trim_start_matches('@');
    let address = path_in_file_url(plain);
    let scheme = address.is_some();
    let decoded = address.map_or_else(|| percent_decoded(plain), Cow::Owned).replace('"', "");
    let home = ["$HOME", "${HOME}", "%HOME%", "%USERPROFILE%"].iter().find_map(|name| decoded.strip_prefix(name));
    let path = home.filter(|rest| rest.starts_with('/')).map_or_else(|| decoded.clone(), |rest| format!("~{rest}"));
    let is_path = may_be_a_path(&path) || !path.is_empty() && path.len() < text.len() && scheme;
    (path != text && is_path || path == text && text.starts_with("~/")).then_some(path)
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

/// Returns true if a text looks like a path.
pub(crate) fn may_be_a_path(text: &str) -> bool {
    let fits = !text.is_empty() && text.len() <= MAX_PATH && !text.contains('\0');
    fits && (is_certainly_a_path(text) || text.contains('/') || text == "..")
}

/// Returns true if a text can only be a path.
pub fn is_certainly_a_path(text: &str) -> bool {
    // The home of another user is an unknown directory.
    let is_home = text.starts_with('~') && text.contains('/') && !text.contains(char::is_whitespace);
    is_home || ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start))
}

/// Returns the lines of a text that begin as a command line does. The others may be prose, such as those of a list.
pub fn command_lines(text: &str) -> Cow<'_, str> {
    if begins_compound(text) && syntax::parse(text).understood() {
        return Cow::Borrowed(text);
    }
    let all = text.lines().count();
    let kept: Vec<&str> = text.lines().filter(|line| begins_as_command(line)).collect();
    if kept.len() == all { Cow::Borrowed(text) } else { Cow::Owned(kept.join("\n")) }
}

/// Returns true if the first word of a text begins a compound command. It may begin a sentence too.
fn begins_compound(text: &str) -> bool {
    let first = text.split_whitespace().next();
    first.is_some_and(|word| matches!(word, "if" | "while" | "until" | "for" | "case" | "select" | "function" | "time"))
}

/// Returns true if the first word of a line is a known program, or has a sign that a shell reads.
fn begins_as_command(line: &str) -> bool {
    let Some(first) = line.split_whitespace().next() else { return true };
    let signs = ['/', '=', ';', '|', '&', '\\', '"', '\'', '$', '{'];
    is_known(base_name(first)) || first.contains(signs) || first.starts_with(['(', '!'])
}

/// Returns true if a text is a command line of several words whose first one is a known program.
pub fn is_known_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().filter(|_| text.len() <= MAX_LINE);
    first.is_some_and(|program| is_known(base_name(program))) && words.next().is_some()
}
