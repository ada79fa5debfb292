//! The places at which the commands of a text have a secret, by what is known about their programs.
//!
//! The records of programs say where a secret stands among the words of a command (`secret_words`), and which commands
//! read one from their input. An option such as `--password-stdin` says so for any program. A word behind the name of a
//! secret, in a command that stores settings, is its value: `config set api_token x`.

use std::{cell::Cell, ops::Range};

use super::names::{Strength, secret_words_of, strength};

/// A secret, and how certainly it is one.
pub(super) type Place = (Range<usize>, Strength);

/// The number of words of a command among which a program is searched, behind wrappers.
const MOST_PROGRAMS: usize = 16;

/// The depth of quotations that are read as commands of their own.
const DEEPEST: u8 = 3;

/// The words with which a command stores a setting.
const SETTERS: [&str; 5] = ["set", "config", "configure", "put", "store"];

/// Returns the places of secrets in `text`, in order. `steps` counts the words that were compared.
pub(super) fn places(text: &str, steps: &Cell<usize>) -> Vec<Place> {
    let mut reader = Reader { text, steps, found: Vec::new() };
    reader.read(0..text.len(), DEEPEST);
    reader.found.sort_by_key(|(span, _)| span.start);
    reader.found
}

/// The words of one command, as spans of the text.
#[derive(Default)]
struct Command {
    words: Vec<Range<usize>>,
    /// The texts of here-strings and here-documents.
    given: Vec<Range<usize>>,
    /// True if its output goes to a file.
    is_redirected: bool,
}

struct Reader<'t> {
    text: &'t str,
    steps: &'t Cell<usize>,
    found: Vec<Place>,
}

/// The use of the next word of a command.
enum Next {
    Word,
    /// The text of a here-string.
    Given,
    /// The end of a here-document.
    Delimiter,
    /// The target of a redirection.
    Target,
}

