//! Problems of a policy file, for the person who wrote it.

use std::{fmt, sync::Arc};

use super::Position;
use crate::model::Escaped;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The position; none if the problem concerns the file as a whole.
    pub position: Option<Position>,
    /// The description of the problem.
    pub message: String,
    /// The remedy, if it is known.
    pub help: Option<String>,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>) -> Problem {
        Problem { position: None, message: message.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Problem {
        Problem { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

/// The reason why a file gives no policy: all its problems, in the order of the file.
///
/// A person sees one line for each problem.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    file: Arc<str>,
    problems: Vec<Problem>,
    untold: usize,
}

impl ConfigError {
    pub(super) fn new(file: Arc<str>, mut problems: Vec<Problem>, untold: usize) -> ConfigError {
        problems.sort_by_key(|problem| problem.position);
        ConfigError { file, problems, untold }
    }

    /// Adds more problems.
    pub(super) fn and(mut self, more: Vec<Problem>) -> ConfigError {
        self.problems.extend(more);
        ConfigError::new(self.file, self.problems, self.untold)
    }

    fn place(&self, f: &mut fmt::Formatter<'_>, position: Option<Position>) -> fmt::Result {
        match (self.file.is_empty(), position) {
            (true, _) => Ok(()),
            (false, None) => write!(f, "{}: ", Escaped(&self.file)),
            (false, Some(position)) => write!(f, "{}:{position}: ", Escaped(&self.file)),
        }
    }

    /// Returns the name of the file, as the caller gave it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the problems. Beyond a hundred, further ones are only counted.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the number of further problems.
    pub fn further_problems(&self) -> usize {
        self.untold
    }
}

/// Prints the text of `Display`, because a `main` that returns the error prints this.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, problem) in self.problems.iter().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            self.place(f, problem.position)?;
            write!(f, "{problem}")?;
        }
        if self.untold == 0 {
            return Ok(());
        }
        f.write_str("\n")?;
        self.place(f, None)?;
        write!(f, "and {} more", self.untold)
    }
}

impl std::error::Error for ConfigError {}
