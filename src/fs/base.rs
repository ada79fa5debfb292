//! An allowed directory, held open, so that it is the same one for as long as it is held.

use std::{os::unix::ffi::OsStrExt, path::Path};

use super::{
    FileError, Place, ResolveError,
    backend::Backend,
    real::{Found, Held},
};
use crate::model::{FileIdentity, SanitizedPath};

/// A directory below which things may be opened, or a single file that may be.
///
/// Holds one descriptor. What is opened through it lies below *this object*, even if its name has come to mean
/// another one since. Who holds a `Base` may do below it whatever the process may: hand out [`Place`]s instead.
#[derive(Debug)]
pub struct Base {
    path: SanitizedPath,
    pub(super) held: Held,
    pub(super) backend: Backend,
}

impl Base {
    /// Resolves `path` as [`real`](super::real) does and holds what is there.
    ///
    /// # Errors
    ///
    /// As [`real`](super::real), and [`ResolveError::Missing`] when there is nothing.
    pub fn hold(path: &str) -> Result<Base, ResolveError> {
        Backend::Auto.hold(path)
    }

    /// The base, if it is the object with this identity: the one that was there when the path was granted.
    ///
    /// # Errors
    ///
    /// [`FileError::BaseChanged`] when another object has taken its place.
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

    /// Where the base was when it was held, without links.
    pub fn path(&self) -> &SanitizedPath {
        &self.path
    }

    /// The object that is held.
    pub fn identity(&self) -> FileIdentity {
        self.held.identity
    }

    /// The place with this path below the base. The empty path is the base itself.
    ///
    /// Takes names as the file system does, as bytes: a name that is not UTF-8 is a name. It looks at nothing on
    /// disk, and follows nothing later: the path is taken to have no links.
    ///
    /// # Errors
    ///
    /// [`FileError::NotCanonical`] for an absolute path and one with an empty component, `.`, `..` or a null byte.
    pub fn below<'a>(&'a self, rest: &'a (impl AsRef<Path> + ?Sized)) -> Result<Place<'a>, FileError> {
        let rest = rest.as_ref();
        let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
        let bytes = rest.as_os_str().as_bytes();
        if !bytes.is_empty() && !bytes.split(|byte| *byte == b'/').all(is_plain) {
            return Err(FileError::NotCanonical(rest.into()));
        }
        Ok(Place::new(self, rest, false))
    }
}

impl Backend {
    /// [`Base::hold`], this way.
    ///
    /// # Errors
    ///
    /// As [`Base::hold`].
    pub fn hold(self, path: &str) -> Result<Base, ResolveError> {
        let Found { path, held, .. } = self.find(path)?;
        match held {
            Some(held) => Ok(Base { path, held, backend: self }),
            None => Err(ResolveError::Missing(path.as_str().to_owned())),
        }
    }
}