impl<'t> Reader<'t> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn part(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Reads the commands in a part of the text.
    fn read(&mut self, part: Range<usize>, depth: u8) {
        let (mut command, mut before, mut next) = (Command::default(), None, Next::Word);
        let (mut ends, mut at) = (Vec::<String>::new(), part.start);
        while let Some(byte) = self.byte(at).filter(|_| at < part.end) {
            match byte {
                b'\n' | b';' | b'&' | b'(' | b')' | b'`' => {
                    at += 1;
                    if byte == b'\n' {
                        for end in ends.drain(..) {
                            at = self.skip_document(at..part.end, &end, &mut command);
                        }
                    }
                    self.finish(&std::mem::take(&mut command), before.take().as_ref());
                    next = Next::Word;
                }
                b'|' => {
                    let is_pipe = self.byte(at + 1) != Some(b'|');
                    at += if is_pipe { 1 } else { 2 };
                    self.finish(&command, before.as_ref());
                    before = is_pipe.then_some(std::mem::take(&mut command));
                    command = Command::default();
                }
                b'<' | b'>' => {
                    let rest = self.text.as_bytes().get(at..part.end).unwrap_or_default();
                    command.is_redirected |= byte == b'>';
                    (next, at) = match rest {
                        [b'<', b'<', b'<', ..] => (Next::Given, at + 3),
                        [b'<', b'<', b'-', ..] => (Next::Delimiter, at + 3),
                        [b'<', b'<', ..] => (Next::Delimiter, at + 2),
                        [_, b'>' | b'&' | b'|', ..] => (Next::Target, at + 2),
                        _ => (Next::Target, at + 1),
                    };
                }
                _ if byte.is_ascii_whitespace() => at += 1,
                _ => {
                    let (word, end) = self.word(at..part.end);
                    at = end;
                    if depth > 0 && self.part(&word).contains(|c: char| c.is_ascii_whitespace()) {
                        self.read(word.clone(), depth - 1);
                    }
                    match std::mem::replace(&mut next, Next::Word) {
                        Next::Word => command.words.push(word),
                        Next::Given => command.given.push(word),
                        Next::Delimiter => ends.push(self.part(&word).to_owned()),
                        Next::Target => {}
                    }
                }
            }
        }
        self.finish(&command, before.as_ref());
    }

    /// Returns the word at the start of `part`, without the quotation marks around the whole word, and its end.
    fn word(&self, part: Range<usize>) -> (Range<usize>, usize) {
        let (mut at, mut quoted) = (part.start, None);
        while let Some(byte) = self.byte(at).filter(|_| at < part.end) {
            match byte {
                b'\\' => at += 2,
                b'"' | b'\'' => {
                    let inside = at + 1..self.end_of_quotation(at + 1..part.end, byte);
                    if inside.end >= part.end {
                        // Nothing closes this mark.
                        at += 1;
                        continue;
                    }
                    at = inside.end + 1;
                    quoted = Some(inside).filter(|inside| inside.start == part.start + 1);
                }
                _ if byte.is_ascii_whitespace() || b";|&<>()`".contains(&byte) => break,
                _ => at += 1,
            }
        }
        let end = at.min(part.end);
        let whole = quoted.filter(|inside| inside.end + 1 == end);
        (whole.unwrap_or(part.start..end), end)
    }

    fn end_of_quotation(&self, part: Range<usize>, mark: u8) -> usize {
        let mut at = part.start;
        while let Some(byte) = self.byte(at).filter(|_| at < part.end) {
            self.steps.set(self.steps.get() + 1);
            match byte {
                b'\\' if mark == b'"' => at += 2,
                _ if byte == mark => return at,
                _ => at += 1,
            }
        }
        part.end
    }

    /// Takes the lines of a here-document as input of the command. Returns the position behind it.
    fn skip_document(&self, part: Range<usize>, end: &str, command: &mut Command) -> usize {
        let mut at = part.start;
        for line in self.part(&part).split_inclusive('\n') {
            let text = line.trim_end_matches('\n').trim_start_matches('\t');
            let start = at + (line.trim_end_matches('\n').len() - text.len());
            at += line.len();
            if text == end {
                break;
            }
            command.given.push(start..start + text.len());
        }
        at
    }

    /// Finds the secrets of a command. The output of the command `before` is its input.
    fn finish(&mut self, command: &Command, before: Option<&Command>) {
        self.find_settings(command);
        for at in 0..command.words.len() {
            let word = command.words.get(at).map(|word| self.part(word)).unwrap_or_default();
            let reads = word.strip_prefix("--").and_then(|option| option.strip_suffix("-stdin"));
            if reads.and_then(strength) == Some(Strength::Strong) {
                self.take_input(command, before, None, All);
            }
            let rows = if at < MOST_PROGRAMS { secret_words_of(word) } else { &[] };
            for row in rows {
                self.find_row(row, command, at, before);
            }
        }
    }

    /// Finds the value behind the name of a secret in a command that stores settings.
    fn find_settings(&mut self, command: &Command) {
        let words = command.words.iter().map(|word| self.part(word)).enumerate();
        let mut is_setter = false;
        let mut values = Vec::new();
        for (at, word) in words {
            let name = word.rsplit(['/', ':']).next().unwrap_or_default();
            let is_name =
                is_setter && !word.starts_with('-') && name.contains(['_', '-', '.']) || name.starts_with('_');
            if is_name && strength(name.trim_start_matches('_')) == Some(Strength::Strong) {
                values.push(at + 1);
            }
            is_setter |= at > 0 && SETTERS.contains(&word.rsplit(':').next().unwrap_or_default());
        }
        for at in values {
            let value = command.words.get(at).filter(|value| !self.part(value).starts_with('-'));
            self.take(value.cloned(), None, Strength::Strong);
        }
    }

    /// Finds the secret of a row `words § …`, if the row is about the command whose program is the word `program`.
    fn find_row(&mut self, row: &str, command: &Command, program: usize, before: Option<&Command>) {
        self.steps.set(self.steps.get() + command.words.len());
        let (first, mut at) = (program + 1, program + 1);
        let mut option = None;
        for part in row.split(' ') {
            match part {
                "<" => return self.take_input(command, before, row.split(' ').next_back().and_then(separator), All),
                "<1" => return self.take_input(command, before, None, First),
                "*" => match self.operand(command, at) {
                    Some(operand) => (at, option) = (operand + 1, None),
                    None => return,
                },
                _ if part.strip_suffix('§').is_some_and(is_prefix) => {
                    return self.take_behind(part.trim_end_matches('§'), command, first);
                }
                "**" => (at, option) = (at.max(command.words.len().saturating_sub(1)), None),
                _ if part.ends_with('§') => {
                    let after = separator(part);
                    if let Some(option) = option {
                        for place in first..command.words.len() {
                            let value =
                                self.is_part(command, place, option).then(|| self.value_of(command, place, option));
                            self.take(value.flatten(), after, Strength::Certain);
                        }
                        return;
                    }
                    while let Some(operand) = self.operand(command, at) {
                        self.take(command.words.get(operand).cloned(), after, Strength::Certain);
                        if after.is_none() {
                            return;
                        }
                        at = operand + 1;
                    }
                }
                _ => {
                    let from = if part.starts_with('-') { first } else { at };
                    let Some(place) = (from..command.words.len()).find(|place| self.is_part(command, *place, part))
                    else {
                        return;
                    };
                    match part.starts_with('-') {
                        true => option = Some(part),
                        false => at = place + 1,
                    }
                }
            }
        }
    }

    /// Returns true if the word is this word of a row, or an option with it: `-nb` and `-bVALUE` for `-b`.
    fn is_part(&self, command: &Command, place: usize, part: &str) -> bool {
        let Some(word) = command.words.get(place).map(|word| self.part(word)) else { return false };
        let bundles = part.len() == 2 && part.starts_with('-') && !word.starts_with("--");
        let has = |letter: char| word.starts_with('-') && word.chars().skip(1).any(|one| one == letter);
        word == part
            || part.starts_with("--") && word.strip_prefix(part).is_some_and(|rest| rest.starts_with('='))
            || bundles && part.chars().nth(1).is_some_and(has)
    }

    /// Returns the value of the option at `place`: joined to it, or the next word.
    fn value_of(&self, command: &Command, place: usize, option: &str) -> Option<Range<usize>> {
        let word = command.words.get(place)?;
        let joined = self.part(word).strip_prefix(option).filter(|rest| !rest.is_empty());
        match joined {
            Some(rest) => Some(word.end - rest.trim_start_matches('=').len()..word.end),
            None => command.words.get(place + 1).cloned(),
        }
    }

    /// Returns the position of the first operand from `at` on.
    fn operand(&self, command: &Command, at: usize) -> Option<usize> {
        let is_operand =
            |place: &usize| command.words.get(*place).is_some_and(|word| !self.part(word).starts_with('-'));
        (at..command.words.len()).find(is_operand)
    }

    /// Takes what follows `prefix` in the words that begin with it, as in `/p:SECRET`.
    fn take_behind(&mut self, prefix: &str, command: &Command, first: usize) {
        for word in command.words.iter().skip(first) {
            if self.part(word).starts_with(prefix) {
                self.found.push((word.start + prefix.len()..word.end, Strength::Certain));
            }
        }
    }

    /// Takes the words that another command says to this one, and the texts given to either of them.
    fn take_input(&mut self, command: &Command, before: Option<&Command>, after: Option<char>, lines: Lines) {
        let said = before.filter(|before| !before.is_redirected);
        let given = command.given.iter().chain(said.into_iter().flat_map(|said| &said.given));
        let most = if lines == First { 1 } else { usize::MAX };
        for span in given.take(most).cloned().collect::<Vec<_>>() {
            self.take(Some(span), after, Strength::Certain);
        }
        let Some((program, rest)) = said.and_then(|said| said.words.split_first()) else { return };
        let is_printf = self.part(program) == "printf";
        if !is_printf && self.part(program) != "echo" {
            return;
        }
        let skipped = usize::from(is_printf && rest.len() > 1);
        for word in rest.iter().skip(skipped) {
            // `printf` and `echo -e` read `\n` as the end of the line.
            let text = self.part(word);
            let length = text.find('\\').unwrap_or(text.len());
            let said = (!text.starts_with('-')).then(|| word.start..word.start + length);
            self.take(said, after, Strength::Certain);
        }
    }

    fn take(&mut self, span: Option<Range<usize>>, after: Option<char>, strength: Strength) {
        let Some(span) = span else { return };
        let start = match after.map(|sign| self.part(&span).find(sign)) {
            None => span.start,
            Some(Some(at)) => span.start + at + 1,
            Some(None) => return,
        };
        self.found.push((start..span.end, strength));
    }
}

/// The lines of its input that a command takes for a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    All,
    /// It may run the others.
    First,
}
use Lines::{All, First};

/// Returns true for the beginning of a word before its secret, as in `/p:§`.
fn is_prefix(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('*')
}

/// Returns the character before the secret in `*:§`.
fn separator(place: &str) -> Option<char> {
    place.strip_prefix('*')?.chars().next().filter(|sign| *sign != '§')
}
