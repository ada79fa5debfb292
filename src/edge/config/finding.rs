//! Collects what is wrong, so that a person hears everything at once.

use std::io;

use super::{ConfigError, PolicyText, Problem, position::Lines};
use crate::model::{Place, Shown};

/// A file with more mistakes than this is not being corrected one by one.
const MAX_PROBLEMS: usize = 100;

/// How much of a foreign text a message repeats.
const MAX_QUOTED_CHARS: usize = 80;

/// What has been found wrong with one text so far.
#[derive(Debug)]
pub(super) struct Findings<'t> {
    text: &'t PolicyText,
    lines: Lines,
    problems: Vec<Problem>,
    untold: usize,
}

impl<'t> Findings<'t> {
    pub(super) fn new(text: &'t PolicyText) -> Findings<'t> {
        Findings { text, lines: Lines::of(&text.bytes), problems: Vec::new(), untold: 0 }
    }

    /// Notes what is wrong at `offset`.
    pub(super) fn add(&mut self, offset: usize, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            let position = Some(self.lines.position(offset, &self.text.bytes));
            self.problems.push(Problem { position, ..problem });
        } else {
            self.untold += 1;
        }
    }

    /// Notes what is wrong with the whole.
    pub(super) fn add_general(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The value, or what was wrong with the whole, noted.
    pub(super) fn general<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add_general(problem)).ok()
    }

    /// The value, or what was wrong with it, noted.
    pub(super) fn ok<T>(&mut self, offset: usize, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(offset, problem)).ok()
    }

    /// Whether something is wrong.
    pub(super) fn any(&self) -> bool {
        !self.problems.is_empty()
    }

    /// `value`, unless something is wrong.
    pub(super) fn unless_any<T>(self, value: T) -> Result<T, ConfigError> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.told()) }
    }

    /// Everything found.
    pub(super) fn told(self) -> ConfigError {
        ConfigError::new(self.text.file.clone(), self.problems, self.untold)
    }

    /// The line at `offset`, for whoever asks later where a right comes from.
    pub(super) fn place(&self, offset: usize) -> Place {
        Place { file: self.text.file.clone(), line: self.lines.line(offset) }
    }
}

/// A text of the file in a message: marked, escaped, not too long.
pub(super) fn quoted(text: &str) -> String {
    let mut shown = Shown(text).to_string();
    if let Some((end, _)) = shown.char_indices().nth(MAX_QUOTED_CHARS) {
        shown.truncate(end);
        shown.push('…');
    }
    format!("`{shown}`")
}

/// The help for a text that is close to one of `known`.
pub(super) fn did_you_mean<'k>(text: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    if text.len() > MAX_QUOTED_CHARS {
        return None;
    }
    let near = known.into_iter().map(|word| (strsim::damerau_levenshtein(&text.to_lowercase(), word), word));
    let (distance, word) = near.min()?;
    // What is written as it should be is wrong in another way.
    (word != text && distance <= word.len().div_ceil(3)).then(|| format!("did you mean `{word}`?"))
}

/// What the system says about a failure, without its number.
pub(super) fn system(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().map_or(text.clone(), str::to_lowercase)
}
