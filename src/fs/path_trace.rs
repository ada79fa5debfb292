//! The trail of a path to its object: every directory that was searched, every link that was followed.
//!
//! A `Trail` is an observation, true when it was made. It opens no file and grants no access.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    path::{Component, Path, PathBuf},
};

use super::{handle, identity_of};
use crate::model::FileIdentity;

/// The maximum number of links of one path, as in the Linux kernel.
const MAX_LINKS: usize = 40;

/// The way from the root of the file system to the end of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "config"), allow(dead_code, reason = "only a policy file is asked about all of its way"))]
pub(crate) struct Trail {
    /// The end of the path, without links. After the first missing part this is only text.
    pub(crate) real: PathBuf,
    /// The object there, if there is one.
    pub(crate) identity: Option<FileIdentity>,
    /// The directories in which a name was looked up; each is a real path.
    pub(crate) directories: BTreeSet<PathBuf>,
    /// The names that were looked up, each below its real directory. A user who replaces one of them moves the path.
    pub(crate) names: BTreeSet<PathBuf>,
    /// Those of the names that are links.
    pub(crate) links: Vec<PathBuf>,
}

impl Trail {
    /// Walks the absolute path `path` like the kernel. A missing end is no error.
    ///
    /// # Errors
    ///
    /// An error when the target of the path cannot be determined: no permission to look, a link that goes in circles, a
    /// file where a directory should be, or `..` after a missing component.
    pub(crate) fn of(path: &Path) -> io::Result<Trail> {
        let mut trail = Trail::default();
        trail.walk(path)?;
        Ok(trail)
    }

    /// Walks the part of the path that can be walked: enough to know which directories to watch for a change.
    #[cfg(feature = "config")]
    pub(crate) fn as_far_as_possible(path: &Path) -> Trail {
        let mut trail = Trail::default();
        // The reader of the file reports the error that stopped the walk.
        let _stopped = trail.walk(path);
        trail
    }

    /// Returns the identity of each directory on the way, and of the object at its end.
    ///
    /// # Errors
    ///
    /// An I/O error when one of them cannot be read, or is gone by now.
    #[cfg(feature = "config")]
    pub(crate) fn objects(&self) -> io::Result<Vec<(FileIdentity, PathBuf)>> {
        let mut objects = Vec::with_capacity(self.directories.len() + 1);
        for directory in &self.directories {
            objects.push((identity_of(handle(directory)?)?, directory.clone()));
        }
        objects.extend(self.identity.map(|identity| (identity, self.real.clone())));
        Ok(objects)
    }

    fn walk(&mut self, path: &Path) -> io::Result<()> {
        self.real = PathBuf::from("/");
        let mut ahead = parts(path);
        let mut missing = false;
        while let Some(part) = ahead.pop() {
            if part == ".." {
                if missing {
                    return Err(io::Error::new(io::ErrorKind::NotFound, "`..` after something that is not there"));
                }
                self.real.pop();
                continue;
            }
            let name = self.real.join(&part);
            if missing {
                self.real = name;
                continue;
            }
            self.directories.insert(self.real.clone());
            self.names.insert(name.clone());
            match fs::symlink_metadata(&name) {
                Ok(found) if found.is_symlink() => {
                    self.links.push(name.clone());
                    if self.links.len() > MAX_LINKS {
                        return Err(io::Error::other("too many links, or a link that leads to itself"));
                    }
                    let target = fs::read_link(&name)?;
                    if target.is_absolute() {
                        self.real = PathBuf::from("/");
                    }
                    ahead.extend(parts(&target));
                }
                Ok(_) => self.real = name,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    missing = true;
                    self.real = name;
                }
                Err(error) => return Err(error),
            }
        }
        if !missing {
            self.identity = Some(identity_of(handle(&self.real)?)?);
        }
        Ok(())
    }
}

/// Returns the names of `path` from the last to the first, so that `pop` returns the next one.
fn parts(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    named.rev().collect()
}
