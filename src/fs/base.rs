//! An allowed directory. It is held open, so it stays the same object as long as it is held.

use super::{
    FileError, ResolveError,
    backend::Backend,
    real::{Found, Held},
};
use crate::model::{FileIdentity, SanitizedPath};

/// A directory below which entries may be opened, or a single file that may be opened.
///
/// A base holds one descriptor. Entries that are opened through it lie below *this object*, even if its name now
/// belongs to another one. The holder of a `Base` may do below it everything that the process may: hand out
/// [`Place`](super::Place)s instead.
#[derive(Debug)]
pub struct Base {
    path: SanitizedPath,
    pub(super) held: Held,
    pub(super) backend: Backend,
}

impl Base {
    /// Resolves `path` like [`real`](super::real) and holds the object there.
    ///
    /// # Errors
    ///
    /// The errors of [`real`](super::real), and [`ResolveError::Missing`] when the path does not exist.
    pub fn hold(path: &str) -> Result<Base, ResolveError> {
        Backend::Auto.hold(path)
    }

    /// Returns the base, if it is the object with this identity: the one that was there when the path was granted.
    ///
    /// # Errors
    ///
    /// [`FileError::BaseChanged`] when another object is in its place.
    pub fn expecting(self, identity: FileIdentity) -> Result<Base, FileError> {
        self.expect_identity(identity).map(|()| self)
    }

    pub(super) fn expect_identity(&self, identity: FileIdentity) -> Result<(), FileError> {
        if identity.is_met_by(self.held.identity) {
            Ok(())
        } else {
            Err(FileError::BaseChanged(self.path.as_path().into()))
        }
    }

    /// Returns the path of the base when it was held, without links.
    pub fn path(&self) -> &SanitizedPath {
        &self.path
    }

    /// Returns the identity of the held object.
    pub fn identity(&self) -> FileIdentity {
        self.held.identity
    }
}

impl Backend {
    /// Holds a base like [`Base::hold`], with this backend.
    ///
    /// # Errors
    ///
    /// The errors of [`Base::hold`].
    pub fn hold(self, path: &str) -> Result<Base, ResolveError> {
        let Found { path, held, .. } = self.find(path)?;
        match held {
            Some(held) => Ok(Base { path, held, backend: self }),
            None => Err(ResolveError::Missing(path.as_str().to_owned())),
        }
    }
}
