//! Follows a path as the kernel does, and says where it leads: links expanded, `..` taken from the real directory.
//!
//! The answer is a text without links, true while nobody changes a directory on the way. Nothing is opened for
//! reading or writing, and nothing here decides whether the place is allowed.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{FileType, Mode, OFlags, PROC_SUPER_MAGIC, fstat, fstatfs, openat, readlinkat},
    io::Errno,
};

use super::{
    ResolveError,
    backend::{look, root},
};

/// As many as Linux follows in one walk.
const MAX_LINKS: usize = 40;

/// The inode of the root of every procfs.
const PROC_ROOT_INODE: u64 = 1;

/// Where the absolute `path` leads, as a text without links and without `..`.
///
/// It ends in `/` when the path says that it names a directory. From the first component that does not exist the
/// rest is taken as it is written.
///
/// # Errors
///
/// Every [`ResolveError`] but `Outside`, `Missing` and `Unsteady`. Only `ENOENT` means "does not exist".
pub(super) fn walk(path: &str) -> Result<String, ResolveError> {
    let mut walk = Walk {
        place: root().map_err(|errno| ResolveError::at("/", errno))?,
        is_directory: true,
        real: String::new(),
        rest: Some(path.to_owned()),
        links: 0,
    };
    let mut named_a_directory = false;
    while let Some(name) = walk.next_name() {
        named_a_directory = is_here(&name) || name == "..";
        match name.as_str() {
            here if is_here(here) => walk.stay()?,
            ".." => walk.up()?,
            name => {
                if !walk.enter(name)? {
                    return walk.missing(name);
                }
            }
        }
    }
    Ok(walk.real + if named_a_directory { "/" } else { "" })
}

/// `a//b`, `a/./b` and the end of `a/` all say no more than that `a` is a directory.
fn is_here(name: &str) -> bool {
    matches!(name, "" | ".")
}

struct Walk {
    /// What `real` was when it was reached.
    place: OwnedFd,
    is_directory: bool,
    /// The way here; empty for the root.
    real: String,
    /// What is still to be walked. `Some("")` is what stands behind a trailing slash, and is not nothing.
    rest: Option<String>,
    links: usize,
}

impl Walk {
    fn next_name(&mut self) -> Option<String> {
        let rest = self.rest.take()?;
        match rest.split_once('/') {
            None => Some(rest),
            Some((name, behind)) => {
                self.rest = Some(behind.to_owned());
                Some(name.to_owned())
            }
        }
    }

    fn stay(&self) -> Result<(), ResolveError> {
        if self.is_directory { Ok(()) } else { Err(ResolveError::NotADirectory(self.real.clone())) }
    }

    /// To the parent that the directory has now, which is also how the kernel finds out whether we may.
    fn up(&mut self) -> Result<(), ResolveError> {
        self.stay()?;
        self.place = openat(&self.place, c"..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| ResolveError::at(&self.real, errno))?;
        self.real.truncate(self.real.rfind('/').unwrap_or(0));
        Ok(())
    }

    /// Goes to `name`, through it if it is a link. False if there is no such name.
    fn enter(&mut self, name: &str) -> Result<bool, ResolveError> {
        self.stay()?;
        let (place, kind) = match look(self.place.as_fd(), OsStr::new(name)) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(ResolveError::at(&self.join(name), errno)),
        };
        if kind == FileType::Symlink {
            return self.follow(name, place).map(|()| true);
        }
        self.real = self.join(name);
        self.place = place;
        self.is_directory = kind == FileType::Directory;
        Ok(true)
    }

    fn follow(&mut self, name: &str, link: OwnedFd) -> Result<(), ResolveError> {
        let at = self.join(name);
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(ResolveError::Loop(at));
        }
        if self.is_magic(name).map_err(|errno| ResolveError::at(&at, errno))? {
            return Err(ResolveError::MagicLink(at));
        }
        let target = readlinkat(link, c"", Vec::new()).map_err(|errno| ResolveError::at(&at, errno))?;
        let target = target.into_string().map_err(|_| ResolveError::NotText(at))?;
        if target.starts_with('/') {
            self.place = root().map_err(|errno| ResolveError::at("/", errno))?;
            self.real.clear();
        }
        self.rest = Some(match self.rest.take() {
            None => target,
            Some(rest) => target + "/" + &rest,
        });
        Ok(())
    }

    /// Whether a link here does not lead to the text it shows. All of procfs is distrusted, but for the two links
    /// at its top that are ordinary ones and that programs do use.
    fn is_magic(&self, name: &str) -> Result<bool, Errno> {
        if fstatfs(&self.place)?.f_type != PROC_SUPER_MAGIC {
            return Ok(false);
        }
        let at_top = fstat(&self.place)?.st_ino == PROC_ROOT_INODE;
        Ok(!(at_top && matches!(name, "self" | "thread-self")))
    }

    /// From `name` on nothing exists, so the rest is a text; but a `..` in it would have to be looked up.
    fn missing(mut self, name: &str) -> Result<String, ResolveError> {
        let mut real = self.join(name);
        let mut named_a_directory = false;
        while let Some(name) = self.next_name() {
            named_a_directory = is_here(&name);
            if name == ".." {
                return Err(ResolveError::MissingParent(real + "/.."));
            }
            if !named_a_directory {
                real = real + "/" + &name;
            }
        }
        Ok(real + if named_a_directory { "/" } else { "" })
    }

    fn join(&self, name: &str) -> String {
        format!("{}/{name}", self.real)
    }
}
