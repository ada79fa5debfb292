//! A real path below an allowed base (`sources/004`, pathResolveSecure).

use std::{fs::File, path::Path, sync::Arc};

use super::{Base, FileError, Place, ResolveError, backend::Backend, real::Found};
use crate::model::{FileIdentity, SanitizedPath};

/// A path without links, and the allowed base that contains it by components, held open.
///
/// Contained when it was resolved, and stale at once: whatever is done with it is done from the held base and
/// without following a link, so that a change since then is an error and never an escape. Holds one descriptor.
#[derive(Clone, Debug)]
pub struct ContainedPath {
    path: SanitizedPath,
    base: Arc<Base>,
    /// Where in `path` the way from the base begins.
    rest: usize,
    names_a_directory: bool,
    is_off_proc: bool,
}

/// Where `path` really leads, and the first of the `allowed` bases that really contains it.
///
/// Both are resolved as [`real`](super::real) does. A base that is empty, relative, missing or not resolvable contains
/// nothing; it never stands for the current directory. Without a base nothing is allowed. Containment is by
/// components: `/work` does not contain `/work-evil`.
///
/// # Errors
///
/// [`ResolveError::Outside`] when no base contains the real path; otherwise as [`real`](super::real).
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
    /// [`resolve`], this way.
    ///
    /// # Errors
    ///
    /// As [`resolve`].
    pub fn resolve<P: AsRef<str>>(self, allowed: &[P], path: &str) -> Result<ContainedPath, ResolveError> {
        let found = self.find(path)?;
        // A base that cannot be resolved allows nothing, and must not take away what the others allow.
        allowed
            .iter()
            .filter_map(|base| self.hold(base.as_ref()).ok())
            .find_map(|base| ContainedPath::below(Arc::new(base), &found))
            .ok_or(ResolveError::Outside(found.path))
    }
}

impl Base {
    /// [`resolve`] for a base that is already held: since it was granted, say.
    ///
    /// # Errors
    ///
    /// As [`resolve`].
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

    /// The path without links.
    pub fn path(&self) -> &SanitizedPath {
        &self.path
    }

    /// The allowed base that contains it, without links.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The same, if the base is the object with this identity: the one that was there when it was granted.
    ///
    /// The base is held, so what is true now stays true for every later opening.
    ///
    /// # Errors
    ///
    /// [`FileError::BaseChanged`] when another object has taken the base's place.
    pub fn expecting_base(self, identity: FileIdentity) -> Result<ContainedPath, FileError> {
        self.base.expect_identity(identity).map(|()| self)
    }

    /// The same as a place below the base: what a tool reads, writes, lists or removes.
    pub fn place(&self) -> Place<'_> {
        // INVARIANT: the way from the base is a part of the path, as `below` has seen to.
        let rest = self.path.as_str().get(self.rest..).unwrap_or_default();
        let place = Place::new(&self.base, Path::new(rest), self.names_a_directory);
        if self.is_off_proc { place.off_proc() } else { place }
    }

    /// Refuses to open an object of a proc file system, whatever was mounted there since.
    #[must_use]
    pub fn off_proc(self) -> ContainedPath {
        ContainedPath { is_off_proc: true, ..self }
    }

    /// Opens the file for reading; see [`Place::open_read`].
    ///
    /// # Errors
    ///
    /// As [`Place::open_read`].
    pub fn open_read(&self) -> Result<File, FileError> {
        self.place().open_read()
    }

    /// Opens the file for writing from its start, creating it if it is missing; see [`Place::open_write`].
    ///
    /// # Errors
    ///
    /// As [`Place::open_write`].
    pub fn open_write(&self) -> Result<File, FileError> {
        self.place().open_write()
    }
}
