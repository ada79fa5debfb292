//! Users who can replace the object at a path, because they may rename or replace one of the names on the way.
//!
//! Access lists beyond the mode are included in the mode: on Linux, the group bits are the upper bound of such a list.

use std::{fs, io, os::unix::fs::MetadataExt, path::PathBuf};

use super::Trail;

const STICKY: u32 = 0o1000;
const GROUP: u32 = 0o020;
const EVERYBODY: u32 = 0o002;

/// A reason why another user can replace the object at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Replacer {
    /// A user who owns a directory on the way.
    OwnerOf {
        /// The directory.
        directory: PathBuf,
        /// The user.
        user: u32,
    },
    /// Users other than the owner who may write a directory on the way.
    WriterOf {
        /// The directory.
        directory: PathBuf,
        /// True if its group may write it.
        group: bool,
        /// True if every user may write it.
        everybody: bool,
    },
    /// A user who owns a name on the way, in a sticky directory that other users may write.
    OwnerOfName {
        /// The path of the name.
        name: PathBuf,
        /// The user.
        user: u32,
    },
}

impl Trail {
    /// Returns every way in which an untrusted user can replace the object at the end of this trail.
    ///
    /// # Errors
    ///
    /// An I/O error when a directory cannot be read, or is gone by now.
    pub(crate) fn replacers(&self, is_trusted: impl Fn(u32) -> bool) -> io::Result<Vec<Replacer>> {
        let mut found = Vec::new();
        for directory in &self.directories {
            let about = fs::symlink_metadata(directory)?;
            if !is_trusted(about.uid()) {
                found.push(Replacer::OwnerOf { directory: directory.clone(), user: about.uid() });
            }
            let (group, everybody) = (about.mode() & GROUP != 0, about.mode() & EVERYBODY != 0);
            if !group && !everybody {
                continue;
            }
            if about.mode() & STICKY == 0 {
                found.push(Replacer::WriterOf { directory: directory.clone(), group, everybody });
                continue;
            }
            // In a sticky directory, the owner of a name may replace it.
            for name in self.names.iter().filter(|name| name.parent() == Some(directory)) {
                let user = fs::symlink_metadata(name)?.uid();
                if !is_trusted(user) {
                    found.push(Replacer::OwnerOfName { name: name.clone(), user });
                }
            }
        }
        Ok(found)
    }
}

/// Returns true for a mode with which users other than the owner may write.
pub(crate) fn others_write(mode: u32) -> bool {
    mode & (GROUP | EVERYBODY) != 0
}

/// Returns true for the user of this process and for root, who may do anything.
pub(crate) fn is_us_or_root(user: u32) -> bool {
    user == us() || user == 0
}

/// Returns the effective user of this process.
pub(crate) fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}
