//! Patterns of commands, and their comparison with parsed commands.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::spoken::{Ends, Said, Spoken, base_name};

/// A pattern of commands. It consists of words. `*` matches any characters within one word, and a last `**` matches any
/// words. Elsewhere, `**` is only for rules that deny or ask: `** prod **` matches every command with the word `prod`.
///
/// In a rule that allows, a wildcard matches no option that is not known to be harmless: `git push origin **` does not
/// match `git push origin --receive-pack=x`.
///
/// A pattern is compared with parsed commands, never with text: `git push **` matches only the first half of
/// `git push; rm -rf x`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommandPattern(Arc<str>);

/// The part of a command that a pattern certainly matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The whole command.
    Whole,
    /// The whole command except the word at this position. A wildcard must not match this word.
    AllBut(usize),
    /// The empty part: the pattern does not match for certain.
    None,
}

/// The reason why a text is not a [`CommandPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPattern {
    /// The text has no words.
    Empty,
    /// The text has more than 1024 characters.
    TooLong,
    /// The text has a character with a special meaning in a shell.
    Operator(char),
    /// The pattern does not name the program, and no word.
    AnyProgram,
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidPattern::Empty => f.write_str("a command pattern names at least the program"),
            InvalidPattern::TooLong => f.write_str("a command pattern has at most 1024 characters"),
            InvalidPattern::Operator(c) => write!(
                f,
                "a command pattern is the words of one command, without `{}`: each command of a line is \
                 compared by itself",
                c.escape_default()
            ),
            InvalidPattern::AnyProgram => f.write_str(
                "a command pattern begins with the name of the program, or with `**` before a word; for any command \
                 leave `command` out and set `operation = \"command.execute\"`",
            ),
        }
    }
}

impl std::error::Error for InvalidPattern {}

impl CommandPattern {
    /// Returns the pattern as text, with single spaces.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part of `command` that this pattern certainly matches. A match needs literal words, and a program
    /// with exactly the name in the pattern. The words at the positions `by_name` must be in the pattern themselves.
    pub fn certainly_covers(&self, command: &Spoken, by_name: &[usize]) -> Coverage {
        let words = command.words.iter().map(Said::written).collect::<Option<Vec<_>>>();
        match words.filter(|words| !command.anywhere && !self.has_inner_rest() && equals(&self.0, words)) {
            None => Coverage::None,
            Some(words) => by_name
                .iter()
                .find(|place| !self.names(**place, words.get(**place).copied().unwrap_or_default()))
                .map_or(Coverage::Whole, |place| Coverage::AllBut(*place)),
        }
    }

    /// Returns true if the pattern itself names the word `text` at position `place`: literally, or as `--option=*`.
    fn names(&self, place: usize, text: &str) -> bool {
        let Some(pattern) = self.0.split(' ').nth(place).filter(|pattern| *pattern != "**") else { return false };
        match pattern.split_once('*') {
            None => pattern == text,
            Some((fixed, _)) => fixed.contains('=') && text.starts_with(fixed),
        }
    }

    /// Returns true if the pattern may match `command`. A program matches under any path, options may stand between the
    /// words, and an unknown part may be any words.
    pub fn may_cover(&self, command: &Spoken) -> bool {
        may_cover(&self.0.split(' ').collect::<Vec<_>>(), command)
    }

    /// Returns true if the pattern may match `command` as in a rule that denies or asks: without a wildcard, any words
    /// may follow.
    pub(crate) fn may_cover_more(&self, command: &Spoken) -> bool {
        let rest = self.is_plain().then_some("**");
        may_cover(&self.0.split(' ').chain(rest).collect::<Vec<_>>(), command)
    }

    /// Returns true if `**` stands before another word. Such a pattern is only for rules that deny or ask: it covers no
    /// command for certain.
    pub fn has_inner_rest(&self) -> bool {
        self.0.split(' ').rev().skip(1).any(|word| word == "**")
    }

    /// Returns true if the pattern has no wildcard. In a rule that denies or asks, it then also covers any further
    /// words, and in a rule that allows exactly these words.
    pub fn is_plain(&self) -> bool {
        !self.0.contains('*')
    }

    /// Returns the name of the program, without its path. Returns none if the name contains a `*`.
    pub fn program(&self) -> Option<&str> {
        let program = base_name(self.0.split(' ').next()?);
        (!program.contains('*')).then_some(program)
    }
}

fn may_cover(pattern: &[&str], command: &Spoken) -> bool {
    let mut search = Search::new(pattern, command.anywhere);
    command.words.iter().any(|word| search.read(word)) || search.ends_well()
}

