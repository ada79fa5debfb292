//! Who may put something else where a path leads: whoever may rename or replace one of the names on the way.
//!
//! Access lists beyond the mode count through the mode: on Linux, the bits of the group are the widest that such a list gives.

use std::{fs, io, os::unix::fs::MetadataExt, path::PathBuf};

use super::Trail;

const STICKY: u32 = 0o1000;
const GROUP: u32 = 0o020;
const EVERYBODY: u32 = 0o002;

/// One reason why somebody may put something else where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Replacer {
    /// A user who owns a directory of the way.
    OwnerOf {
        /// The directory.
        directory: PathBuf,
        /// The user.
        user: u32,
    },
    /// Whoever may write a directory of the way besides its owner.
    WriterOf {
        /// The directory.
        directory: PathBuf,
        /// Its group may.
        group: bool,
        /// Everybody may.
        everybody: bool,
    },
    /// A user who owns a name of the way, in a sticky directory that others may write.
    OwnerOfName {
        /// The path of the name.
        name: PathBuf,
        /// The user.
        user: u32,
    },
}

impl Trail {
    /// Everybody who may put something else where this way leads, but for users who are trusted.
    ///
    /// # Errors
    ///
    /// When a directory cannot be looked at, or is gone by now.
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
            // There, who owns a name may replace it.
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

/// Returns true for a mode by which others than the owner may write.
pub(crate) fn others_write(mode: u32) -> bool {
    mode & (GROUP | EVERYBODY) != 0
}

/// Returns true for the user of this process and for root, who may do anything.
pub(crate) fn is_us_or_root(user: u32) -> bool {
    user == us() || user == 0
}

/// The user of this process.
pub(crate) fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}
