//! A real path below an allowed base (`sources/004`, pathResolveSecure).

use std::{fs::File, path::Path, sync::Arc};

use super::{Base, FileError, Place, ResolveError, backend::Backend, real::Found};
use crate::model::{FileIdentity, SanitizedPath};

/// A path without links, and the allowed base that contains it by components, held open.
///
/// The path was contained when it was resolved, and may be stale at once. Every operation starts at the held base and
/// follows no link, so a later change causes an error and never an escape. The value holds one descriptor.
#[derive(Clone, Debug)]
pub struct ContainedPath {
    path: SanitizedPath,
    base: Arc<Base>,
    /// The index in `path` at which the part below the base begins.
    rest: usize,
    names_a_directory: bool,
    is_off_proc: bool,
}

/// Resolves `path` to its real location, and finds the first of the `allowed` bases that contains it.
///
/// The path and the bases are resolved like [`real`](super::real). A base that is empty, relative, missing or not
/// resolvable contains no path; it never means the current directory. Without a base, no path is allowed. Containment
/// is by components: `/work` does not contain `/work-evil`.
///
/// # Errors
///
/// [`ResolveError::Outside`] when no base contains the real path; otherwise the errors of [`real`](super::real).
///
/// ```
/// use bestow::fs;
/// # let dir = tempfile::tempdir()?;
/// # let workspace = fs::real(dir.path().to_str().unwrap())?.path().to_string();
/// std::fs::write(format!("{workspace}/notes"), "hello")?;
///
/// let notes = fs::resolve(&[&workspace], &format!("{workspace}/notes"))?;
/// assert_eq!(std::io::read_to_string(notes.open_read()?)?, "hello");
///
/// let passwd = fs::resolve(&[&workspace], "/etc/passwd");
/// assert!(matches!(passwd, Err(fs::ResolveError::Outside(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resolve<P: AsRef<str>>(allowed: &[P], path: &str) -> Result<ContainedPath, ResolveError> {
    Backend::Auto.resolve(allowed, path)
}

impl Backend {
    /// Resolves like [`resolve`], with this backend.
    ///
    /// # Errors
    ///
    /// The errors of [`resolve`].
    pub fn resolve<P: AsRef<str>>(self, allowed: &[P], path: &str) -> Result<ContainedPath, ResolveError> {
        let found = self.find(path)?;
        // A base that cannot be resolved allows no path, but must not affect the other bases.
        allowed
            .iter()
            .filter_map(|base| self.hold(base.as_ref()).ok())
            .find_map(|base| ContainedPath::below(Arc::new(base), &found))
            .ok_or(ResolveError::Outside(found.path))
    }
}

impl Base {
    /// Resolves like [`resolve`], below a base that is already held, for example since it was granted.
    ///
    /// # Errors
    ///
    /// The errors of [`resolve`].
    pub fn contain(self: &Arc<Self>, path: &str) -> Result<ContainedPath, ResolveError> {
        let found = self.backend.find(path)?;
        ContainedPath::below(Arc::clone(self), &found).ok_or(ResolveError::Outside(found.path))
    }
}

impl ContainedPath {
    fn below(base: Arc<Base>, found: &Found) -> Option<ContainedPath> {
        if !base.path().contains(&found.path) {
            return None;
        }
        let rest = found.path.as_str().strip_prefix(base.path().as_str())?;
        let rest = found.path.as_str().len() - rest.trim_start_matches('/').len();
        Some(ContainedPath {
            path: found.path.clone(),
            base,
            rest,
            names_a_directory: found.names_a_directory,
            is_off_proc: false,
        })
    }

    /// Returns the path without links.
    pub fn path(&self) -> &SanitizedPath {
        &self.path
    }

    /// Returns the allowed base that contains the path, without links.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Returns the path, if its base is the object with this identity: the one that was there when the base was
    /// granted.
    ///
    /// The base is held, so the result stays true for every later opening.
    ///
    /// # Errors
    ///
    /// [`FileError::BaseChanged`] when another object is in the base's place.
    pub fn expecting_base(self, identity: FileIdentity) -> Result<ContainedPath, FileError> {
        self.base.expect_identity(identity).map(|()| self)
    }

    /// Returns the path as a place below the base, which a tool can read, write, list or remove.
    pub fn place(&self) -> Place<'_> {
        // INVARIANT: the part below the base is a suffix of the path, which `below` ensures.
        let rest = self.path.as_str().get(self.rest..).unwrap_or_default();
        let place = Place::new(&self.base, Path::new(rest), self.names_a_directory);
        if self.is_off_proc { place.off_proc() } else { place }
    }

    /// Refuses to open an object of a proc file system, even if one was mounted there since.
    #[must_use]
    pub fn off_proc(self) -> ContainedPath {
        ContainedPath { is_off_proc: true, ..self }
    }

    /// Opens the file for reading; see [`Place::open_read`].
    ///
    /// # Errors
    ///
    /// The errors of [`Place::open_read`].
    pub fn open_read(&self) -> Result<File, FileError> {
        self.place().open_read()
    }

    /// Opens the file for writing and empties it, or creates it if it is missing; see [`Place::open_write`].
    ///
    /// # Errors
    ///
    /// The errors of [`Place::open_write`].
    pub fn open_write(&self) -> Result<File, FileError> {
        self.place().open_write()
    }
}
