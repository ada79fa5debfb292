//! Real paths and the objects they name. A grant of a path pins both.

use std::os::fd::{AsFd, OwnedFd};
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
use std::{io, path::Path};

#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
use rustix::fs::open;
use rustix::{
    fs::{
        AtFlags, FileType, Mode, OFlags, PROC_SUPER_MAGIC, RawMode, Stat, StatxFlags, fstat, fstatfs, major, makedev,
        statx,
    },
    io::Errno,
};

use super::{
    ResolveError,
    backend::{Backend, Start},
    expand_links::walk,
};
use crate::model::{FileIdentity, InvalidPath, SanitizedPath, sanitize};

/// The number of attempts to follow a path that another process changes meanwhile.
const ATTEMPTS: usize = 8;

/// A path without links, and the object that was there when it was resolved.
///
/// The value may be stale at once. It can be shown to a person, stored with a grant, and compared later. To open the
/// path, use [`ContainedPath`](super::ContainedPath): a check followed by opening by name is not safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPath {
    path: SanitizedPath,
    identity: Option<FileIdentity>,
    is_on_proc: bool,
}

impl RealPath {
    /// Returns the path without links.
    pub fn path(&self) -> &SanitizedPath {
        &self.path
    }

    /// Returns the identity of the object at the path; `None` when the path did not exist.
    pub fn identity(&self) -> Option<FileIdentity> {
        self.identity
    }

    /// Returns true if the object belongs to a proc file system, wherever that is mounted.
    pub fn is_on_proc(&self) -> bool {
        self.is_on_proc
    }
}

/// Resolves an absolute path like the kernel: links are expanded (40 at most), and `..` leads to the parent of the real
/// directory.
///
/// A link to a missing path is followed like any other. From the first missing component on, the rest is kept as
/// written and must have no `..`. Links of procfs are refused, except `/proc/self` and `/proc/thread-self`.
///
/// # Errors
///
/// Any [`ResolveError`] but `Outside` and `Missing`. A missing permission, a file used as a directory and a name that
/// is too long are errors; they never count as a missing path.
pub fn real(path: &str) -> Result<RealPath, ResolveError> {
    Backend::Auto.real(path)
}

/// Resolves a path that was parsed already, like [`real`].
pub(crate) fn real_of(path: &SanitizedPath) -> Result<RealPath, ResolveError> {
    match Backend::Auto.pin(path.clone(), false) {
        Ok(found) => RealPath::of(found),
        Err(_) => real(path.as_str()),
    }
}

impl RealPath {
    fn of(found: Found) -> Result<RealPath, ResolveError> {
        let (held, path) = (found.held.as_ref(), found.path);
        let is_on_proc =
            held.map_or(Ok(false), Held::is_on_proc).map_err(|errno| ResolveError::at(path.as_str(), errno))?;
        Ok(RealPath { identity: held.map(|held| held.identity), is_on_proc, path })
    }
}

impl Backend {
    /// Resolves like [`real`], with this backend.
    ///
    /// # Errors
    ///
    /// The errors of [`real`].
    pub fn real(self, path: &str) -> Result<RealPath, ResolveError> {
        RealPath::of(self.find(path)?)
    }

    /// Resolves `path` and opens the object there as a path handle.
    pub(super) fn find(self, path: &str) -> Result<Found, ResolveError> {
        sanitize(path)?;
        // Most paths have neither links nor `..`. For them, one call that opens the path and fails on a link is enough.
        match path.parse() {
            Ok(plain) => {
                if let Ok(found) = self.pin(plain, names_a_directory(path)) {
                    return Ok(found);
                }
            }
            Err(InvalidPath::ParentComponent) => {}
            Err(invalid) => return Err(invalid.into()),
        }
        let mut unsteady = None;
        for _ in 0..ATTEMPTS {
            let text = walk(path)?;
            match self.pin(text.parse()?, names_a_directory(&text)) {
                Ok(found) => return Ok(found),
                // The walk found no such obstacle a moment ago, so another process is changing the path.
                Err(Errno::LOOP | Errno::NOTDIR | Errno::ACCESS) => unsteady = Some(text),
                Err(errno) => return Err(ResolveError::at(&text, errno)),
            }
        }
        Err(ResolveError::Unsteady(unsteady.unwrap_or_default()))
    }

