//! Resolves a path like the kernel: links are expanded, and `..` leads to the parent of the real directory.
//!
//! The result is a text without links. It is true until a directory on the way changes, so its user must open it with a
//! call that fails on a link. This module opens no file for reading or writing, and does not decide if the path is
//! allowed.

use std::{mem::MaybeUninit, os::fd::OwnedFd};

use rustix::{
    fs::{AtFlags, Mode, OFlags, PROC_SUPER_MAGIC, fstat, fstatfs, openat, readlinkat_raw, statat},
    io::Errno,
};

use super::{ResolveError, backend::root};

/// The maximum number of links, as in Linux.
const MAX_LINKS: usize = 40;

/// The maximum length of a link target on Linux.
const MAX_TARGET: usize = 4096;

/// The number of names that are looked up from one held directory before a deeper one is held. Holding each directory
/// would need three calls instead of one; holding none would make a deep path cost its square.
const STRIDE: usize = 32;

/// The inode of the root of every procfs.
const PROC_ROOT_INODE: u64 = 1;

const HOLD_DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Returns the real location of the absolute `path`, as a text without links and without `..`.
///
/// The result ends in `/` when the path states that it names a directory. From the first missing component on, the rest
/// is kept as written.
///
/// # Errors
///
/// Every [`ResolveError`] but `Outside`, `Missing` and `Unsteady`. Only `ENOENT` counts as a missing path.
pub(super) fn walk(path: &str) -> Result<String, ResolveError> {
    let mut walk = Walk::of(path)?;
    let mut names_a_directory = false;
    while let Some(name) = walk.next_name() {
        names_a_directory = is_here(&name) || name == "..";
        if is_here(&name) {
            walk.stay()?;
        } else if name == ".." {
            walk.up()?;
        } else if !walk.enter(&name)? {
            return walk.missing();
        }
    }
    Ok(walk.real + if names_a_directory { "/" } else { "" })
}

/// Returns true for an empty name or `.`: `a//b`, `a/./b` and the end of `a/` only state that `a` is a directory.
fn is_here(name: &str) -> bool {
    matches!(name, "" | ".")
}

struct Walk {
    /// The current position, without links; empty for the root.
    real: String,
    /// A held directory on the way to the current position. Names are looked up from it.
    anchor: OwnedFd,
    /// The length of the part of `real` that leads to the anchor, and the number of names after it.
    anchored: usize,
    ahead: usize,
    /// The path to walk, and the index of the part that is left. A trailing slash is followed by an empty name.
    path: String,
    next: Option<usize>,
    links: usize,
}

impl Walk {
    fn of(path: &str) -> Result<Walk, ResolveError> {
        Ok(Walk {
            real: String::new(),
            anchor: root().map_err(|errno| ResolveError::at("/", errno))?,
            anchored: 0,
            ahead: 0,
            path: path.to_owned(),
            // The walk starts at the root, after the leading slash.
            next: Some(1),
            links: 0,
        })
    }

    fn rest(&self) -> Option<&str> {
        self.path.get(self.next?..)
    }

    fn next_name(&mut self) -> Option<String> {
        let rest = self.rest()?;
        let (name, next) = match rest.split_once('/') {
            None => (rest.to_owned(), None),
            Some((name, behind)) => (name.to_owned(), Some(self.path.len() - behind.len())),
        };
        self.next = next;
        Some(name)
    }

    /// Returns the path from the anchor to the current position.
    fn tail(&self) -> &str {
        let tail = self.real.get(self.anchored..).unwrap_or_default();
        if tail.is_empty() { "." } else { tail.trim_start_matches('/') }
    }

    fn failed(&self, errno: Errno) -> ResolveError {
        match errno {
            // The walk came through this directory, so it existed before.
            Errno::NOENT => ResolveError::Unsteady(self.real.clone()),
            errno => ResolveError::at(if self.real.is_empty() { "/" } else { &self.real }, errno),
        }
    }

