//! What an agent may open, held until it does.

use std::fs::File;

use crate::{
    fs::ContainedPath,
    model::{Access, SanitizedPath},
};

use super::Error;

/// A path that an agent may use in one way, held so that it can be opened once and in that way.
///
/// It is neither cloned nor opened otherwise: what was found for reading cannot be written, and what a one-shot right
/// found can be opened once. It does not look again: a right that is revoked after this was found is not missed by it.
/// So open it at once, and do not keep it.
#[derive(Debug)]
#[must_use = "a one-shot right is used up by finding this"]
pub struct Resolved {
    pub(super) access: Access,
    pub(super) contained: ContainedPath,
}

impl Resolved {
    /// What the path really names.
    pub fn path(&self) -> &SanitizedPath {
        self.contained.path()
    }

    /// Opens the file: for reading, or for writing if it was found for that (then it is empty, and made if missing).
    ///
    /// # Errors
    ///
    /// [`Error::Open`] if it is not a file, cannot be opened, or something else stands there by now.
    pub fn open(self) -> Result<File, Error> {
        let file = match self.access {
            Access::Read => self.contained.open_read(),
            Access::Write => self.contained.open_write(),
        };
        file.map_err(|why| Error::Open(why.to_string()))
    }
}
