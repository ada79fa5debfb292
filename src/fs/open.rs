//! Opening of regular files only (`sources/004`, openSecure).

use std::{ffi::OsStr, fs::File, os::fd::OwnedFd, path::PathBuf};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat, fcntl_setfl, fstat, ftruncate, renameat, statat},
    io::Errno,
};

use super::{
    Base, FileError, Place,
    backend::{Backend, Start},
    real::{Looked, identity, names_a_directory},
};
use crate::model::SanitizedPath;

/// Flags that do not wait for the other end of a pipe and do not acquire a terminal, before the type of the file is
/// known.
const CAUTIOUS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const FOR_READING: OFlags = OFlags::RDONLY.union(CAUTIOUS);
/// The flags for writing, without `O_TRUNC`: a file that is refused keeps its content.
const FOR_WRITING: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(CAUTIOUS);

/// The mode of a created file: read and write for its owner, less the umask.
pub(super) const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The number of attempts on a file that another process is changing.
const ATTEMPTS: usize = 64;

impl Place<'_> {
    /// Opens the regular file here for reading.
    ///
    /// A file with several hard links may be read.
    ///
    /// # Errors
    ///
    /// [`FileError::NotAFile`] for anything that is not a regular file, without waiting for it; [`FileError::Link`]
    /// when a component has become a link; [`FileError::BaseChanged`] when the base is a single file and another file
    /// has its name now; or the error of the operating system.
    pub fn open_read(&self) -> Result<File, FileError> {
        let fd = self.open_file(FOR_READING, Mode::empty())?;
        ready(fd).map_err(|errno| self.error(errno))
    }

    /// Opens the regular file here for writing and empties it. A missing file is created, with mode 0600 less the
    /// umask.
    ///
    /// The content is removed only after every check, through the descriptor that was checked.
    ///
    /// # Errors
    ///
    /// The errors of [`Place::open_read`], and [`FileError::HardLinked`] for a file with several names, because one of
    /// them may be outside the base.
    pub fn open_write(&self) -> Result<File, FileError> {
        let slot = if self.is_base() { self.base().slot()? } else { self.parent(OFlags::PATH)? };
        let fd = self.open_file(FOR_WRITING, PRIVATE)?;
        emptied(fd, slot, || self.path())
    }

    fn open_file(&self, flags: OFlags, mode: Mode) -> Result<OwnedFd, FileError> {
        if self.names_a_directory() {
            return Err(FileError::NotAFile(self.path()));
        }
        let fd = self.open(flags, mode).map_err(|errno| self.error(errno))?;
        let stat = fstat(&fd).map_err(|errno| self.error(errno))?;
        if !is_file(&stat) {
            return Err(FileError::NotAFile(self.path()));
        }
        if self.is_base() {
            let now = Looked::at(&fd).map_err(|errno| self.error(errno))?;
            self.base().expect_identity(now.identity)?;
        }
        Ok(fd)
    }
}

/// Opens a regular file for reading by its real path: no component may be a link.
///
/// This is for a path that is not confined to a base. A caller with a base uses [`resolve`](super::resolve).
///
/// # Errors
///
/// [`FileError::Invalid`] for a path that is relative or has a `..`; otherwise the errors of [`Place::open_read`].
pub fn open_read(path: &str) -> Result<File, FileError> {
    Backend::Auto.open_read(path)
}

/// Opens a regular file for writing by its real path and empties it: no component may be a link. A missing file is
/// created.
///
/// This is for a path that is not confined to a base. A caller with a base uses [`resolve`](super::resolve).
///
/// # Errors
///
/// [`FileError::Invalid`] for a path that is relative or has a `..`; otherwise the errors of [`Place::open_write`].
pub fn open_write(path: &str) -> Result<File, FileError> {
    Backend::Auto.open_write(path)
}

