//! Follows a path as the kernel does, and says where it leads: links expanded, `..` taken from the real directory.
//!
//! The answer is a text without links, true while nobody changes a directory on the way: whoever uses it opens it so
//! that a link is an error. Nothing is opened for reading or writing here, and nothing decides whether the place is
//! allowed.

use std::{mem::MaybeUninit, os::fd::OwnedFd};

use rustix::{
    fs::{AtFlags, Mode, OFlags, PROC_SUPER_MAGIC, fstat, fstatfs, openat, readlinkat_raw, statat},
    io::Errno,
};

use super::{ResolveError, backend::root};

/// As many as Linux follows in one walk.
const MAX_LINKS: usize = 40;

/// No link on Linux holds more.
const MAX_TARGET: usize = 4096;

/// How many names are looked up from one held directory before one further down is held. Holding each would cost
/// three calls for one; holding none would make a deep path cost its square.
const STRIDE: usize = 32;

/// The inode of the root of every procfs.
const PROC_ROOT_INODE: u64 = 1;

const HOLD_DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Where the absolute `path` leads, as a text without links and without `..`.
///
/// It ends in `/` when the path says that it names a directory. From the first component that does not exist the
/// rest is taken as it is written.
///
/// # Errors
///
/// Every [`ResolveError`] but `Outside`, `Missing` and `Unsteady`. Only `ENOENT` means "does not exist".
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

/// `a//b`, `a/./b` and the end of `a/` all say no more than that `a` is a directory.
fn is_here(name: &str) -> bool {
    matches!(name, "" | ".")
}

struct Walk {
    /// The way to here, without links; empty for the root.
    real: String,
    /// A directory on that way, held, from which names are looked up.
    anchor: OwnedFd,
    /// How much of `real` leads to the anchor, and how many names lead on from it.
    anchored: usize,
    ahead: usize,
    /// What is to be walked, and from where on it is still to be. Behind a trailing slash is an empty name.
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
            // Behind the slash that made it absolute: at the root we are.
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

    /// The way from the anchor to here.
    fn tail(&self) -> &str {
        let tail = self.real.get(self.anchored..).unwrap_or_default();
        if tail.is_empty() { "." } else { tail.trim_start_matches('/') }
    }

    fn failed(&self, errno: Errno) -> ResolveError {
        match errno {
            // We came through here, so it was there.
            Errno::NOENT => ResolveError::Unsteady(self.real.clone()),
            errno => ResolveError::at(if self.real.is_empty() { "/" } else { &self.real }, errno),
        }
    }

    /// What the kernel asks of `a` in `a/.`: that it is a directory, and that we may search it.
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

    /// Goes to `name`, through it if it is a link. False if there is no such name.
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
            // Something that is not a link.
            Err(Errno::INVAL) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(Errno::NOTDIR) => {
                self.leave_name();
                Err(self.failed(Errno::NOTDIR))
            }
            Err(errno) => Err(self.failed(errno)),
        }
    }

    /// Goes on from the directory of the link that was just read.
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

    /// Whether a link in the held directory does not lead to the text it shows. All of procfs is distrusted, but for
    /// the two links at its top that are ordinary ones and that programs do use.
    fn is_magic(&self, name: &str) -> Result<bool, Errno> {
        if fstatfs(&self.anchor)?.f_type != PROC_SUPER_MAGIC {
            return Ok(false);
        }
        let at_top = fstat(&self.anchor)?.st_ino == PROC_ROOT_INODE;
        Ok(!(at_top && matches!(name, "self" | "thread-self")))
    }

    /// From here on nothing exists, so the rest is a text; but a `..` in it would have to be looked up.
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
