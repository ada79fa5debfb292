//! The search for sensitive names below a write root: files that programs obey, and secrets.
//!
//! The search reports every directory that it cannot read. Only a missing directory counts as empty.

mod kept;
mod names;
mod seen;

use std::path::{Path, PathBuf};

use rustix::{fs::FileType, io::Errno};

use crate::model::SanitizedPath;
pub(super) use kept::directories_in;
pub(super) use names::Names;
use names::Why;
use seen::{Below, Entries, ROOT, Tree};

/// The most entries that are read below one directory of a root. A directory with more is not searched to its end, so
/// that it does not keep the search from the others.
const MOST_BELOW_ONE: usize = 1_000_000;

/// The most entries that are read below one root.
const MOST_ENTRIES: usize = 4_000_000;

/// The most directories between a root and a name.
const DEEPEST: usize = 100;

/// The directories that every sandbox with mounts has for itself.
const OWN_DIRECTORIES: [&str; 2] = ["/dev", "/proc"];

/// The result of the search below one root.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The sensitive names, each with its kind.
    pub(super) sensitive: Vec<(PathBuf, FileType)>,
    /// The matches of globs that are denied for reading.
    pub(super) hidden: Vec<(PathBuf, FileType)>,
    /// The matches of globs that are denied for writing.
    pub(super) unwritten: Vec<(PathBuf, FileType)>,
    /// Directories below the root that git recognizes as repositories although they have another name than `.git`.
    pub(super) repositories: Vec<PathBuf>,
    /// True if the root itself is such a directory.
    pub(super) is_repository: bool,
    /// Directories that were not searched to their end.
    pub(super) closed: Vec<(PathBuf, Unsearched)>,
}

/// The reason for which a directory was not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsearched {
    /// It cannot be read.
    Unreadable(Errno),
    /// It lies too deep.
    TooDeep,
    /// It contains too many entries.
    TooMuch,
}

/// Searches below `root` without following links.
pub(super) fn look(root: &SanitizedPath, names: &Names<'_>) -> Looked {
    look_with(root, names, &mut Tree::default())
}

/// Searches like [`look`]. A directory that has not changed since an earlier search of this user is not read again.
pub(super) fn look_again(root: &SanitizedPath, names: &Names<'_>) -> Looked {
    let mut seen = kept::load(root, names);
    let looked = look_with(root, names, &mut seen);
    if seen.has_news {
        // On an error, the next search reads the directories again.
        let _ = kept::store(&seen, root, names);
    }
    looked
}

fn look_with(root: &SanitizedPath, names: &Names<'_>, seen: &mut Tree) -> Looked {
    seen.check(root.as_path());
    let mut search = Search { names, seen, looked: Looked::default(), count: 0 };
    let mut first = Vec::new();
    search.directory(Open { path: root.as_path().to_owned(), at: ROOT, depth: 0, is_kept: false }, &mut first);
    let mut looked = std::mem::take(&mut search.looked);
    let mut all = 0;
    for open in first {
        let path = open.path.clone();
        search.count = 0;
        let is_whole = all < MOST_ENTRIES && search.tree(open);
        all += search.count;
        let below = std::mem::take(&mut search.looked);
        if is_whole {
            looked.add(below);
        } else {
            looked.closed.push((path, Unsearched::TooMuch));
        }
    }
    looked.sort();
    looked
}

/// A directory that is to be searched.
struct Open {
    path: PathBuf,
    at: usize,
    depth: usize,
    /// True if the directory cannot be written, so that only hidden names matter in it.
    is_kept: bool,
}

/// A search below one root.
struct Search<'s> {
    names: &'s Names<'s>,
    seen: &'s mut Tree,
    looked: Looked,
    /// The entries that were read.
    count: usize,
}

impl Search<'_> {
    /// Searches a directory to its end. Returns false if it contains too much.
    fn tree(&mut self, first: Open) -> bool {
        let mut open = vec![first];
        while let Some(next) = open.pop() {
            self.directory(next, &mut open);
            if self.count > MOST_BELOW_ONE {
                return false;
            }
        }
        true
    }

    /// Searches one directory, and adds the directories in it to `open`.
    fn directory(&mut self, this: Open, open: &mut Vec<Open>) {
        let Open { path, at, depth, is_kept } = this;
        if depth > DEEPEST {
            self.looked.closed.push((path, Unsearched::TooDeep));
            return;
        }
        match self.seen.visit(at, &path, self.names) {
            Ok(()) => {}
            // The directory was removed or replaced meanwhile, so its name has no meaning any more.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if at != ROOT => return,
            Err(why) => {
                self.looked.closed.push((path, Unsearched::Unreadable(why)));
                return;
            }
        }
        let entries = self.seen.entries(at);
        self.count += entries.count;
        let is_repository = entries.is_repository && self.names.is_guarded() && !is_kept;
        let is_kept = is_kept || (is_repository && at != ROOT);
        self.looked.note(entries, &path, is_kept);
        if is_repository && at == ROOT {
            self.looked.is_repository = true;
        } else if is_repository {
            self.looked.repositories.push(path.clone());
        }
        if is_kept && !self.names.hides() {
            return;
        }
        for Below { name, at, is_kept: is_kept_itself } in &entries.directories {
            let path = path.join(name);
            if !OWN_DIRECTORIES.iter().any(|own| path.as_os_str() == *own) {
                open.push(Open { path, at: *at, depth: depth + 1, is_kept: is_kept || *is_kept_itself });
            }
        }
    }
}

impl Looked {
    /// Adds the names of one directory. In a directory that cannot be written, only hidden names count.
    fn note(&mut self, entries: &Entries, directory: &Path, is_kept: bool) {
        for found in &entries.found {
            let at = || (directory.join(&found.name), found.kind);
            if found.why.has(Why::HIDDEN) {
                self.hidden.push(at());
            }
            if found.why.has(Why::UNWRITTEN) && !is_kept {
                self.unwritten.push(at());
            }
            if found.why.has(Why::SENSITIVE) && !is_kept {
                self.sensitive.push(at());
            }
        }
    }

    fn add(&mut self, more: Looked) {
        let Looked { sensitive, hidden, unwritten, repositories, is_repository, closed } = more;
        self.sensitive.extend(sensitive);
        self.hidden.extend(hidden);
        self.unwritten.extend(unwritten);
        self.repositories.extend(repositories);
        self.is_repository |= is_repository;
        self.closed.extend(closed);
    }

    /// Sorts the result by path, because the search finds paths in any order.
    fn sort(&mut self) {
        let by_path = |one: &Path, other: &Path| one.as_os_str().cmp(other.as_os_str());
        for found in [&mut self.sensitive, &mut self.hidden, &mut self.unwritten] {
            found.sort_by(|(one, _), (other, _)| by_path(one, other));
        }
        self.repositories.sort_by(|one, other| by_path(one, other));
        self.closed.sort_by(|(one, _), (other, _)| by_path(one, other));
    }
}

#[cfg(test)]
mod tests;
