//! What a path passes through on its way to an object: every directory looked into, every link followed.
//!
//! A `Trail` is an observation, true when it was made. It opens nothing and says nothing about what may be opened.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    path::{Component, Path, PathBuf},
};

use super::identity_of;
use crate::model::FileIdentity;

/// The most links one path may pass through, as in the Linux kernel.
const MAX_LINKS: usize = 40;

/// The way from the root of the file system to where a path leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "config"), allow(dead_code, reason = "only a policy file is asked about all of its way"))]
pub(crate) struct Trail {
    /// Where the path leads, without links. Past the first missing part this is text.
    pub(crate) real: PathBuf,
    /// The object there, if there is one.
    pub(crate) identity: Option<FileIdentity>,
    /// The directories in which a name was looked up; each is a real path.
    pub(crate) directories: BTreeSet<PathBuf>,
    /// The names that were looked up, each below its real directory: whoever replaces one of them moves the path.
    pub(crate) names: BTreeSet<PathBuf>,
    /// Those of the names that are links.
    pub(crate) links: Vec<PathBuf>,
}

impl Trail {
    /// Walks `path`, which is absolute, as the kernel does. A missing end is fine.
    ///
    /// # Errors
    ///
    /// When what a path leads to cannot be told: no permission to look, a link that goes in circles, a file where
    /// a directory should be, or `..` after something that is missing.
    pub(crate) fn of(path: &Path) -> io::Result<Trail> {
        let mut trail = Trail::default();
        trail.walk(path)?;
        Ok(trail)
    }

    /// The part of the way that can be walked: enough to know where to look for a change.
    #[cfg(feature = "config")]
    pub(crate) fn as_far_as_possible(path: &Path) -> Trail {
        let mut trail = Trail::default();
        // What stops the walk is for whoever reads the file to report.
        let _stopped = trail.walk(path);
        trail
    }

    /// Each directory of the way, and what stands at its end, as an object.
    ///
    /// # Errors
    ///
    /// When one cannot be looked at, or is gone by now.
    #[cfg(feature = "config")]
    pub(crate) fn objects(&self) -> io::Result<Vec<(FileIdentity, PathBuf)>> {
        let mut objects = Vec::with_capacity(self.directories.len() + 1);
        for directory in &self.directories {
            let found = fs::symlink_metadata(directory)?;
            objects.push((identity_of(&found), directory.clone()));
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
            let found = fs::symlink_metadata(&self.real)?;
            self.identity = Some(identity_of(&found));
        }
        Ok(())
    }
}

/// The names of `path` from the last to the first, so that the next one is popped.
fn parts(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    named.rev().collect()
}
