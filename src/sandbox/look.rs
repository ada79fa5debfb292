//! The search for sensitive names below a write root: files that programs obey, and secrets.
//!
//! The search reports every directory that it cannot read. Only a missing directory counts as empty.

mod kept;
mod seen;

use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, statat},
    io::Errno,
};

use super::Profile;
use crate::model::SanitizedPath;
use seen::{Entries, Known, ROOT, Tree};

/// The most entries that are read below one root.
const MOST_ENTRIES: usize = 1_000_000;

/// The result of the search below one write root.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The sensitive names, each with its kind.
    pub(super) sensitive: Vec<(PathBuf, FileType)>,
    /// Directories below the root that git recognizes as repositories although they have another name than `.git`.
    pub(super) repositories: Vec<PathBuf>,
    /// True if the root itself is such a directory.
    pub(super) is_repository: bool,
    /// Directories that could not be read.
    pub(super) closed: Vec<(PathBuf, Errno)>,
    /// True if the search stopped at the limit of entries.
    pub(super) is_too_much: bool,
}

/// Searches below `root` without following links. The search does not enter sensitive directories.
pub(super) fn look(root: &SanitizedPath, profile: &Profile) -> Looked {
    look_with(root, profile, &mut Tree::default())
}

/// Searches like [`look`]. A directory that has not changed since an earlier search of this user is not read again.
pub(super) fn look_again(root: &SanitizedPath, profile: &Profile) -> Looked {
    let mut seen = kept::load(root, profile);
    let looked = look_with(root, profile, &mut seen);
    if seen.has_news {
        // On an error, the next search reads the directories again.
        let _ = kept::store(&seen, root, profile);
    }
    looked
}

fn look_with(root: &SanitizedPath, profile: &Profile, seen: &mut Tree) -> Looked {
    let (mut looked, mut count) = (Looked::default(), 0);
    let mut open = vec![(root.as_path().to_owned(), ROOT)];
    while let Some((directory, at)) = open.pop() {
        let held = match seen.visit(at, &directory, profile) {
            Ok(held) => held,
            // The directory was removed or replaced meanwhile, so its name has no meaning any more.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if at != ROOT => continue,
            Err(why) => {
                looked.closed.push((directory, why));
                continue;
            }
        };
        let entries = seen.entries(at);
        count += entries.count;
        if !looked.note(entries, || directory.clone(), at == ROOT) {
            continue;
        }
        for (name, child) in &entries.directories {
            let path = || directory.join(name);
            match seen.leaf(*child).filter(|(known, _)| is_as_known(&held, name, *known)) {
                Some((_, leaf)) => {
                    count += leaf.count;
                    looked.note(leaf, path, false);
                }
                None => open.push((path(), *child)),
            }
        }
        if count > MOST_ENTRIES {
            looked.is_too_much = true;
            break;
        }
    }
    looked.sort();
    looked
}

/// Returns true if the directory `name` is the known one and has not changed.
fn is_as_known(above: &OwnedFd, name: &std::ffi::OsStr, known: Known) -> bool {
    statat(above, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| Known::of(&stat) == known)
}

impl Looked {
    /// Adds the entries of one directory to the result. Returns true if the search must continue below it.
    fn note(&mut self, entries: &Entries, directory: impl Fn() -> PathBuf, is_root: bool) -> bool {
        if entries.is_repository && !is_root {
            self.repositories.push(directory());
            return false;
        }
        self.is_repository |= entries.is_repository;
        if !entries.sensitive.is_empty() {
            let directory = directory();
            self.sensitive.extend(entries.sensitive.iter().map(|(name, kind)| (directory.join(name), *kind)));
        }
        true
    }

    /// Sorts the result by path, because the search finds paths in any order.
    fn sort(&mut self) {
        let by_path = |one: &Path, other: &Path| one.as_os_str().cmp(other.as_os_str());
        self.sensitive.sort_by(|(one, _), (other, _)| by_path(one, other));
        self.repositories.sort_by(|one, other| by_path(one, other));
        self.closed.sort_by(|(one, _), (other, _)| by_path(one, other));
    }
}

#[cfg(test)]
mod tests;
