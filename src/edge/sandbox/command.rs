//! What is to be run.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use crate::{command::quoted, model::GIVEN};

/// Where a stream of a command comes from or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "nowhere, here, or where this process's own goes")]
pub enum Stream {
    /// Nothing is read.
    Nothing,
    /// The stream of this process. For output: nothing is kept.
    Inherit,
    /// Kept, up to a limit.
    Captured,
}

/// A program, its words and its environment. There is no shell unless the program is one.
///
/// The environment starts with `PATH` and `LANG`, in some back ends `TMPDIR`, and nothing of this process's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub(super) words: Vec<OsString>,
    pub(super) environment: BTreeMap<String, OsString>,
    pub(super) input: Stream,
    pub(super) output: Stream,
}

/// What every command has in its environment.
const FIXED: [(&str, &str); 2] = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")];

fn is_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit())
}

impl Command {
    /// A program by name, found on the command's own `PATH`, or by path.
    pub fn new(program: impl Into<OsString>) -> Command {
        let environment = FIXED.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Command { words: vec![program.into()], environment, input: Stream::Nothing, output: Stream::Captured }
    }

    /// All of it as one line that a shell would read as just this, with what it is given to read; none if there is none: a
    /// word is not UTF-8, or a variable has a name that no shell could set.
    pub(super) fn line(&self) -> Option<String> {
        let words = self.spelled()?;
        match self.input {
            Stream::Nothing => Some(words),
            // Whoever it comes from may write anything.
            Stream::Inherit | Stream::Captured => Some(format!("{words} {GIVEN}")),
        }
    }

    fn spelled(&self) -> Option<String> {
        let is_own = |(name, value): &(&String, &OsString)| {
            !FIXED.iter().any(|(fixed, same)| fixed == name && **value == *OsStr::new(same))
        };
        let own = self.environment.iter().filter(is_own);
        let assignments =
            own.map(|(name, value)| is_name(name).then_some(format!("{name}={}", quoted(value.to_str()?))));
        let words = self.words.iter().map(|word| word.to_str().map(quoted));
        assignments.chain(words).collect::<Option<Vec<_>>>().map(|all| all.join(" "))
    }

    /// Its words, for people.
    pub(in crate::edge) fn shown(&self) -> String {
        self.spelled().unwrap_or_default()
    }

    /// Where it reads from and writes to: a shell that reads runs what it reads.
    pub(super) fn streams(&self) -> String {
        format!("{:?} {:?}", self.input, self.output)
    }

    /// Its input and its output are whoever's it is.
    pub(in crate::edge) fn held(self) -> Command {
        Command { input: Stream::Captured, output: Stream::Captured, ..self }
    }

    /// One more word.
    #[must_use]
    pub fn arg(mut self, word: impl Into<OsString>) -> Command {
        self.words.push(word.into());
        self
    }

    /// More words.
    #[must_use]
    pub fn args<W: Into<OsString>>(mut self, words: impl IntoIterator<Item = W>) -> Command {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    /// A variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Command {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Its input is this process's, and its output goes where this process's goes.
    #[must_use]
    pub fn inheriting(self) -> Command {
        Command { input: Stream::Inherit, output: Stream::Inherit, ..self }
    }
}
