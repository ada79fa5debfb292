//! Opens a regular file and nothing else (`sources/004`, openSecure).

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

/// Not to wait for the other end of a pipe, and not to be given a terminal, before we know what was opened.
const CAUTIOUS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const FOR_READING: OFlags = OFlags::RDONLY.union(CAUTIOUS);
/// Without `O_TRUNC`: a file that is refused keeps its content.
const FOR_WRITING: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(CAUTIOUS);

/// What a file that we create may be used for: by its owner, less the umask.
pub(super) const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// How often a file that somebody else is just changing is looked at again.
const ATTEMPTS: usize = 64;

impl Place<'_> {
    /// Opens the regular file here for reading.
    ///
    /// A file with several names may be read: that is what hard links are for.
    ///
    /// # Errors
    ///
    /// [`FileError::NotAFile`] for anything that is not a regular file, without waiting for it;
    /// [`FileError::Link`] when a component has become a link; [`FileError::BaseChanged`] when the base is a single
    /// file and another one has taken its name; or what the operating system says.
    pub fn open_read(&self) -> Result<File, FileError> {
        let fd = self.open_file(FOR_READING, Mode::empty())?;
        ready(fd).map_err(|errno| self.error(errno))
    }

    /// Opens the regular file here for writing, empty. Creates it if it is missing, with mode 0600 less the umask.
    ///
    /// The content goes only after every check, through the descriptor that was checked.
    ///
    /// # Errors
    ///
    /// As [`Place::open_read`], and [`FileError::HardLinked`] for a file with several names: one may be elsewhere.
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
/// For a path that nobody confines. Whoever has a base wants [`resolve`](super::resolve).
///
/// # Errors
///
/// [`FileError::Invalid`] for a path that is relative or has a `..`; otherwise as [`Place::open_read`].
pub fn open_read(path: &str) -> Result<File, FileError> {
    Backend::Auto.open_read(path)
}

/// Opens a regular file for writing, empty, by its real path: no component may be a link. Creates it if it is missing.
///
/// For a path that nobody confines. Whoever has a base wants [`resolve`](super::resolve).
///
/// # Errors
///
/// [`FileError::Invalid`] for a path that is relative or has a `..`; otherwise as [`Place::open_write`].
pub fn open_write(path: &str) -> Result<File, FileError> {
    Backend::Auto.open_write(path)
}

impl Backend {
    /// [`open_read`](open_read()), this way.
    ///
    /// # Errors
    ///
    /// As [`open_read`](open_read()).
    pub fn open_read(self, path: &str) -> Result<File, FileError> {
        let path = file_path(path)?;
        let fd = self.open_real(&path, FOR_READING, Mode::empty())?;
        ready(fd).map_err(|errno| at(&path, errno))
    }

    /// [`open_write`](open_write()), this way.
    ///
    /// # Errors
    ///
    /// As [`open_write`](open_write()).
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

/// A directory, held, and a name in it.
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

/// Empties a file that has one name only, which is the one in `slot`.
///
/// To count names is not enough: who links a foreign file here, lets us open it, and takes the link away again has
/// left it with one name, elsewhere. So the name is looked up once more. If the file has one name before and after,
/// and its change time says that nothing was linked or unlinked in between, then the one name is ours. (Before Linux
/// 6.13, change times tell apart only what happens in different ticks of the kernel's clock.)
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
        // Most likely somebody only writes to it: look again.
    }
    Err(FileError::Unsteady(path()))
}

/// Waits for whoever is just unlinking something in `dir`: the kernel lowers the count of names a moment before the
/// name can no longer be found. Renaming a name to itself does nothing, after taking the lock that they hold.
fn settle(dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    renameat(dir, name, dir, name)
}

/// The file as its user expects it: one that waits.
fn ready(fd: OwnedFd) -> Result<File, Errno> {
    fcntl_setfl(&fd, OFlags::empty())?;
    Ok(File::from(fd))
}
