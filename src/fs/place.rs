//! A path below a held base. It is reached through descriptors, and never through a link.

use std::{
    ffi::OsStr,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};

use super::{Base, FileError, backend::Start, real::is_on_proc};

/// A canonical path below a [`Base`], or the base itself. It may or may not exist.
///
/// Every operation starts at the held base and reaches the place without following a link. So it happens below the base
/// or not at all. A refused operation changes no file.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    base: &'a Base,
    rest: &'a Path,
    names_a_directory: bool,
    is_off_proc: bool,
}

impl Base {
    /// Returns the place with this path below the base. The empty path is the base itself.
    ///
    /// Names are bytes, as in the file system: a name need not be UTF-8. This call does not read the disk, and later
    /// operations follow no link: the path must be free of links.
    ///
    /// # Errors
    ///
    /// [`FileError::NotCanonical`] for an absolute path, and for a path with an empty component, `.`, `..` or a null
    /// byte.
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

impl<'a> Place<'a> {
    /// Creates a place. INVARIANT: `rest` is relative and each of its components is a plain name.
    pub(super) fn new(base: &'a Base, rest: &'a Path, names_a_directory: bool) -> Place<'a> {
        Place { base, rest, names_a_directory, is_off_proc: false }
    }

    /// Refuses to open an object of a proc file system, even if one was mounted here since.
    #[must_use]
    pub fn off_proc(self) -> Place<'a> {
        Place { is_off_proc: true, ..self }
    }

    pub(super) fn base(&self) -> &'a Base {
        self.base
    }

    pub(super) fn is_base(&self) -> bool {
        self.rest.as_os_str().is_empty()
    }

    pub(super) fn names_a_directory(&self) -> bool {
        self.names_a_directory
    }

    /// Returns the names from the base to this place.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a OsStr> + use<'a> {
        self.rest
            .as_os_str()
            .as_bytes()
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
            .map(OsStr::from_bytes)
    }

    /// Returns the full path, for messages.
    pub(super) fn path(&self) -> PathBuf {
        if self.is_base() { self.base.path().as_path().into() } else { self.base.path().as_path().join(self.rest) }
    }

    pub(super) fn error(&self, errno: Errno) -> FileError {
        FileError::at(self.path(), errno)
    }

    /// Opens the object at this place. A base that is a single file has no held directory to open it from: it is opened
    /// by its real path, and the caller compares the opened object with the held one.
    pub(super) fn open(&self, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let Base { held, backend, .. } = self.base;
        let opened = match (self.is_base(), held.is_directory) {
            (false, _) => backend.open(Start::Held(held.fd.as_fd()), self.rest, flags, mode),
            (true, true) => backend.open(Start::Held(held.fd.as_fd()), Path::new("."), flags, mode),
            (true, false) => {
                backend.open(Start::Root, self.base.path().as_path(), flags - OFlags::CREATE, Mode::empty())
            }
        };
        match opened {
            Ok(fd) if self.is_off_proc && is_on_proc(&fd)? => Err(Errno::ACCESS),
            opened => opened,
        }
    }

    /// Returns the directory that holds this place, and the name in it.
    pub(super) fn parent(&self, flags: OFlags) -> Result<(OwnedFd, &'a OsStr), FileError> {
        let name = self.rest.file_name().ok_or_else(|| FileError::IsBase(self.path()))?;
        let above = Place { rest: self.rest.parent().unwrap_or(Path::new("")), ..*self };
        let parent = above.open(flags | OFlags::DIRECTORY, Mode::empty()).map_err(|errno| above.error(errno))?;
        Ok((parent, name))
    }
}
