//! File operations at a place: read, write, list, create and remove, each through descriptors alone.
//!
//! Deliberately absent: recursive operations, renaming from one place to another, links, and changes of modes, owners
//! or times.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, fchmod, fsync, mkdirat, openat, renameat, statat, unlinkat},
    io::Errno,
};

use super::{
    FileError, Place,
    open::{PRIVATE, is_file},
};

/// The permission bits that a new file takes over from the replaced one. Set-user-id and similar bits are for the owner
/// to set again.
const PERMISSION_BITS: RawMode = 0o777;

const HOLD_DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Entry {
    /// The name as in the file system: any bytes but `/` and null.
    pub name: OsString,
    /// The kind of the entry when the directory was read.
    pub kind: EntryKind,
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, with any target.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl Place<'_> {
    /// Reads the content of the regular file here, if it has at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// [`FileError::TooLarge`], without a part of the content; otherwise the errors of [`Place::open_read`].
    pub fn read(&self, limit: usize) -> Result<Vec<u8>, FileError> {
        let mut content = Vec::new();
        let one_more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        let file = self.open_read()?;
        file.take(one_more).read_to_end(&mut content).map_err(|error| self.failed(error))?;
        if content.len() > limit {
            return Err(FileError::TooLarge(self.path(), limit));
        }
        Ok(content)
    }

    /// Replaces the content of the file in one step: a reader sees the old content or the new, also after a crash.
    ///
    /// A new file takes the name and the permission bits of the old one, so another name of the old file keeps the old
    /// content. Owner, times and attributes are those of the new file. A missing file is created with mode 0600 less
    /// the umask. A base that is a single file is written in place instead, because the grant is on that object.
    ///
    /// # Errors
    ///
    /// [`FileError::NotAFile`] when the name belongs to an entry that is no regular file; [`FileError::NotFound`] when
    /// the directory is missing (see [`Place::create_dir_all`]); otherwise the errors of [`Place::open_write`].
    pub fn write(&self, content: &[u8]) -> Result<(), FileError> {
        if self.names_a_directory() {
            return Err(FileError::NotAFile(self.path()));
        }
        if self.is_base() {
            let mut file = self.open_write()?;
            return file.write_all(content).and_then(|()| file.sync_all()).map_err(|error| self.failed(error));
        }
        let (parent, name) = self.parent(OFlags::RDONLY)?;
        let mode = self.replaced_mode(parent.as_fd(), name)?;
        let new = NewFile::create(parent.as_fd()).map_err(|errno| self.error(errno))?;
        new.fill(content, mode).map_err(|error| self.failed(error))?;
        new.take_name(name).and_then(|()| fsync(&parent)).map_err(|errno| self.error(errno))
    }

    /// Returns the permission bits of the file that will be replaced. The result is used only for these bits and for an
    /// error message. The rename does not follow the name, even if another process replaces it meanwhile.
    fn replaced_mode(&self, parent: BorrowedFd<'_>, name: &OsStr) -> Result<Option<Mode>, FileError> {
        match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if is_file(&stat) => Ok(Some(Mode::from_raw_mode(stat.st_mode & PERMISSION_BITS))),
            Ok(_) => Err(FileError::NotAFile(self.path())),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error(errno)),
        }
    }

    /// Creates the directory here, and every missing one between the base and here, with mode 0700 less the umask.
    ///
    /// # Errors
    ///
    /// [`FileError::NotADirectory`] when another object, for example a link, is in the way.
    pub fn create_dir_all(&self) -> Result<(), FileError> {
        let mut here: Option<OwnedFd> = None;
        for name in self.names() {
            let above = here.as_ref().map_or(self.base().held.fd.as_fd(), |fd| fd.as_fd());
            here = Some(enter_or_create(above, name).map_err(|errno| self.error(errno))?);
        }
        if here.is_none() && !self.base().held.is_directory {
            return Err(FileError::NotADirectory(self.path()));
        }
        Ok(())
    }

    /// Returns the entries of the directory here by name, if there are at most `limit`. Links are listed, not followed.
    ///
    /// # Errors
    ///
    /// [`FileError::NotADirectory`], [`FileError::TooLarge`], or the error of the operating system.
    pub fn list(&self, limit: usize) -> Result<Vec<Entry>, FileError> {
        let fd = self.open(OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).map_err(|errno| self.error(errno))?;
        let mut entries = entries(fd, limit).map_err(|errno| self.error(errno))?;
        if entries.len() > limit {
            return Err(FileError::TooLarge(self.path(), limit));
        }
        entries.sort();
        Ok(entries)
    }

    /// Removes the name of the file here. If a link is here by now, the link is removed, not followed.
    ///
    /// # Errors
    ///
    /// [`FileError::NotAFile`] for a directory; [`FileError::IsBase`] for the base itself.
    pub fn remove_file(&self) -> Result<(), FileError> {
        if self.names_a_directory() {
            return Err(FileError::NotAFile(self.path()));
        }
        self.unlink(AtFlags::empty())
    }

    /// Removes the empty directory here.
    ///
    /// # Errors
    ///
    /// [`FileError::NotEmpty`]; [`FileError::NotADirectory`]; [`FileError::IsBase`] for the base itself.
    pub fn remove_dir(&self) -> Result<(), FileError> {
        self.unlink(AtFlags::REMOVEDIR)
    }

    fn unlink(&self, flags: AtFlags) -> Result<(), FileError> {
        let (parent, name) = self.parent(OFlags::PATH)?;
        unlinkat(parent, name, flags).map_err(|errno| self.error(errno))
    }

    fn failed(&self, error: io::Error) -> FileError {
        FileError::Io(self.path(), error)
    }
}

