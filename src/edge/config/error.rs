//! What is wrong with a policy file, for the person who wrote it.

use std::{fmt, sync::Arc};

use super::Position;
use crate::model::Shown;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where; none if it concerns the file as a whole.
    pub position: Option<Position>,
    /// What is wrong.
    pub message: String,
    /// What to do about it, where that is known.
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

/// Why a file gives no policy: everything that is wrong with it, in the order of the file.
///
/// Shown to a person as one line for each problem.
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

    fn place(&self, f: &mut fmt::Formatter<'_>, position: Option<Position>) -> fmt::Result {
        match (self.file.is_empty(), position) {
            (true, _) => Ok(()),
            (false, None) => write!(f, "{}: ", Shown(&self.file)),
            (false, Some(position)) => write!(f, "{}:{position}: ", Shown(&self.file)),
        }
    }

    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What is wrong. Of a flood, a hundred.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// As it is displayed: this is what a `main` that returns it prints.
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
