//! The answer of a hook, as its process gives it.

use bestow::text::Escaped;
use serde_json::Value;

/// The most characters of a reason. Hosts show reasons to a model, or on a line of a terminal.
const MOST_TOLD: usize = 2_000;

/// The exit code with which most hosts block a call.
const BLOCKED: u8 = 2;

/// The answer of a hook: the two outputs of its process, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a host takes silence as permission"]
#[allow(clippy::exhaustive_structs, reason = "a process has no more")]
pub struct Output {
    /// Standard output: one line, or nothing.
    pub stdout: String,
    /// Standard error: one line, or nothing.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
}

impl Output {
    /// Returns the answer without a decision.
    pub fn of_nothing() -> Output {
        Output { stdout: String::new(), stderr: String::new(), code: 0 }
    }

    /// Returns an answer of one object.
    pub(super) fn of(object: &Value) -> Output {
        Output { stdout: format!("{object}\n"), ..Output::of_nothing() }
    }

    /// Returns an answer that blocks a call: in the object, by the exit code, and with the reason on standard error.
    pub(super) fn blocking(object: &Value, reason: &str) -> Output {
        Output { stderr: format!("bestow: {}\n", told(reason)), code: BLOCKED, ..Output::of(object) }
    }

    /// Returns the answer to something that needs no decision, where something failed. The host shows the reason to its
    /// user and goes on.
    pub fn warning(why: &str) -> Output {
        Output { stdout: String::new(), stderr: format!("bestow: {}\n", told(why)), code: 1 }
    }
}

/// Returns a reason for a host: of limited length, without characters that could deceive.
pub(super) fn told(reason: &str) -> String {
    let short: String = reason.chars().take(MOST_TOLD).collect();
    Escaped(&short).to_string()
}
