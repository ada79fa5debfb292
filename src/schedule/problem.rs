//! The errors in a task file.

use std::fmt;

/// The most problems that are reported for one file. A person does not correct more of them one by one.
const MOST_TOLD: usize = 32;

/// An error in a task file, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line, from 1, or `None` if the problem is about the whole file.
    pub line: Option<u32>,
    /// A description of the problem, with a remedy.
    pub why: String,
}

impl Problem {
    pub(super) fn at(line: u32, why: impl Into<String>) -> Problem {
        Problem { line: Some(line), why: why.into() }
    }

    pub(super) fn of_file(why: impl Into<String>) -> Problem {
        Problem { line: None, why: why.into() }
    }

    /// Sorts the problems by line, with those about the whole file first, and limits their number.
    pub(super) fn sorted(mut all: Vec<Problem>) -> Vec<Problem> {
        all.sort_by_key(|problem| problem.line);
        let more = all.len().saturating_sub(MOST_TOLD);
        all.truncate(MOST_TOLD);
        if 0 < more {
            all.push(Problem::of_file(format!("and {more} more")));
        }
        all
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