    /// Opens the object of a canonical path as a path handle. A missing object is a valid result: on a path without
    /// links, `ENOENT` means that every component before the missing one was checked and was a directory.
    fn pin(self, path: SanitizedPath, is_directory: bool) -> Result<Found, Errno> {
        let flags = if is_directory { OFlags::PATH | OFlags::DIRECTORY } else { OFlags::PATH };
        let held = match self.open(Start::Root, path.as_path(), flags, Mode::empty()) {
            Ok(fd) => Some(Held::new(fd)?),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno),
        };
        Ok(Found { path, held, names_a_directory: is_directory })
    }
}

/// A resolved path and the held object there.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: SanitizedPath,
    pub(super) held: Option<Held>,
    /// True if the text ended in `/` or `/.`, so the opened object must be a directory.
    pub(super) names_a_directory: bool,
}

/// An object that cannot be replaced, because it is held by descriptor and not by name.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) fd: OwnedFd,
    pub(super) identity: FileIdentity,
    pub(super) is_directory: bool,
}

impl Held {
    fn new(fd: OwnedFd) -> Result<Held, Errno> {
        let Looked { identity, is_directory } = Looked::at(&fd)?;
        Ok(Held { fd, identity, is_directory })
    }

    fn is_on_proc(&self) -> Result<bool, Errno> {
        // File systems without a disk, such as procfs, have devices with major number 0.
        if major(self.identity.dev) == 0 { is_on_proc(&self.fd) } else { Ok(false) }
    }
}

/// Returns true if the descriptor is an object of a proc file system.
pub(super) fn is_on_proc(fd: &OwnedFd) -> Result<bool, Errno> {
    Ok(fstatfs(fd)?.f_type == PROC_SUPER_MAGIC)
}

/// The result of a status call on a descriptor.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) identity: FileIdentity,
    is_directory: bool,
}

impl Looked {
    pub(super) fn at(fd: impl AsFd) -> Result<Looked, Errno> {
        let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::BTIME;
        let stat = match statx(&fd, c"", AtFlags::EMPTY_PATH, wanted) {
            Ok(stat) => stat,
            // The kernel or a seccomp filter does not permit the call: then the creation time is unknown.
            Err(Errno::NOSYS | Errno::PERM) => return Looked::without_birth(fd),
            Err(errno) => return Err(errno),
        };
        let told = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let born = u64::try_from(stat.stx_btime.tv_sec).ok().filter(|_| told);
        let identity = FileIdentity::new(makedev(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino);
        let identity = born.map_or(identity, |seconds| identity.born(seconds, stat.stx_btime.tv_nsec));
        Ok(Looked { identity, is_directory: is_directory(stat.stx_mode.into()) })
    }

    fn without_birth(fd: impl AsFd) -> Result<Looked, Errno> {
        let stat = fstat(fd)?;
        Ok(Looked { identity: identity(&stat), is_directory: is_directory(stat.st_mode) })
    }
}

fn is_directory(mode: RawMode) -> bool {
    FileType::from_raw_mode(mode) == FileType::Directory
}

/// Returns the identity of the inode in `stat`, without the creation time.
pub(super) fn identity(stat: &Stat) -> FileIdentity {
    FileIdentity::new(stat.st_dev, stat.st_ino)
}

/// Returns the identity of the object behind a descriptor, in the form of [`RealPath::identity`]. The metadata of the
/// standard library have no creation time with every C library.
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) fn identity_of(fd: impl AsFd) -> io::Result<FileIdentity> {
    Ok(Looked::at(fd)?.identity)
}

/// Opens the object at `path` as a handle that can neither read nor write. A link at the end is the object itself.
#[cfg(any(feature = "config", feature = "journal", feature = "sandbox"))]
pub(crate) fn handle(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// Returns true if the text itself names a directory. Canonicalization would remove this mark.
pub(super) fn names_a_directory(text: &str) -> bool {
    text.ends_with('/') || text.ends_with("/.")
}
