//! What is to be run.

use std::{collections::BTreeMap, ffi::OsString};

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

impl Command {
    /// A program by name, found on the command's own `PATH`, or by path.
    pub fn new(program: impl Into<OsString>) -> Command {
        let fixed = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")];
        let environment = fixed.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Command { words: vec![program.into()], environment, input: Stream::Nothing, output: Stream::Captured }
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