/// Opens the directory `name`, and creates it if it is missing. The result is a directory and was not reached through a
/// link.
fn enter_or_create(above: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let enter = || openat(above, name, HOLD_DIRECTORY, Mode::empty());
    match enter() {
        Err(Errno::NOENT) => match mkdirat(above, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => enter(),
            Err(errno) => Err(errno),
        },
        answer => answer,
    }
}

/// Returns at most one entry more than `limit`.
fn entries(fd: OwnedFd, limit: usize) -> Result<Vec<Entry>, Errno> {
    let mut found = Vec::new();
    let mut dir = Dir::new(fd)?;
    while let Some(entry) = dir.read() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            // Some file systems do not report the type. The open directory reports it for the entry itself.
            kind = FileType::from_raw_mode(statat(dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
        }
        found.push(Entry { name: OsStr::from_bytes(name.to_bytes()).to_owned(), kind: entry_kind(kind) });
        if found.len() > limit {
            break;
        }
    }
    Ok(found)
}

fn entry_kind(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            EntryKind::Other
        }
    }
}

/// A file with a temporary name. It is removed on drop, unless it took its final name.
struct NewFile<'a> {
    parent: BorrowedFd<'a>,
    name: OsString,
    file: File,
    is_named: bool,
}

impl<'a> NewFile<'a> {
    fn create(parent: BorrowedFd<'a>) -> Result<NewFile<'a>, Errno> {
        // The random name should not exist. If it exists, that is an error, and the entry is not used.
        let name = OsString::from(format!(".{}.bestow-tmp", uuid::Uuid::now_v7()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(parent, &name, flags, PRIVATE)?);
        Ok(NewFile { parent, name, file, is_named: false })
    }

    fn fill(&self, content: &[u8], mode: Option<Mode>) -> io::Result<()> {
        if let Some(mode) = mode {
            fchmod(&self.file, mode)?;
        }
        (&self.file).write_all(content)?;
        self.file.sync_all()
    }

    fn take_name(mut self, name: &OsStr) -> Result<(), Errno> {
        renameat(self.parent, &self.name, self.parent, name)?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if !self.is_named {
            // If the directory does not permit the removal, the file stays: there is no other remedy.
            let _ = unlinkat(self.parent, &self.name, AtFlags::empty());
        }
    }
}