impl Backend {
    /// Opens like [`open_read`](open_read()), with this backend.
    ///
    /// # Errors
    ///
    /// The errors of [`open_read`](open_read()).
    pub fn open_read(self, path: &str) -> Result<File, FileError> {
        let path = file_path(path)?;
        let fd = self.open_real(&path, FOR_READING, Mode::empty())?;
        ready(fd).map_err(|errno| at(&path, errno))
    }

    /// Opens like [`open_write`](open_write()), with this backend.
    ///
    /// # Errors
    ///
    /// The errors of [`open_write`](open_write()).
    pub fn open_write(self, path: &str) -> Result<File, FileError> {
        let path = file_path(path)?;
        let slot = self.slot(&path)?;
        let fd = self.open_real(&path, FOR_WRITING, PRIVATE)?;
        emptied(fd, slot, || path.as_path().into())
    }

    fn open_real(self, path: &SanitizedPath, flags: OFlags, mode: Mode) -> Result<OwnedFd, FileError> {
        let fd = self.open(Start::Root, path.as_path(), flags, mode).map_err(|errno| at(path, errno))?;
        let stat = fstat(&fd).map_err(|errno| at(path, errno))?;
        if !is_file(&stat) {
            return Err(FileError::NotAFile(path.as_path().into()));
        }
        Ok(fd)
    }

    fn slot(self, path: &SanitizedPath) -> Result<Slot<'_>, FileError> {
        let (Some(dir), Some(name)) = (path.as_path().parent(), path.as_path().file_name()) else {
            return Err(FileError::NotAFile(path.as_path().into()));
        };
        let dir = self.open(Start::Root, dir, OFlags::PATH | OFlags::DIRECTORY, Mode::empty());
        Ok((dir.map_err(|errno| at(path, errno))?, name))
    }
}

impl Base {
    fn slot(&self) -> Result<Slot<'_>, FileError> {
        self.backend.slot(self.path())
    }
}

/// A held directory, and a name in it.
type Slot<'a> = (OwnedFd, &'a OsStr);

fn file_path(text: &str) -> Result<SanitizedPath, FileError> {
    let path: SanitizedPath = text.parse()?;
    if names_a_directory(text) { Err(FileError::NotAFile(path.as_path().into())) } else { Ok(path) }
}

fn at(path: &SanitizedPath, errno: Errno) -> FileError {
    FileError::at(path.as_path().into(), errno)
}

pub(super) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Empties a file that has only one name, which is the one in `slot`.
///
/// A count of the names is not enough. An attacker may link a foreign file here, let the engine open it, and remove the
/// link again: then the file has one name, which lies elsewhere. So the name is looked up once more. If the file has
/// one name before and after, and its change time shows that no name was added or removed in between, then its one name
/// is the one in `slot`. (Before Linux 6.13, change times distinguish only events in different ticks of the kernel's
/// clock.)
fn emptied(fd: OwnedFd, (dir, name): Slot<'_>, path: impl Fn() -> PathBuf) -> Result<File, FileError> {
    let failed = |errno| FileError::at(path(), errno);
    for _ in 0..ATTEMPTS {
        let before = fstat(&fd).map_err(failed)?;
        settle(&dir, name).map_err(failed)?;
        let after = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        if identity(&after) != identity(&before) || before.st_nlink != 1 || after.st_nlink != 1 {
            return Err(FileError::HardLinked(path()));
        }
        if (after.st_ctime, after.st_ctime_nsec) == (before.st_ctime, before.st_ctime_nsec) {
            return ftruncate(&fd, 0).and_then(|()| ready(fd)).map_err(failed);
        }
        // Most likely another process only writes to the file, so the check is repeated.
    }
    Err(FileError::Unsteady(path()))
}

/// Waits for another process that is unlinking a name in `dir`: the kernel lowers the count of names a moment before
/// the name disappears. Renaming a name to itself has no effect, but takes the lock that the other process holds.
fn settle(dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    renameat(dir, name, dir, name)
}

/// Returns the file in blocking mode, as its user expects it.
fn ready(fd: OwnedFd) -> Result<File, Errno> {
    fcntl_setfl(&fd, OFlags::empty())?;
    Ok(File::from(fd))
}
