//! Two ways to open a canonical path without following a link: one system call, or one call per component.
//!
//! Deliberately absent: a third way. When both fail, the path is not opened.

use std::{
    ffi::OsStr,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2},
    io::Errno,
};

/// The number of attempts of an `openat2` call that the kernel could not prove safe. A canonical path has no `..`, so
/// the kernel should never ask for another attempt. The limit is for kernels that ask anyway.
const RETRIES: usize = 16;

/// The way to open a path. Only tests choose one; all other callers use [`Backend::Auto`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// `openat2`, or the walk if the kernel or a seccomp filter does not permit that call.
    #[default]
    Auto,
    /// `openat2` only.
    Openat2,
    /// The walk only.
    Walk,
}

/// The start of a canonical path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    /// At the root: the path is absolute.
    Root,
    /// A directory that is held open: the path is relative to it and cannot leave it.
    Held(BorrowedFd<'a>),
}

impl Backend {
    /// Opens `path`. No component may be a link; a link gives `ELOOP`.
    ///
    /// INVARIANT: `path` has no `..`. Both ways refuse to leave a held directory, but only one of them detects the
    /// attempt.
    pub(super) fn open(self, start: Start<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        match self {
            Backend::Openat2 => scoped(start, path, flags, mode),
            Backend::Walk => walked(start, path, flags, mode),
            Backend::Auto => match scoped(start, path, flags, mode) {
                // EPERM may also be the real result, for example for an immutable file. Then the walk returns it too.
                Err(Errno::NOSYS | Errno::PERM) => walked(start, path, flags, mode),
                answer => answer,
            },
        }
    }
}

fn scoped(start: Start<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let without_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let (dir, how) = match start {
        Start::Root => (CWD, without_links),
        Start::Held(dir) => (dir, without_links | ResolveFlags::BENEATH),
    };
    for _ in 0..RETRIES {
        match openat2(dir, path, flags, mode, how) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            answer => return answer,
        }
    }
    Err(Errno::AGAIN)
}

fn walked(start: Start<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut here = match start {
        Start::Root => root()?,
        Start::Held(dir) => {
            dir.try_clone_to_owned().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?
        }
    };
    let mut names = path.as_os_str().as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        let name = OsStr::from_bytes(name);
        if names.peek().is_none() {
            return last(here.as_fd(), name, flags, mode);
        }
        here = step(here.as_fd(), name)?.0;
    }
    openat(here, c".", flags, mode)
}

/// Opens the last component. A component that is to be held, or to be a directory, is examined first: with these flags
/// the kernel would open a link itself, or report it as no directory.
fn last(dir: BorrowedFd<'_>, name: &OsStr, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    if !flags.intersects(OFlags::PATH | OFlags::DIRECTORY) {
        return openat(dir, name, flags | OFlags::NOFOLLOW, mode);
    }
    let (fd, kind) = step(dir, name)?;
    if flags.contains(OFlags::DIRECTORY) && kind != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    if flags.contains(OFlags::PATH) { Ok(fd) } else { openat(fd, c".", flags, mode) }
}

/// Enters one component, and refuses a link with `ELOOP`. A non-directory is detected by the next step.
fn step(dir: BorrowedFd<'_>, name: &OsStr) -> Result<(OwnedFd, FileType), Errno> {
    let (fd, kind) = look(dir, name)?;
    if kind == FileType::Symlink { Err(Errno::LOOP) } else { Ok((fd, kind)) }
}

/// Opens the entry `name` as a path handle, without reading or following it. A link itself is opened too.
pub(super) fn look(dir: BorrowedFd<'_>, name: &OsStr) -> Result<(OwnedFd, FileType), Errno> {
    let fd = openat(dir, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let kind = FileType::from_raw_mode(fstat(&fd)?.st_mode);
    Ok((fd, kind))
}

/// Opens the root directory as a path handle.
pub(super) fn root() -> Result<OwnedFd, Errno> {
    openat(CWD, c"/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
