//! Answers about a single path, for the command line and the case tables.

use serde::{Deserialize, Serialize};

use super::backend::Backend;
use crate::model::sanitize;

/// An operation that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// Checks if the text is a valid path. The disk is not read.
    Sanitize,
    /// Resolves the path to its real location, if that is below an allowed base.
    Resolve,
    /// Checks if the file at the path can be opened for reading.
    OpenRead,
    /// Checks if the file at the path can be opened for writing. **This opens it**: a missing file is created, an
    /// existing one emptied.
    OpenWrite,
}

/// The result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Verdict {
    /// The operation is possible. If it opens a file, the file was opened.
    Ok,
    /// The operation is not possible, and no file was changed.
    Deny,
}

/// The answer about one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The result of the operation.
    pub verdict: Verdict,
    /// The path without links, if it was resolved and allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<String>,
    /// The reason for a denial, in one line for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answers if `op` is possible on `path` with these `allowed` bases, which are taken as written.
///
/// An `open` operation really opens the file and closes it again, because there is no other way to know. Resolving and
/// opening are one step: a path is never checked and then opened by name.
///
/// ```
/// use bestow::fs::{Op, Verdict, answer};
/// let none: [&str; 0] = [];
/// assert_eq!(answer(Op::Sanitize, &none, "/a/../b").verdict, Verdict::Ok);
/// assert_eq!(answer(Op::Resolve, &none, "/etc").verdict, Verdict::Deny);
/// assert_eq!(answer(Op::Resolve, &["/"], "/etc/..").real.as_deref(), Some("/"));
/// ```
pub fn answer<P: AsRef<str>>(op: Op, allowed: &[P], path: &str) -> Answer {
    Backend::Auto.answer(op, allowed, path)
}

impl Backend {
    /// Answers like [`answer`](answer()), with this backend.
    pub fn answer<P: AsRef<str>>(self, op: Op, allowed: &[P], path: &str) -> Answer {
        match self.try_to(op, allowed, path) {
            Ok(real) => Answer { verdict: Verdict::Ok, real, reason: None },
            Err(error) => Answer { verdict: Verdict::Deny, real: None, reason: Some(error.to_string()) },
        }
    }

    fn try_to<P: AsRef<str>>(
        self,
        op: Op,
        allowed: &[P],
        path: &str,
    ) -> Result<Option<String>, Box<dyn std::error::Error>> {
        if op == Op::Sanitize {
            sanitize(path)?;
            return Ok(None);
        }
        let contained = self.resolve(allowed, path)?;
        match op {
            Op::Sanitize | Op::Resolve => {}
            Op::OpenRead => drop(contained.open_read()?),
            Op::OpenWrite => drop(contained.open_write()?),
        }
        Ok(Some(contained.path().as_str().to_owned()))
    }
}
