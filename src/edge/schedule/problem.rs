//! What is wrong with a task file.

use std::fmt;

/// How many of them are told of one file; more are not being mended one by one.
const MOST_TOLD: usize = 32;

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

    /// In the order of lines, what is about the whole file first.
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
