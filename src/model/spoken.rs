//! Commands as they were parsed, and patterns of them.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::Tier;

/// One thing that a command line does, with every program it starts for that.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "what is run and how harmful it is")]
pub struct SpokenPart {
    /// How harmful it is.
    pub tier: Tier,
    /// The program as it stands there, then the programs that it starts. None: a redirection, an assignment, something
    /// that was not understood.
    pub commands: Vec<Spoken>,
}

/// The words of one command: the program and its arguments. A word that is not known from the text is none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "words are what a command is")]
pub struct Spoken {
    /// The words.
    pub words: Vec<Option<String>>,
}

/// A pattern of commands: words, where `*` stands for anything within one word and a last `**` for any words.
///
/// It is compared with commands as they are parsed, never with text: `git push **` says nothing about
/// `git push; rm -rf x` but for its first half.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommandPattern(Arc<str>);

/// Why a text is not a [`CommandPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidPattern {
    /// It says nothing.
    Empty,
    /// More than 1024 characters.
    TooLong,
    /// It holds something that a shell would act on.
    Operator(char),
    /// `**` stands anywhere but at the end.
    RestInside,
    /// The program is not named.
    AnyProgram,
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidPattern::Empty => f.write_str("a command pattern names at least the program"),
            InvalidPattern::TooLong => f.write_str("a command pattern has at most 1024 characters"),
            InvalidPattern::Operator(c) => write!(
                f,
                "a command pattern is the words of one command, without `{}`: each command of a line is compared by itself",
                c.escape_default()
            ),
            InvalidPattern::RestInside => f.write_str("`**` stands for all other words, so it comes last"),
            InvalidPattern::AnyProgram => f.write_str(
                "a command pattern begins with the name of the program; for any command leave `command` out and set \
                 `operation = \"command.execute\"`",
            ),
        }
    }
}

impl std::error::Error for InvalidPattern {}

impl CommandPattern {
    /// The pattern as it was written, with single spaces.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `command` is certainly like this: every word is known, the program is called by just this name.
    pub(crate) fn certainly_covers(&self, command: &Spoken) -> bool {
        let known = command.words.iter().map(Option::as_deref).collect::<Option<Vec<_>>>();
        known.is_some_and(|words| self.matches(words.into_iter().map(Some)))
    }

    /// Whether `command` may be like this: an unknown word may be any, a program is known under any path.
    pub(crate) fn may_cover(&self, command: &Spoken) -> bool {
        let mut words = command.words.iter().map(Option::as_deref);
        let program = words.next().flatten().map(|program| program.rsplit('/').next().unwrap_or(program));
        self.matches(std::iter::once(program).chain(words))
    }

    fn matches<'w>(&self, mut words: impl Iterator<Item = Option<&'w str>>) -> bool {
        for pattern in self.0.split(' ') {
            if pattern == "**" {
                return true;
            }
            match words.next() {
                Some(Some(word)) if is_like(pattern, word) => {}
                Some(None) => {}
                Some(Some(_)) | None => return false,
            }
        }
        words.next().is_none()
    }
}

/// Whether a word is like a pattern in which `*` stands for any characters.
fn is_like(pattern: &str, word: &str) -> bool {
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
        if first.trim_matches('*').is_empty() {
            return Err(InvalidPattern::AnyProgram);
        }
        if rest.iter().rev().skip(1).any(|word| *word == "**") || *first == "**" {
            return Err(InvalidPattern::RestInside);
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
