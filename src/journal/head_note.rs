//! Notes of the head of a trail, outside of its directory.
//!
//! In a whole older copy of a state directory, every record follows from the previous one. Only a head that was noted
//! elsewhere reveals such a copy.

use std::{fmt, path::PathBuf};

use crate::model::Escaped;

/// A place outside of the state directory that has the head of the trail.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeadNote {
    /// A file. Each note replaces it as a whole, and is on the disk before it counts. An engine that begins, and
    /// `bestow audit verify`, compare it with the trail.
    File(PathBuf),
    /// A command for the shell. It reads the head from its standard input, one line, and has 30 seconds. A person
    /// compares what it keeps.
    Command(String),
}

impl fmt::Display for HeadNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeadNote::File(file) => write!(f, "in `{}`", Escaped(&file.to_string_lossy())),
            HeadNote::Command(command) => write!(f, "by `{}`", Escaped(command)),
        }
    }
}
