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
use seen::{Below, Entries, Open, ROOT, Tree};

/// The most entries that are read below one directory of a root. A directory with more is not searched to its end, so
/// that it does not keep the search from the others.
const MOST_BELOW_ONE: usize = 1_000_000;

/// The most entries that are read below one root.
const MOST_ENTRIES: usize = 4_000_000;

/// The most directories between a root and a name.
const DEEPEST: usize = 100;

/// The most directories that are examined at once.
const AT_ONCE: usize = 1_024;

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
    let mut search = Search { names, seen, parts: Vec::new(), count: 0 };
    search.all(root.as_path());
    let mut looked = Looked::default();
    for part in search.parts {
        if part.is_too_much {
            looked.closed.push((part.path, Unsearched::TooMuch));
        } else {
            looked.add(part.looked);
        }
    }
    looked.sort();
    looked
}

/// A part of a root: a directory directly below the root, with everything in it. The first part is the root alone.
struct Part {
    path: PathBuf,
    looked: Looked,
    /// The entries that were read.
    count: usize,
    is_begun: bool,
    is_too_much: bool,
}

impl Part {
    fn of(path: &Path) -> Part {
        Part { path: path.to_owned(), looked: Looked::default(), count: 0, is_begun: false, is_too_much: false }
    }
}

/// A search below one root.
struct Search<'s> {
    names: &'s Names<'s>,
    seen: &'s mut Tree,
    parts: Vec<Part>,
    /// The entries that were read below the root.
    count: usize,
}

impl Search<'_> {
    /// Searches a root to its end. Many directories are examined at once, on several threads.
    fn all(&mut self, root: &Path) {
        self.parts.push(Part::of(root));
        let mut open = vec![Open { path: root.to_owned(), at: ROOT, depth: 0, is_kept: false, part: 0 }];
        while !open.is_empty() {
            let mut next = open.split_off(open.len().saturating_sub(AT_ONCE));
            next.retain(|this| !self.is_too_much(this));
            let examined = self.seen.examine(&next, self.names);
            for (this, examined) in next.into_iter().zip(examined) {
                let found = examined.map(|node| self.seen.take(this.at, node));
                if !self.is_too_much(&this) {
                    self.directory(this, found, &mut open);
                }
            }
        }
    }

    /// Returns true if the part of a directory contains too much to be searched further. A part that was begun may
    /// still be searched to its end if others contain too much.
    fn is_too_much(&mut self, this: &Open) -> bool {
        let Some(part) = self.parts.get_mut(this.part).filter(|_| this.at != ROOT) else { return false };
        let most = if part.is_begun { MOST_ENTRIES + MOST_BELOW_ONE } else { MOST_ENTRIES };
        part.is_begun = true;
        part.is_too_much |= self.count >= most;
        part.is_too_much
    }

    /// Notes one directory after it was examined, and adds the directories in it to `open`.
    fn directory(&mut self, this: Open, found: Result<(), Errno>, open: &mut Vec<Open>) {
        let Open { path, at, depth, is_kept, part } = this;
        let Some(Part { looked, count, is_too_much, .. }) = self.parts.get_mut(part) else { return };
        match found {
            Ok(()) => {}
            // The directory was removed or replaced meanwhile, so its name has no meaning any more.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if at != ROOT => return,
            Err(why) => {
                looked.closed.push((path, Unsearched::Unreadable(why)));
                return;
            }
        }
        let entries = self.seen.entries(at);
        if at != ROOT {
            *count += entries.count;
            self.count += entries.count;
            *is_too_much = *count > MOST_BELOW_ONE;
        }
        let is_repository = entries.is_repository && self.names.is_guarded() && !is_kept;
        let is_kept = is_kept || (is_repository && at != ROOT);
        looked.note(entries, &path, is_kept);
        if is_repository && at == ROOT {
            looked.is_repository = true;
        } else if is_repository {
            looked.repositories.push(path.clone());
        }
        if is_kept && !self.names.hides() {
            return;
        }
        for Below { name, at: below, is_kept: is_kept_itself } in &entries.directories {
            let path = path.join(name);
            if OWN_DIRECTORIES.iter().any(|own| path.as_os_str() == *own) {
                continue;
            }
            let part = if at == ROOT { self.parts.len() } else { part };
            if at == ROOT {
                self.parts.push(Part::of(&path));
            }
            if depth < DEEPEST {
                open.push(Open { path, at: *below, depth: depth + 1, is_kept: is_kept || *is_kept_itself, part });
            } else if let Some(part) = self.parts.get_mut(part) {
                part.looked.closed.push((path, Unsearched::TooDeep));
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
