//! What a path really names, and which object that is. This is what a grant of a path pins.

use std::os::fd::OwnedFd;

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
    walk::walk,
};
use crate::model::{FileIdentity, InvalidPath, SanitizedPath, sanitize};

/// How often a path is followed again because somebody changed it meanwhile.
const ATTEMPTS: usize = 8;

/// A path without links, and the object that was there when it was resolved.
///
/// Stale at once: good for showing to a person, for storing with a grant, and for comparing later. It is no
/// permission to open the path by name; see [`ContainedPath`](super::ContainedPath).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPath {
    path: SanitizedPath,
    identity: Option<FileIdentity>,
    is_on_proc: bool,
}

impl RealPath {
    /// The path without links.
    pub fn path(&self) -> &SanitizedPath {
        &self.path
    }

    /// The object at the path; `None` when there was nothing.
    pub fn identity(&self) -> Option<FileIdentity> {
        self.identity
    }

    /// True if the object is one of a proc file system, wherever that is mounted.
    pub fn is_on_proc(&self) -> bool {
        self.is_on_proc
    }
}

/// Follows an absolute path as the kernel would: links expanded (40 at most), `..` to the parent of the real directory.
///
/// A link to something that does not exist is followed like any other. From the first component that does not exist,
/// the rest is kept as written and may hold no `..`. Links of procfs are refused, but for `/proc/self` and
/// `/proc/thread-self`.
///
/// # Errors
///
/// Any [`ResolveError`] but `Outside` and `Missing`. A permission that is lacking, a file used as a directory and a
/// name that is too long are errors and never "does not exist".
pub fn real(path: &str) -> Result<RealPath, ResolveError> {
    Backend::Auto.real(path)
}

/// The same for a path that was parsed already.
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
    /// [`real`], this way.
    ///
    /// # Errors
    ///
    /// As [`real`].
    pub fn real(self, path: &str) -> Result<RealPath, ResolveError> {
        RealPath::of(self.find(path)?)
    }

    /// Follows `path` and takes hold of what is there.
    pub(super) fn find(self, path: &str) -> Result<Found, ResolveError> {
        sanitize(path)?;
        // Most paths have neither links nor `..`. Opening one so that a link is an error answers in one call.
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
                // The walk met no such thing a moment ago, so somebody is changing the path.
                Err(Errno::LOOP | Errno::NOTDIR | Errno::ACCESS) => unsteady = Some(text),
                Err(errno) => return Err(ResolveError::at(&text, errno)),
            }
        }
        Err(ResolveError::Unsteady(unsteady.unwrap_or_default()))
    }

    /// Takes hold of what a canonical path names. Nothing there is an answer: on a path without links, `ENOENT`
    /// says that every component before the missing one was looked at and was a directory.
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

/// A resolved path and what was at it, held.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: SanitizedPath,
    pub(super) held: Option<Held>,
    /// The text ended in `/` or `/.`, so whatever is opened there must be a directory.
    pub(super) names_a_directory: bool,
}

/// An object that cannot be exchanged any more, because it is held and not named.
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
        // File systems without a disk, as procfs, have devices of major number 0.
        if major(self.identity.dev) == 0 { is_on_proc(&self.fd) } else { Ok(false) }
    }
}

/// True if the descriptor is an object of a proc file system.
pub(super) fn is_on_proc(fd: &OwnedFd) -> Result<bool, Errno> {
    Ok(fstatfs(fd)?.f_type == PROC_SUPER_MAGIC)
}

/// The result of one look at a descriptor.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) identity: FileIdentity,
    is_directory: bool,
}

impl Looked {
    pub(super) fn at(fd: &OwnedFd) -> Result<Looked, Errno> {
        let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::BTIME;
        let stat = match statx(fd, c"", AtFlags::EMPTY_PATH, wanted) {
            Ok(stat) => stat,
            // A kernel or a filter that does not know the call: then nobody tells when it was made.
            Err(Errno::NOSYS | Errno::PERM) => return Looked::without_birth(fd),
            Err(errno) => return Err(errno),
        };
        let told = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let born = u64::try_from(stat.stx_btime.tv_sec).ok().filter(|_| told);
        let identity = FileIdentity::new(makedev(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino);
        let identity = born.map_or(identity, |seconds| identity.born(seconds, stat.stx_btime.tv_nsec));
        Ok(Looked { identity, is_directory: is_directory(stat.stx_mode.into()) })
    }

    fn without_birth(fd: &OwnedFd) -> Result<Looked, Errno> {
        let stat = fstat(fd)?;
        Ok(Looked { identity: identity(&stat), is_directory: is_directory(stat.st_mode) })
    }
}

fn is_directory(mode: RawMode) -> bool {
    FileType::from_raw_mode(mode) == FileType::Directory
}

/// The inode that `stat` describes.
pub(super) fn identity(stat: &Stat) -> FileIdentity {
    FileIdentity::new(stat.st_dev, stat.st_ino)
}

/// The object that `metadata` describes, as [`RealPath::identity`] tells it.
#[cfg(any(feature = "config", feature = "edit", feature = "journal", feature = "sandbox"))]
pub(crate) fn identity_of(metadata: &std::fs::Metadata) -> FileIdentity {
    use std::{os::unix::fs::MetadataExt, time::UNIX_EPOCH};
    let identity = FileIdentity::new(metadata.dev(), metadata.ino());
    let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    born.map_or(identity, |born| identity.born(born.as_secs(), born.subsec_nanos()))
}

/// Whether a text says of itself that it names a directory; folding would forget it.
pub(super) fn names_a_directory(text: &str) -> bool {
    text.ends_with('/') || text.ends_with("/.")
}
