//! A file that an agent may open, held until it is opened.

use std::fs::File;

use crate::{
    fs::ContainedPath,
    model::{Access, SanitizedPath},
};

use super::Error;

/// A path that an agent may use in one way. It is held so that it can be opened once, in that way.
///
/// A value cannot be cloned or opened differently: a path resolved for reading cannot be written, and a one-time
/// permission opens the file once. A revocation after the resolution has no effect on the value. So open it at once,
/// and do not keep it.
#[derive(Debug)]
#[must_use = "a one-shot permission is used up by finding this"]
pub struct Resolved {
    pub(super) access: Access,
    pub(super) contained: ContainedPath,
}

impl Resolved {
    /// Returns the real path.
    pub fn path(&self) -> &SanitizedPath {
        self.contained.path()
    }

    /// Opens the file for reading or for writing, as it was resolved. A file that is opened for writing is emptied, and
    /// created if it is missing.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] if it is not a file, cannot be opened, or another object is at the path by now.
    pub fn open(self) -> Result<File, Error> {
        let file = match self.access {
            Access::Read => self.contained.open_read(),
            Access::Write => self.contained.open_write(),
        };
        file.map_err(|why| Error::Open(why.to_string()))
    }
}
