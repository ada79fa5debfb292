//! The mounts that make a profile: a pure list, parents before what is below them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::Profile;
use crate::model::SanitizedPath;

/// How something appears to a command. Where several are wanted, the strictest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mount {
    /// Mounted over itself, so that it cannot be renamed away from above what is protected. As writable as before.
    Pinned,
    /// May be written.
    Write,
    /// May be read only.
    ReadOnly,
    /// A link that stays as it is.
    Link,
    /// Not there, and kept so by a node of ours in its place.
    Place,
    /// Not there, and kept so by something empty that is mounted in its place.
    Absent,
    /// A file that is not even read.
    HiddenFile,
    /// A directory that is not even read.
    HiddenDirectory,
}

impl Mount {
    /// True if nothing can be written there.
    pub(super) fn is_unwritten(self) -> bool {
        self >= Mount::ReadOnly
    }

    /// True if one mount over a directory above does as well.
    pub(super) fn is_foldable(self) -> bool {
        matches!(self, Mount::Pinned | Mount::ReadOnly | Mount::Link | Mount::Place)
    }

    /// True if nothing can be read there.
    pub(super) fn is_unread(self) -> bool {
        self >= Mount::Place
    }
}

/// The mounts of a profile by their places. A path sorts after every path above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mounts(BTreeMap<PathBuf, Mount>);

impl Mounts {
    /// The write roots, and nothing else.
    pub(super) fn of(profile: &Profile) -> Mounts {
        Mounts(profile.write.keys().map(|path| (path.as_path().to_owned(), Mount::Write)).collect())
    }

    /// One more. What is there already and stricter stays.
    pub(super) fn insert(&mut self, path: PathBuf, mount: Mount) {
        let there = self.0.entry(path).or_insert(mount);
        *there = mount.max(*there);
    }

    /// Pins the directories between each of them and the write root it lies in. What is hidden hides all in it.
    pub(super) fn pin(&mut self, profile: &Profile) {
        let hidden = self.0.iter().filter(|(_, mount)| **mount == Mount::HiddenDirectory);
        let hidden: Vec<_> = hidden.map(|(path, _)| path.clone()).collect();
        let is_inside = |path: &Path| {
            path.ancestors().skip(1).any(|above| hidden.binary_search_by(|h| h.as_path().cmp(above)).is_ok())
        };
        self.0.retain(|path, mount| *mount == Mount::Write || !is_inside(path));
        let kept = self.0.iter().filter(|(_, mount)| mount.is_unwritten());
        let between: Vec<_> = kept.flat_map(|(path, _)| between(profile, path)).collect();
        for path in between {
            self.0.entry(path).or_insert(Mount::Pinned);
        }
    }

    /// Replaces everything below `directory` that is only not written by one mount over all of it.
    pub(super) fn fold(&mut self, directory: &Path) {
        self.0.retain(|path, mount| !path.starts_with(directory) || !mount.is_foldable());
        self.insert(directory.to_owned(), Mount::ReadOnly);
    }

    /// The mount that decides about `path`, and its place.
    pub(super) fn over(&self, path: &Path) -> Option<(&Path, Mount)> {
        let found =
            path.ancestors().find_map(|above| self.0.get_key_value(above).filter(|(_, m)| **m != Mount::Pinned));
        found.map(|(path, mount)| (path.as_path(), *mount))
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Path, Mount)> {
        self.0.iter().map(|(path, mount)| (path.as_path(), *mount))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The places of those that `is` says yes to, as far as they can be said.
    pub(super) fn named(&self, is: impl Fn(Mount) -> bool) -> Vec<SanitizedPath> {
        self.iter().filter(|(_, mount)| is(*mount)).map(|(path, _)| said(path)).collect()
    }
}

/// The directories between a path and the write root it lies in.
fn between(profile: &Profile, path: &Path) -> Vec<PathBuf> {
    let is_root = |path: &Path| profile.write.keys().any(|root| root.as_path() == path);
    let above = path.ancestors().skip(1);
    match above.clone().position(is_root) {
        Some(count) => above.take(count).map(Path::to_owned).collect(),
        None => Vec::new(),
    }
}

/// A path as people read it. What no text can hold is replaced.
pub(super) fn said(path: &Path) -> SanitizedPath {
    let text = path.to_string_lossy();
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
    let text: String = text.chars().map(|c| if is_odd(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    text.parse().unwrap_or_else(|_| SanitizedPath::root())
}
