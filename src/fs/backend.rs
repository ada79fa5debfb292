//! Two ways to open a canonical path without following a link: one system call, or one per component.
//!
//! Deliberately absent: a third way. When both refuse, the answer is no.

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

/// How often an `openat2` that the kernel could not prove safe is tried again. A canonical path holds no `..`,
/// so the kernel never has reason to ask for it; the bound is for kernels that ask anyway.
const RETRIES: usize = 16;

/// Which of the two ways to use. Only tests choose; everybody else has [`Backend::Auto`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// `openat2`, and the walk where a kernel or a filter does not let us call it.
    #[default]
    Auto,
    /// `openat2` only.
    Openat2,
    /// The walk only.
    Walk,
}

/// Where a canonical path begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    /// At the root: the path is absolute.
    Root,
    /// At a directory held open: the path is relative to it and cannot leave it.
    Held(BorrowedFd<'a>),
}

impl Backend {
    /// Opens `path`, in which no component may be a link (`ELOOP` otherwise).
    ///
    /// INVARIANT: `path` has no `..`. Both ways would refuse to leave a held directory, but only one of them
    /// would notice.
    pub(super) fn open(self, start: Start<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        match self {
            Backend::Openat2 => scoped(start, path, flags, mode),
            Backend::Walk => walked(start, path, flags, mode),
            Backend::Auto => match scoped(start, path, flags, mode) {
                // EPERM may also be an honest answer (an immutable file); then the walk hears it too.
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

/// Opens the last component. What is to be held, or to be a directory, is looked at first: with these flags the
/// kernel would open a link itself, or call it no directory.
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

/// One component further, refusing a link with `ELOOP`. Not a directory is for the next step to find out.
fn step(dir: BorrowedFd<'_>, name: &OsStr) -> Result<(OwnedFd, FileType), Errno> {
    let (fd, kind) = look(dir, name)?;
    if kind == FileType::Symlink { Err(Errno::LOOP) } else { Ok((fd, kind)) }
}

/// Takes hold of what `name` is, a link itself included, without reading or following it.
pub(super) fn look(dir: BorrowedFd<'_>, name: &OsStr) -> Result<(OwnedFd, FileType), Errno> {
    let fd = openat(dir, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let kind = FileType::from_raw_mode(fstat(&fd)?.st_mode);
    Ok((fd, kind))
}

/// The root directory, held.
pub(super) fn root() -> Result<OwnedFd, Errno> {
    openat(CWD, c"/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
