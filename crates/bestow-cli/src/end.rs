//! How a command ended, and the exit code that says so.

use std::{
    fmt,
    io::{ErrorKind, Write, stderr, stdout},
    process::ExitCode,
};

use bestow::Effect;

/// How a command ended.
#[derive(Debug)]
pub(crate) enum End {
    /// It was done, or is allowed.
    Done,
    /// It may happen inside a sandbox, and nowhere else.
    Confined,
    /// A person would have to be asked.
    WouldAsk(String),
    /// The answer is no.
    Denied(String),
    /// It could not be done; no answer.
    Failed(String),
    /// The command line makes no sense.
    Usage(String),
}

impl End {
    pub(crate) fn usage(why: impl fmt::Display) -> End {
        End::Usage(why.to_string())
    }

    pub(crate) fn failed(why: impl fmt::Display) -> End {
        End::Failed(why.to_string())
    }

    /// Prints `text` and is done.
    pub(crate) fn said(text: &str) -> End {
        match stdout().lock().write_all(text.as_bytes()) {
            Ok(()) => End::Done,
            Err(why) => End::unheard(&why),
        }
    }

    /// Prints `text`, which says all there is to say about `effect`.
    pub(crate) fn decided(effect: Effect, text: &str) -> End {
        match (End::said(text), effect) {
            (End::Done, Effect::Confined) => End::Confined,
            (End::Done, Effect::Ask) => End::WouldAsk(String::new()),
            (End::Done, Effect::Deny) => End::Denied(String::new()),
            (end, _) => end,
        }
    }

    /// Standard output takes nothing any more. If nobody listens, there is nobody to complain to either.
    pub(crate) fn unheard(why: &std::io::Error) -> End {
        if why.kind() == ErrorKind::BrokenPipe { End::Failed(String::new()) } else { End::failed(why) }
    }

    /// Says why, if there is something to say, and becomes the exit code.
    pub(crate) fn told(self) -> ExitCode {
        let (code, why) = match self {
            End::Done => (0, String::new()),
            End::Failed(why) => (1, why),
            End::WouldAsk(why) => (2, why),
            End::Denied(why) => (3, why),
            End::Confined => (4, String::new()),
            End::Usage(why) => (64, format!("{why}\ntry `bestow --help`")),
        };
        if !why.is_empty() {
            // If standard error is gone, the exit code still tells.
            let _ = writeln!(stderr().lock(), "bestow: {why}");
        }
        ExitCode::from(code)
    }
}
