//! Collects problems, so that a person sees all of them at once.

use std::io;

use super::{ConfigError, PolicyText, Problem, position::Lines};
use crate::model::Place;
pub(super) use crate::{quote::quoted, suggest::did_you_mean};

/// The maximum number of collected problems. A person does not correct more of them one by one.
const MAX_PROBLEMS: usize = 100;

/// The problems of one text so far.
#[derive(Debug)]
pub(super) struct Diagnostics<'t> {
    text: &'t PolicyText,
    lines: Lines,
    problems: Vec<Problem>,
    untold: usize,
}

impl<'t> Diagnostics<'t> {
    pub(super) fn new(text: &'t PolicyText) -> Diagnostics<'t> {
        Diagnostics { text, lines: Lines::of(&text.bytes), problems: Vec::new(), untold: 0 }
    }

    /// Records a problem at `offset`.
    pub(super) fn add(&mut self, offset: usize, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            let position = Some(self.lines.position(offset, &self.text.bytes));
            self.problems.push(Problem { position, ..problem });
        } else {
            self.untold += 1;
        }
    }

    /// Records a problem of the whole file.
    pub(super) fn add_general(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Returns the value, or records the problem of the whole file.
    pub(super) fn general<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add_general(problem)).ok()
    }

    /// Returns the value, or records its problem.
    pub(super) fn ok<T>(&mut self, offset: usize, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(offset, problem)).ok()
    }

    /// Returns true if there is a problem.
    pub(super) fn any(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Returns `value`, unless there is a problem.
    pub(super) fn unless_any<T>(self, value: T) -> Result<T, ConfigError> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.told()) }
    }

    /// Converts the problems to an error.
    pub(super) fn told(self) -> ConfigError {
        ConfigError::new(self.text.file.clone(), self.problems, self.untold)
    }

    /// Returns the line at `offset`, which is stored as the origin of a permission.
    pub(super) fn place(&self, offset: usize) -> Place {
        Place { file: self.text.file.clone(), line: self.lines.line(offset) }
    }
}

/// Returns the operating system's description of an error, without its number.
pub(super) fn system(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().map_or(text.clone(), str::to_lowercase)
}
