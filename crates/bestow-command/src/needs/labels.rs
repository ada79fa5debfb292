//! Words that are names and no paths: subcommands, scripts, targets, messages, patterns.
//!
//! A record lists them by forms. `run *` is a subcommand and one name after it, `install **` any number of names. A
//! name has no `/`, `.` or `=`: a word with one of them may be a path. `%` and `%%` stand for any texts in the same
//! way. An option such as `-m:` has a text as its value, and `-q` has no value. A form with `!-e` says nothing about
//! operands if the option `-e` is given.
//!
//! A role must be proven. After an option that may take the next word as its value, no word of a form counts.

use crate::{
    few::Few,
    options::{List, short, takes_value},
    parts::parts,
    programs::{Program, Reads},
    word::{Signs, Word},
};

/// Returns the indexes of the words that are no paths in any use of the program.
pub(crate) fn of(known: &Program, rest: &[Word]) -> Few<usize> {
    known.labels.iter().flat_map(|form| Form::of(form, known).labels(rest)).collect()
}

/// Returns the index behind the words that a form takes: its fixed words and its names. If the form has an option, this
/// is the index of the option. If it `starts` a command, returns the index of this command, which may be the value of
/// an option. Returns none if the words are not of this form.
pub(crate) fn end_of_form(text: &'static str, starts: bool, known: &Program, rest: &[Word]) -> Option<usize> {
    let form = Form::of(text, known);
    let split = form.split(rest);
    let mut operands = split.operands.iter().copied();
    let mut end = 0;
    for wanted in parts(form.subcommand, b' ').filter(|word| !word.is_empty()) {
        let at = operands.next()?;
        rest.get(at).filter(|word| word.text() == wanted)?;
        end = at + 1;
    }
    let needs_text = form.entries().any(|entry| entry.ends_with(':'));
    if needs_text {
        let first = split.texts.first().filter(|(operands, at)| *operands == 0 && *at < rest.len());
        return first.map(|(_, at)| *at);
    }
    for _ in form.entries().filter(|entry| *entry == "*") {
        end = operands.next()? + 1;
    }
    if form.entries().any(|entry| entry.starts_with('-')) {
        end = end.max(*split.own_options.first()?);
    }
    if starts { operands.next() } else { Some(end) }
}

/// A form of a program, with what is known about its options.
struct Form<'k> {
    text: &'static str,
    /// The fixed words at its beginning, separated by blanks.
    subcommand: &'static str,
    known: &'k Program,
}

/// The words of a use, as far as each is known to be an option, its value or an operand.
#[derive(Default)]
struct Split {
    operands: Vec<usize>,
    /// The options with a text as value, the number of operands before them, and the index of the word with the text.
    texts: Vec<(usize, usize)>,
    /// The options without a value that the form names.
    own_options: Vec<usize>,
    /// True if an option is given with which the form says nothing about names.
    is_excluded: bool,
    /// True if every word was understood.
    is_whole: bool,
}

