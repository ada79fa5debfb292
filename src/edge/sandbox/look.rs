//! What lies below a write root and is obeyed by programs, or is a secret: every sensitive name that is there.
//!
//! What cannot be looked into is told, never passed over: only what is not there is nothing.

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

/// How many entries below one root are looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// What lies below one write root.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Each sensitive name, and what it is.
    pub(super) sensitive: Vec<(PathBuf, FileType)>,
    /// Directories that git takes for repositories although they have another name, below the root.
    pub(super) repositories: Vec<PathBuf>,
    /// True if the root itself is such a directory.
    pub(super) is_repository: bool,
    /// Directories that could not be looked into.
    pub(super) closed: Vec<(PathBuf, Errno)>,
    /// True if there is more than is looked at.
    pub(super) is_too_much: bool,
}

/// Looks below `root`, links not followed. What lies in something sensitive is not looked at.
pub(super) fn look(root: &SanitizedPath, profile: &Profile) -> Looked {
    look_with(root, profile, &mut Tree::default())
}

/// The same, where a directory is not read again that has not changed since another command of this user looked.
pub(super) fn look_again(root: &SanitizedPath, profile: &Profile) -> Looked {
    let mut seen = kept::load(root, profile);
    let looked = look_with(root, profile, &mut seen);
    if seen.has_news {
        // What is not kept is read again.
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
            // It was removed, or is something else by now, whose name says nothing.
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

/// True if the directory `name` is the one that is known, in the same state.
fn is_as_known(above: &OwnedFd, name: &std::ffi::OsStr, known: Known) -> bool {
    statat(above, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| Known::of(&stat) == known)
}

impl Looked {
    /// Takes down what one directory holds; says whether what lies below is to be looked at.
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

    /// In whatever order it was found.
    fn sort(&mut self) {
        let by_path = |one: &Path, other: &Path| one.as_os_str().cmp(other.as_os_str());
        self.sensitive.sort_by(|(one, _), (other, _)| by_path(one, other));
        self.repositories.sort_by(|one, other| by_path(one, other));
        self.closed.sort_by(|(one, _), (other, _)| by_path(one, other));
    }
}

#[cfg(test)]
mod tests;
