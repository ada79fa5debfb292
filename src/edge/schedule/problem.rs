//! What is wrong with a task file.

use std::fmt;

/// One thing that is wrong with a task file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line, from 1; none if it is about the whole file.
    pub line: Option<u32>,
    /// What is wrong, and the way out.
    pub why: String,
}

impl Problem {
    pub(super) fn at(line: u32, why: impl Into<String>) -> Problem {
        Problem { line: Some(line), why: why.into() }
    }

    pub(super) fn of_file(why: impl Into<String>) -> Problem {
        Problem { line: None, why: why.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}
