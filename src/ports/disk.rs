//! The disk operations of a journal. They are few, so that a test can replace them with a disk that fails in every way.

use std::{
    fmt,
    fs::{File, Metadata, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;
#[cfg(target_os = "linux")]
use rustix::fs::{FallocateFlags, fallocate};

use crate::fs::{Replacer, Trail, for_shell, is_us_or_root, others_write, us};

/// A directory tree, as a journal uses it.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Creates a directory that only its owner can use, unless it exists.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be created.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Checks that no other user can write or replace a directory. The content of such a directory could be forged.
    ///
    /// # Errors
    ///
    /// Fails if the path is not a directory. Fails if users other than the owner can write it or a directory above it,
    /// except a sticky one. Fails if the owner of one of them is neither the user of this process nor root.
    fn refuse_others(&self, path: &Path) -> io::Result<()>;

    /// Lists the names in a directory.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be read.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Reads a whole file. It does not follow a link.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Opens a file for reading from its beginning, in parts. It does not follow a link.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened. Reading fails like [`Disk::read`].
    fn open(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    /// Opens a file for appending, and creates it if it is missing. It does not follow a link.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened.
    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Renames a file. An existing file with the new name is replaced.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be renamed.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be removed.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Waits until the names in a directory would survive a power failure.
    ///
    /// # Errors
    ///
    /// Fails if that is uncertain.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Takes a lock. The lock ends with the process, or with the returned value. Returns `None` if another process
    /// holds it.
    ///
    /// # Errors
    ///
    /// Fails if the state of the lock cannot be determined.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>>;

    /// Takes a directory itself like a lock. A lock file in it can be replaced, and the directory then still has its
    /// lock.
    ///
    /// # Errors
    ///
    /// Fails like [`Disk::lock`].
    fn lock_dir(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>>;
}

/// A file that is open for appending.
pub trait DiskFile: fmt::Debug + Send {
    /// Returns the size in bytes.
    ///
    /// # Errors
    ///
    /// Fails if the size cannot be determined.
    fn len(&self) -> io::Result<u64>;

    /// Returns true if the file has no content.
    ///
    /// # Errors
    ///
    /// Fails like [`DiskFile::len`].
    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|bytes| bytes == 0)
    }

    /// Writes some of `bytes` at the end, and returns their number.
    ///
    /// # Errors
    ///
    /// Fails if no byte was written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Replaces the bytes from `at` on, up to the length of `bytes`. Later writes still go to the end of the file.
    ///
    /// # Errors
    ///
    /// Fails if not all bytes were written.
    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes the space of the first `bytes` bytes belong to the file. Later writes up to there need no room on the
    /// disk, whatever other processes store. The length of the file stays.
    ///
    /// # Errors
    ///
    /// Fails with [`io::ErrorKind::Unsupported`] if the disk cannot do this. Fails if it has not enough room.
    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        let _ = bytes;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Truncates the file to `bytes` bytes, and frees the space that was allocated after them. The next write goes to
    /// this position.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be truncated.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;

    /// Waits until the written data would survive a power failure.
    ///
    /// # Errors
    ///
    /// Fails if that is uncertain. Another call does not remove the uncertainty.
    fn sync(&mut self) -> io::Result<()>;

    /// Returns true if the file still has the name `path`. Another process may have removed, moved or replaced it, or a
    /// directory above it.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be determined.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
}

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "there is one disk")]
pub struct RealDisk;

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    options.mode(0o600).custom_flags(flags.bits().cast_signed());
    options
}

fn regular(file: File) -> io::Result<File> {
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    refuse_written_by_others(&about)?;
    Ok(file)
}

/// Checks the owner and the mode of a file or directory. This function alone decides which ones an engine trusts.
fn refuse_written_by_others(about: &Metadata) -> io::Result<()> {
    let (owner, us) = (about.uid(), us());
    let why = if others_write(about.mode()) {
        "users other than its owner can write it: run `chmod go-w`".to_owned()
    } else if !is_us_or_root(owner) {
        format!(
            "its owner is user {owner}, and this program runs as user {us}: run it as its owner (`sudo -u \
             '#{owner}'`)"
        )
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Checks that no other user can replace the directory at `path`, or remove it, by renaming a part of its path.
fn refuse_replaced_by_others(path: &Path) -> io::Result<()> {
    let replacers = Trail::of(&std::path::absolute(path)?)?.replacers(is_us_or_root)?;
    let why = match replacers.first() {
        None => return Ok(()),
        Some(Replacer::OwnerOf { directory: path, user } | Replacer::OwnerOfName { name: path, user }) => {
            format!("user {user} owns {} and may replace it", for_shell(path))
        }
        Some(Replacer::WriterOf { directory, .. }) => format!(
            "other users can write a parent directory and may replace it: run `chmod go-w {}`",
            for_shell(directory)
        ),
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

impl Disk for RealDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        match std::fs::DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => {
                let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
                self.sync_dir(above)?;
            }
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
        Ok(())
    }

    fn refuse_others(&self, path: &Path) -> io::Result<()> {
        let about = std::fs::metadata(path)?;
        if !about.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        refuse_written_by_others(&about)?;
        refuse_replaced_by_others(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        regular(options().read(true).open(path)?)?.read_to_end(&mut content)?;
        Ok(content)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        Ok(Box::new(regular(options().read(true).open(path)?)?))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut file = regular(options().read(true).write(true).create(true).truncate(false).open(path)?)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Box::new(RealFile { file, follows: false, is_lock: false }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        let file = regular(options().read(true).write(true).create(true).truncate(false).open(path)?)?;
        locked(RealFile { file, follows: false, is_lock: true })
    }

    fn lock_dir(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        // The path of a state directory may lead over links.
        locked(RealFile { file: File::open(path)?, follows: true, is_lock: true })
    }
}

/// Locks a file or a directory for this process. Returns none if another process holds it.
fn locked(real: RealFile) -> io::Result<Option<Box<dyn DiskFile>>> {
    match real.file.try_lock() {
        Ok(()) => Ok(Some(Box::new(real))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(why)) => Err(why),
    }
}

#[derive(Debug)]
struct RealFile {
    file: File,
    /// True if its path may lead over links.
    follows: bool,
    /// True if the file or directory is locked as long as it is open.
    is_lock: bool,
}

impl Drop for RealFile {
    /// Unlocks a lock. A child process that another thread starts at this moment has a copy of the descriptor until it
    /// runs its program. So closing the descriptor alone could leave the lock behind for a moment.
    fn drop(&mut self) {
        if self.is_lock {
            let _ = self.file.unlock();
        }
    }
}

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        self.file.metadata().map(|about| about.len())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    #[cfg(target_os = "linux")]
    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        let there = self.len()?;
        match bytes.checked_sub(there).filter(|more| 0 < *more) {
            Some(more) => Ok(fallocate(&self.file, FallocateFlags::KEEP_SIZE, there, more)?),
            None => Ok(()),
        }
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::Start(bytes)).map(drop)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        let identity = |about: &Metadata| (about.dev(), about.ino());
        let named = if self.follows { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
        match named {
            Ok(named) => Ok(identity(&named) == identity(&self.file.metadata()?)),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(why) => Err(why),
        }
    }
}