impl Form<'_> {
    fn of<'k>(text: &'static str, known: &'k Program) -> Form<'k> {
        let end = text.find(['*', '%', '-', '!']).unwrap_or(text.len());
        Form { text, subcommand: text.get(..end).unwrap_or_default().trim_end(), known }
    }

    fn entries(&self) -> impl Iterator<Item = &'static str> {
        parts(self.text, b' ').filter(|entry| entry.starts_with(['*', '%', '-', '!']))
    }

    /// Returns the indexes of the words with a role.
    fn labels(&self, rest: &[Word]) -> Vec<usize> {
        let split = self.split(rest);
        let fixed = parts(self.subcommand, b' ').filter(|word| !word.is_empty());
        let mut operands = split.operands.iter().copied();
        let mut found = Vec::new();
        let mut before = 0;
        for wanted in fixed {
            let is_it = |at: &usize| rest.get(*at).is_some_and(|word| word.is_written() && word.text() == wanted);
            let Some(at) = operands.next().filter(is_it) else { return Vec::new() };
            found.push(at);
            before += 1;
        }
        found.extend(split.texts.iter().filter(|(operands, _)| *operands >= before).map(|(_, at)| *at));
        let excludes = self.entries().any(|entry| entry.starts_with('!'));
        if excludes && (split.is_excluded || !split.is_whole) {
            return found;
        }
        let is_name = |at: &usize| rest.get(*at).is_some_and(is_name);
        for entry in self.entries() {
            match entry {
                "%" => found.extend(operands.next()),
                "%%" => found.extend(operands.by_ref()),
                "*" => found.extend(operands.next().filter(is_name)),
                "**" => found.extend(operands.by_ref().filter(is_name)),
                _ => {}
            }
        }
        found
    }

    /// Splits the words, up to an option that nothing is known about.
    fn split(&self, rest: &[Word]) -> Split {
        let mut split = Split::default();
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            let text = word.text();
            if word.may_split() || word.is_open() {
                return split;
            }
            if text == "--" {
                split.operands.extend(at + 1..rest.len());
                break;
            }
            at += if text.starts_with('-') && text.len() > 1 {
                let Some(words) = self.read_option(word, at, &mut split) else { return split };
                words
            } else {
                split.operands.push(at);
                1
            };
        }
        split.is_whole = true;
        split
    }

    /// Reads the option at this index. Returns the number of its words, or none if nothing is known about it.
    fn read_option(&self, word: &Word, at: usize, split: &mut Split) -> Option<usize> {
        let text = word.text();
        let (name, is_joined) = match text.split_once('=') {
            Some((name, _)) if word.has(Signs::EQUALS) => (name, true),
            _ => (text, false),
        };
        let operands = split.operands.len();
        split.is_excluded |= self.excludes(name);
        if self.takes_text(name) {
            split.texts.push((operands, if is_joined { at } else { at + 1 }));
            return Some(if is_joined { 1 } else { 2 });
        }
        if self.entries().any(|entry| entry == text) {
            split.own_options.push(at);
        }
        if is_joined && name.starts_with("--") {
            return Some(1);
        }
        if let Some(takes) = self.takes_value(name) {
            return Some(if takes { 2 } else { 1 });
        }
        if text.starts_with("--") {
            return None;
        }
        for (start, letter) in text.char_indices().skip(1) {
            let option = short(letter);
            let is_joined = start + letter.len_utf8() < text.len();
            split.is_excluded |= self.excludes(&option);
            if self.takes_text(&option) {
                split.texts.push((operands, if is_joined { at } else { at + 1 }));
                return Some(if is_joined { 1 } else { 2 });
            }
            if self.takes_value(&option)? {
                return Some(if is_joined { 1 } else { 2 });
            }
        }
        Some(1)
    }

    fn takes_text(&self, option: &str) -> bool {
        self.entries().any(|entry| entry.strip_suffix(':') == Some(option))
    }

    fn excludes(&self, option: &str) -> bool {
        self.entries().any(|entry| entry.strip_prefix('!') == Some(option))
    }

    /// Returns true if the option takes the next word as its value. Returns none if no list has it, or if lists differ.
    fn takes_value(&self, option: &str) -> Option<bool> {
        if self.entries().any(|entry| entry == option) {
            return Some(false);
        }
        let is_it = |subcommand: &str| subcommand == self.subcommand;
        let reads = self.known.reads.iter().copied();
        let read = reads.flat_map(|row: &Reads| {
            let is_row = row.subcommands.is_empty() || row.subcommands.iter().any(is_it);
            [Some(row.globals), is_row.then_some(row.flags)]
        });
        let plain = self.known.plain.iter().map(|form| {
            let is_form = form.subcommands.is_empty() || form.subcommands.iter().any(is_it);
            is_form.then_some(form.flags)
        });
        let mut lists = read.chain(plain).flatten().filter_map(|list: List<'static>| takes_value(list, option));
        let first = lists.next()?;
        lists.all(|other| other == first).then_some(first)
    }
}

fn is_name(word: &Word) -> bool {
    word.is_written() && !word.text().contains(['/', '.', '='])
}