    /// Checks what the kernel requires of `a` in `a/.`: it must be a directory, and this process may search it.
    fn stay(&self) -> Result<(), ResolveError> {
        let here = format!("{}/.", self.tail());
        statat(&self.anchor, here, AtFlags::empty()).map(drop).map_err(|errno| self.failed(errno))
    }

    fn up(&mut self) -> Result<(), ResolveError> {
        self.stay()?;
        if self.ahead == 0 {
            self.anchor =
                openat(&self.anchor, c"..", HOLD_DIRECTORY, Mode::empty()).map_err(|errno| self.failed(errno))?;
        }
        self.leave_name();
        self.anchored = self.anchored.min(self.real.len());
        Ok(())
    }

    /// Goes to `name`, and through it if it is a link. Returns false if the name does not exist.
    fn enter(&mut self, name: &str) -> Result<bool, ResolveError> {
        if self.ahead == STRIDE {
            self.hold_here()?;
        }
        self.real.push('/');
        self.real.push_str(name);
        self.ahead += 1;
        let mut target = [MaybeUninit::uninit(); MAX_TARGET];
        match readlinkat_raw(&self.anchor, self.tail(), &mut target) {
            Ok((target, _)) => self.follow(name, target).map(|()| true),
            // The name is not a link.
            Err(Errno::INVAL) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(Errno::NOTDIR) => {
                self.leave_name();
                Err(self.failed(Errno::NOTDIR))
            }
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Continues with the target, from the directory of the link that was read.
    fn follow(&mut self, name: &str, target: &[u8]) -> Result<(), ResolveError> {
        let link = self.real.clone();
        let failed = |errno| ResolveError::at(&link, errno);
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(ResolveError::Loop(link));
        }
        self.leave_name();
        self.hold_here()?;
        if self.is_magic(name).map_err(failed)? {
            return Err(ResolveError::MagicLink(link));
        }
        let Ok(target) = str::from_utf8(target) else { return Err(ResolveError::NotText(link)) };
        let path = match self.rest() {
            None => target.to_owned(),
            Some(rest) => format!("{target}/{rest}"),
        };
        if path.starts_with('/') {
            *self = Walk { links: self.links, ..Walk::of(&path)? };
        } else {
            (self.path, self.next) = (path, Some(0));
        }
        Ok(())
    }

    fn leave_name(&mut self) {
        self.real.truncate(self.real.rfind('/').unwrap_or(0));
        self.ahead = self.ahead.saturating_sub(1);
    }

    fn hold_here(&mut self) -> Result<(), ResolveError> {
        if self.ahead > 0 {
            self.anchor =
                openat(&self.anchor, self.tail(), HOLD_DIRECTORY, Mode::empty()).map_err(|errno| self.failed(errno))?;
            (self.anchored, self.ahead) = (self.real.len(), 0);
        }
        Ok(())
    }

    /// Returns true if a link in the held directory may not lead to the text it shows. All links of procfs count as
    /// such, except two ordinary links at its top that programs use.
    fn is_magic(&self, name: &str) -> Result<bool, Errno> {
        if fstatfs(&self.anchor)?.f_type != PROC_SUPER_MAGIC {
            return Ok(false);
        }
        let at_top = fstat(&self.anchor)?.st_ino == PROC_ROOT_INODE;
        Ok(!(at_top && matches!(name, "self" | "thread-self")))
    }

    /// Appends the rest as text, since the path does not exist from here on. A `..` in the rest is an error, because it
    /// would have to be looked up.
    fn missing(mut self) -> Result<String, ResolveError> {
        let mut names_a_directory = false;
        while let Some(name) = self.next_name() {
            names_a_directory = is_here(&name);
            if name == ".." {
                return Err(ResolveError::MissingParent(self.real + "/.."));
            }
            if !names_a_directory {
                self.real = self.real + "/" + &name;
            }
        }
        Ok(self.real + if names_a_directory { "/" } else { "" })
    }
}
