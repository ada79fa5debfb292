//! The outcomes of a command, and their exit codes.

use std::{
    fmt,
    io::{ErrorKind, Write, stderr, stdout},
    process::ExitCode,
};

use bestow::Effect;

/// The exit codes, as help pages list them.
pub(crate) const EXIT_CODES: &str = "   \
   0  The command is done, or the action is allowed
   1  An error: there is no answer and no permission, or the command that ran has failed
   2  The action needs the answer of a person, or a hook answers that a call may not happen
   3  The action is denied, or the request is refused
   4  The action may happen only inside a sandbox
  64  The command line is invalid";

/// The outcome of a command.
#[derive(Debug)]
pub(crate) enum Exit {
    /// The command is done, or the action is allowed.
    Done,
    /// The action may happen inside a sandbox only.
    Confined,
    /// A person would have to be asked.
    WouldAsk(String),
    /// A hook has answered that a call may not happen.
    Blocked,
    /// The answer is no.
    Denied(String),
    /// An error: there is no answer.
    Failed(String),
    /// The program that ran in place of this one has ended with this code.
    Ended(u8),
    /// The words of the command line are not understood.
    Usage(String),
}

impl Exit {
    /// Returns an outcome for words that are not understood.
    pub(crate) fn usage(why: impl fmt::Display) -> Exit {
        Exit::Usage(why.to_string())
    }

    /// Returns an outcome for an error.
    pub(crate) fn failed(why: impl fmt::Display) -> Exit {
        Exit::Failed(why.to_string())
    }

    /// Prints `text` on standard output.
    pub(crate) fn print(text: &str) -> Exit {
        match stdout().lock().write_all(text.as_bytes()) {
            Ok(()) => Exit::Done,
            Err(why) => Exit::output_failed(&why),
        }
    }

    /// Prints `text`, the whole answer about an action with this effect.
    pub(crate) fn decided(effect: Effect, text: &str) -> Exit {
        match (Exit::print(text), effect) {
            (Exit::Done, Effect::Confined) => Exit::Confined,
            (Exit::Done, Effect::Ask) => Exit::WouldAsk(String::new()),
            (Exit::Done, Effect::Deny) => Exit::Denied(String::new()),
            (exit, _) => exit,
        }
    }

    /// Returns an outcome for a standard output that takes no more. A closed pipe is no error to complain about.
    pub(crate) fn output_failed(why: &std::io::Error) -> Exit {
        if why.kind() == ErrorKind::BrokenPipe { Exit::Failed(String::new()) } else { Exit::failed(why) }
    }

    /// Prints the reason on standard error, if there is one, and returns the exit code. `command` is the command in
    /// whose help page a person finds more.
    pub(crate) fn report(self, command: impl FnOnce() -> String) -> ExitCode {
        let (code, why) = match self {
            Exit::Done => (0, String::new()),
            Exit::Failed(why) => (1, why),
            Exit::WouldAsk(why) => (2, why),
            Exit::Blocked => (2, String::new()),
            Exit::Denied(why) => (3, why),
            Exit::Confined => (4, String::new()),
            Exit::Ended(code) => (code, String::new()),
            Exit::Usage(why) => (64, format!("{why}\ntry `{} --help`", command())),
        };
        if !why.is_empty() {
            // The exit code remains where standard error is closed.
            let _ = writeln!(stderr().lock(), "bestow: {why}");
        }
        ExitCode::from(code)
    }
}
