//! The command that a sandbox runs.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use bestow_command::internal::{GIVEN, quoted};

/// The source or the destination of a standard stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "nowhere, here, or where this process's own goes")]
pub enum Stream {
    /// An absent stream: the input is empty, and the output is discarded.
    Nothing,
    /// The stream of this process. Output is not captured.
    Inherit,
    /// A capture of the output, up to a limit. As an input for [`Sandbox::run`](super::Sandbox::run), it is empty.
    Captured,
}

/// A program with its words and its environment. No shell is involved unless the program is one.
///
/// The environment starts with `PATH` and `LANG`, in some back ends also with `TMPDIR`. It inherits no variable of this
/// process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub(super) words: Vec<OsString>,
    pub(super) environment: BTreeMap<String, OsString>,
    pub(super) input: Stream,
    pub(super) output: Stream,
}

/// The variables that every command starts with.
const FIXED: [(&str, &str); 2] = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")];

fn is_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit())
}

impl Command {
    /// Creates a command from a path, or from a program name that is looked up on the command's own `PATH`.
    pub fn new(program: impl Into<OsString>) -> Command {
        let environment = FIXED.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Command { words: vec![program.into()], environment, input: Stream::Nothing, output: Stream::Captured }
    }

    /// Returns the whole command as one line that a shell would read with this meaning. If the command has an input,
    /// the line ends with [`GIVEN`]. The result is `None` if a word is not UTF-8, or if a variable has a name that no
    /// shell can set.
    pub(super) fn line(&self) -> Option<String> {
        let words = self.spelled()?;
        match self.input {
            Stream::Nothing => Some(words),
            // The writer of this input is not known, so it may contain anything.
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

    /// Returns the words and the own variables for people, or an empty text if the command cannot be spelled.
    pub(crate) fn shown(&self) -> String {
        self.spelled().unwrap_or_default()
    }

    /// Describes the streams. They matter for the decision: a shell with an input executes that input.
    pub(super) fn streams(&self) -> String {
        format!("{:?} {:?}", self.input, self.output)
    }

    /// Returns the command with captured streams, so that the caller handles its input and output.
    pub(crate) fn held(self) -> Command {
        Command { input: Stream::Captured, output: Stream::Captured, ..self }
    }

    /// Adds a word.
    #[must_use]
    pub fn arg(mut self, word: impl Into<OsString>) -> Command {
        self.words.push(word.into());
        self
    }

    /// Adds several words.
    #[must_use]
    pub fn args<W: Into<OsString>>(mut self, words: impl IntoIterator<Item = W>) -> Command {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Command {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Connects the input and the output of the command to those of this process.
    #[must_use]
    pub fn inheriting(self) -> Command {
        Command { input: Stream::Inherit, output: Stream::Inherit, ..self }
    }
}