/// Returns true if exactly these words match the pattern.
fn equals(pattern: &str, words: &[&str]) -> bool {
    let mut words = words.iter();
    for pattern in pattern.split(' ') {
        if pattern == "**" {
            return true;
        }
        if !words.next().is_some_and(|word| is_like(pattern, word) && !leads_out(pattern, word)) {
            return false;
        }
    }
    words.next().is_none()
}

/// Returns true if a pattern for a path below a directory matches a path that leads out of it with `..`.
fn leads_out(pattern: &str, word: &str) -> bool {
    let goes_up = |text: &str| text.split('/').any(|name| name == "..");
    pattern.contains('*') && pattern.contains('/') && goes_up(word) && !goes_up(pattern)
}

/// Options between `git` and its subcommand that take a value. An option in neither list may take a value.
const GIT_VALUES: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix"];

/// Options between `git` and its subcommand that take no value.
const GIT_FLAGS: &[&str] = &[
    "-p",
    "-P",
    "--paginate",
    "--no-pager",
    "--bare",
    "--no-replace-objects",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
];

/// The possible states of a match: how many words of the pattern the words so far may have matched. Several states hold
/// at once.
struct Search<'p> {
    pattern: &'p [&'p str],
    anywhere: bool,
    /// At each index, true if this many words of the pattern may have matched.
    met: Vec<bool>,
    /// At each index, true if this many words may have matched and the last word was an option. The next word may be
    /// its value.
    after_option: Vec<bool>,
    /// True if the last word was an option of `git` itself that certainly takes the next word as its value.
    before_value: bool,
}

impl<'p> Search<'p> {
    fn new(pattern: &'p [&'p str], anywhere: bool) -> Self {
        let mut met = vec![false; pattern.len() + 1];
        if let Some(nothing) = met.first_mut() {
            *nothing = true;
        }
        let mut search = Search { pattern, anywhere, after_option: vec![false; met.len()], met, before_value: false };
        search.skip_rests();
        search
    }

    /// Adds the states in which a `**` before another word has matched no word more.
    fn skip_rests(&mut self) {
        for (place, _) in self.pattern.iter().enumerate().filter(|(_, wanted)| **wanted == "**") {
            let is_met = self.may_have_met(place) && place + 1 < self.pattern.len();
            if let Some(next) = self.met.get_mut(place + 1) {
                *next |= is_met;
            }
        }
    }

    /// Reads one more word. Returns true if the pattern now matches, independent of the words that follow.
    fn read(&mut self, word: &Said) -> bool {
        if let Some(nothing) = self.met.first_mut() {
            *nothing |= self.anywhere;
        }
        let before = self.state();
        self.step(word);
        match word {
            Said::Is(_) | Said::One(_) => {}
            Said::Maybe(_) => self.or(&before),
            Said::Many(_) => {
                self.or(&before);
                // Each pass matches one more word, or none.
                for _ in self.pattern {
                    let before = self.state();
                    self.step(word);
                    self.or(&before);
                }
            }
        }
        self.pattern.last() == Some(&"**") && self.may_have_met(self.pattern.len() - 1)
    }

    /// Returns true if the pattern matches and no word follows.
    fn ends_well(&self) -> bool {
        let rest = usize::from(self.pattern.last() == Some(&"**"));
        self.may_have_met(self.pattern.len()) || (rest == 1 && self.may_have_met(self.pattern.len() - 1))
    }

    fn may_have_met(&self, count: usize) -> bool {
        let at = |list: &[bool]| list.get(count).copied().unwrap_or(false);
        at(&self.met) || at(&self.after_option)
    }

    fn state(&self) -> (Vec<bool>, Vec<bool>, bool) {
        (self.met.clone(), self.after_option.clone(), self.before_value)
    }

    fn or(&mut self, (met, after_option, before_value): &(Vec<bool>, Vec<bool>, bool)) {
        self.before_value |= before_value;
        self.met.iter_mut().zip(met).for_each(|(now, before)| *now |= before);
        self.after_option.iter_mut().zip(after_option).for_each(|(now, before)| *now |= before);
    }

    /// Advances the states by one word.
    fn step(&mut self, word: &Said) {
        let option = may_be_option(word);
        let own = self.own_option(word);
        let takes_next = own == Some(true) && self.may_have_met(1);
        let was_value = std::mem::replace(&mut self.before_value, takes_next);
        let (mut met, mut after_option) = (vec![false; self.met.len()], vec![false; self.met.len()]);
        for (place, wanted) in self.pattern.iter().enumerate().filter(|(place, _)| self.may_have_met(*place)) {
            let fits = if place == 0 { self.may_be_program(wanted, word) } else { may_be(wanted, word) };
            if let Some(next) = met.get_mut(place + 1) {
                *next |= fits;
            }
            if *wanted == "**"
                && let Some(same) = met.get_mut(place)
            {
                *same = true;
            }
            // Options and their values may stand anywhere between the program and the last word of the pattern.
            if let (Some(met), Some(after)) = (met.get_mut(place), after_option.get_mut(place)) {
                match own.filter(|_| place == 1) {
                    Some(takes_value) => *met |= !takes_value,
                    None => *after |= place > 0 && option,
                }
                *met |= place > 0 && self.after_option.get(place).copied().unwrap_or(false);
            }
        }
        if let Some(subcommand) = met.get_mut(1) {
            *subcommand |= was_value;
        }
        (self.met, self.after_option) = (met, after_option);
        self.skip_rests();
    }

    /// Classifies `word` as an option between `git` and its subcommand. Returns true if it takes the next word, false
    /// if it takes none, and none for any other word.
    fn own_option(&self, word: &Said) -> Option<bool> {
        let git = self.pattern.first().is_some_and(|program| base_name(program) == "git");
        let text = word.written().filter(|_| git)?;
        let joined = text.split_once('=').is_some_and(|(name, _)| GIT_VALUES.contains(&name) && name.len() > 2);
        let alone = joined || GIT_FLAGS.contains(&text);
        (alone || GIT_VALUES.contains(&text)).then_some(!alone)
    }

    fn may_be_program(&self, wanted: &str, word: &Said) -> bool {
        let wanted = base_name(wanted);
        match word {
            Said::Is(text) | Said::Maybe(text) => {
                let name = base_name(text);
                // The name may be joined to an option, as in `-cgit`.
                let joined = self.anywhere && text.starts_with('-');
                is_like(wanted, name) || (joined && is_like(&format!("*{wanted}"), name))
            }
            Said::One(ends) | Said::Many(ends) => match ends.end.rsplit_once('/') {
                Some((_, name)) => is_like(wanted, name),
                None => may_end(wanted, &ends.end),
            },
        }
    }
}

