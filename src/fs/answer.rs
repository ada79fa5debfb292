//! One question about a path, one answer: what the command line and the case tables ask.

use serde::{Deserialize, Serialize};

use super::backend::Backend;
use crate::model::sanitize;

/// What is asked of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// Whether the text may be a path at all. The disk is not looked at.
    Sanitize,
    /// Where it really leads, if that is below an allowed base.
    Resolve,
    /// Whether the file there can be opened for reading.
    OpenRead,
    /// Whether the file there can be opened for writing. **It is**: created if missing, emptied if not.
    OpenWrite,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Verdict {
    /// It can be done; where it opens something, it has been.
    Ok,
    /// It cannot, and nothing has been done.
    Deny,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// Whether it can be done.
    pub verdict: Verdict,
    /// The path without links, where it was resolved and allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real: Option<String>,
    /// Why not, in one line for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Answers one question: `op` on `path` with these `allowed` bases, which are taken as they are written.
///
/// An `open` op really opens the file, and closes it again: there is no other way to know. Resolving and opening are
/// one step here; nothing is opened by name after it was checked.
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
    /// [`answer`](answer()), this way.
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
