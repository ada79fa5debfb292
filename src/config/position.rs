//! Positions in a text.

use std::fmt;

/// A line and a column, both from 1. A column counts characters, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::exhaustive_structs, reason = "a line and a column is what a position is")]
pub struct Position {
    /// The line number.
    pub line: u32,
    /// The column number.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The start of each line of a text, so that finding a line does not read the text again.
#[derive(Debug)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &[u8]) -> Lines {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Lines(std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect())
    }

    /// Returns the line of the byte at `offset`, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }

    /// Returns the position of the byte at `offset` of `text`, which must be the text of these lines.
    pub(super) fn position(&self, offset: usize, text: &[u8]) -> Position {
        let start = self.0.iter().rev().find(|start| **start <= offset).copied().unwrap_or(0);
        let before = text.get(start..offset.min(text.len())).unwrap_or_default();
        let column = String::from_utf8_lossy(before).chars().count();
        Position { line: self.line(offset), column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1) }
    }
}