fn may_be_option(word: &Said) -> bool {
    match word {
        Said::Is(text) | Said::Maybe(text) => text.starts_with(['-', '+']) && text.len() > 1,
        Said::One(ends) | Said::Many(ends) => ends.start.is_empty() || ends.start.starts_with(['-', '+']),
    }
}

fn may_be(pattern: &str, word: &Said) -> bool {
    match word {
        Said::Is(text) | Said::Maybe(text) => is_like(pattern, text),
        Said::One(Ends { start, end }) | Said::Many(Ends { start, end }) => {
            let long_enough = pattern.contains('*') || pattern.len() >= start.len() + end.len();
            long_enough && may_start(pattern, start) && may_end(pattern, end)
        }
    }
}

/// Returns true if some text that matches the pattern may begin with `start`.
fn may_start(pattern: &str, start: &str) -> bool {
    match pattern.split_once('*') {
        Some((fixed, _)) => fixed.starts_with(start) || start.starts_with(fixed),
        None => pattern.starts_with(start),
    }
}

/// Returns true if some text that matches the pattern may end with `end`.
fn may_end(pattern: &str, end: &str) -> bool {
    match pattern.rsplit_once('*') {
        Some((_, fixed)) => fixed.ends_with(end) || end.ends_with(fixed),
        None => pattern.ends_with(end),
    }
}

/// Returns true if a word matches a pattern in which `*` stands for any characters.
pub(crate) fn is_like(pattern: &str, word: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|start| word.strip_prefix(start)) else { return false };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    let mut rest = rest;
    for part in parts {
        match rest.find(part).and_then(|at| rest.get(at + part.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(end)
}

impl FromStr for CommandPattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<CommandPattern, InvalidPattern> {
        if text.chars().nth(1024).is_some() {
            return Err(InvalidPattern::TooLong);
        }
        let operator = |c: &char| c.is_control() || ";|&<>()`$\"'\\#{}".contains(*c);
        if let Some(operator) = text.chars().find(operator) {
            return Err(InvalidPattern::Operator(operator));
        }
        let words: Vec<_> = text.split_whitespace().collect();
        let (first, rest) = words.split_first().ok_or(InvalidPattern::Empty)?;
        let is_any = |word: &str| word.trim_matches('*').is_empty();
        if is_any(first) && (*first != "**" || rest.iter().all(|word| is_any(word))) {
            return Err(InvalidPattern::AnyProgram);
        }
        Ok(CommandPattern(words.join(" ").into()))
    }
}

impl TryFrom<String> for CommandPattern {
    type Error = InvalidPattern;

    fn try_from(text: String) -> Result<CommandPattern, InvalidPattern> {
        text.parse()
    }
}

impl From<CommandPattern> for String {
    fn from(pattern: CommandPattern) -> String {
        pattern.0.as_ref().to_owned()
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
#[path = "pattern/tests.rs"]
mod tests;
