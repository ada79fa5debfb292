//! Opens a regular file and nothing else (`sources/004`, openSecure).

use std::{fs::File, os::fd::OwnedFd};

use rustix::{
    fs::{FileType, Mode, OFlags, Stat, fcntl_setfl, fstat, ftruncate},
    io::Errno,
};

use super::{
    FileError, Place,
    backend::{Backend, Start},
    real::{identity, names_a_directory},
};
use crate::model::SanitizedPath;

/// Not to wait for the other end of a pipe, and not to be given a terminal, before we know what was opened.
const CAUTIOUS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const FOR_READING: OFlags = OFlags::RDONLY.union(CAUTIOUS);
/// Without `O_TRUNC`: a file that is refused keeps its content.
const FOR_WRITING: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(CAUTIOUS);

/// What a file that we create may be used for: by its owner, less the umask.
pub(super) const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

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
        let (fd, _) = self.open_file(FOR_READING, Mode::empty())?;
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
        let (fd, stat) = self.open_file(FOR_WRITING, PRIVATE)?;
        if stat.st_nlink != 1 {
            return Err(FileError::HardLinked(self.path()));
        }
        emptied(fd, &stat).map_err(|errno| self.error(errno))
    }

    fn open_file(&self, flags: OFlags, mode: Mode) -> Result<(OwnedFd, Stat), FileError> {
        if self.names_a_directory() {
            return Err(FileError::NotAFile(self.path()));
        }
        let fd = self.open(flags, mode).map_err(|errno| self.error(errno))?;
        let stat = fstat(&fd).map_err(|errno| self.error(errno))?;
        if !is_file(&stat) {
            return Err(FileError::NotAFile(self.path()));
        }
        if self.is_base() {
            self.base().expect_identity(identity(&stat))?;
        }
        Ok((fd, stat))
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
        let (path, fd, _) = self.open_real(path, FOR_READING, Mode::empty())?;
        ready(fd).map_err(|errno| at(&path, errno))
    }

    /// [`open_write`](open_write()), this way.
    ///
    /// # Errors
    ///
    /// As [`open_write`](open_write()).
    pub fn open_write(self, path: &str) -> Result<File, FileError> {
        let (path, fd, stat) = self.open_real(path, FOR_WRITING, PRIVATE)?;
        if stat.st_nlink != 1 {
            return Err(FileError::HardLinked(path.as_path().into()));
        }
        emptied(fd, &stat).map_err(|errno| at(&path, errno))
    }

    fn open_real(self, text: &str, flags: OFlags, mode: Mode) -> Result<(SanitizedPath, OwnedFd, Stat), FileError> {
        let path: SanitizedPath = text.parse()?;
        if names_a_directory(text) {
            return Err(FileError::NotAFile(path.as_path().into()));
        }
        let fd = self.open(Start::Root, path.as_path(), flags, mode).map_err(|errno| at(&path, errno))?;
        let stat = fstat(&fd).map_err(|errno| at(&path, errno))?;
        if !is_file(&stat) {
            return Err(FileError::NotAFile(path.as_path().into()));
        }
        Ok((path, fd, stat))
    }
}

fn at(path: &SanitizedPath, errno: Errno) -> FileError {
    FileError::at(path.as_path().into(), errno)
}

pub(super) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

fn emptied(fd: OwnedFd, stat: &Stat) -> Result<File, Errno> {
    if stat.st_size != 0 {
        ftruncate(&fd, 0)?;
    }
    ready(fd)
}

/// The file as its user expects it: one that waits.
fn ready(fd: OwnedFd) -> Result<File, Errno> {
    fcntl_setfl(&fd, OFlags::empty())?;
    Ok(File::from(fd))
}
