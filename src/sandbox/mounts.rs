//! The mounts of a profile: a pure list, parents first.

use std::path::{Path, PathBuf};

use super::{Profile, by_path::ByPath};
use crate::model::SanitizedPath;

/// The names of the file and the directory that are mounted over hidden paths.
pub(super) const HIDDEN_FILE: &str = "hidden-file";
pub(super) const HIDDEN_DIRECTORY: &str = "hidden-directory";

/// The place where the helper prepares what hides paths: a directory that every sandbox has for itself.
pub(super) const STOCK: &str = "/dev/pts";

/// The appearance of a path to a command. If several apply to one path, the strictest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mount {
    /// A bind mount of the path over itself, so that a directory above a protected path cannot be renamed. Its write
    /// access does not change.
    Pinned,
    /// A path that the command can read and write.
    Write,
    /// A directory that stays as it is inside a directory that became stricter as a whole.
    Open,
    /// A path that the command can only read.
    ReadOnly,
    /// A link that the command cannot replace.
    Link,
    /// A missing path, kept missing by a placeholder.
    Place,
    /// A missing path, kept missing by an empty read-only mount over it.
    Absent,
    /// A file that the command cannot read.
    HiddenFile,
    /// A directory that the command cannot read.
    HiddenDirectory,
}

impl Mount {
    /// Returns true if the command cannot write the path.
    pub(super) fn is_unwritten(self) -> bool {
        self >= Mount::ReadOnly
    }

    /// Returns true if one read-only mount over a directory above can replace this mount.
    pub(super) fn is_foldable(self) -> bool {
        matches!(self, Mount::Pinned | Mount::ReadOnly | Mount::Link | Mount::Place)
    }

    /// Returns true if this mount hides the path.
    pub(super) fn is_hidden(self) -> bool {
        self >= Mount::HiddenFile
    }

    /// Returns true if the command cannot read a content at the path.
    pub(super) fn is_unread(self) -> bool {
        self >= Mount::Place
    }
}

/// The mounts of a profile by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mounts(ByPath<Mount>);

impl Mounts {
    /// Creates the mounts of the write roots, without any other.
    pub(super) fn of(profile: &Profile) -> Mounts {
        Mounts(profile.write.keys().map(|path| (path.as_path().to_owned(), Mount::Write)).collect())
    }

    /// Adds a mount. A stricter mount that is already at this path stays.
    pub(super) fn insert(&mut self, path: PathBuf, mount: Mount) {
        let there = self.0.or_insert(path, mount);
        *there = mount.max(*there);
    }

    /// Pins the directories between each protected path and its write root. Mounts inside a hidden directory are
    /// removed first, because that directory hides them.
    pub(super) fn pin(&mut self, profile: &Profile) {
        let hidden = self.iter().filter(|(_, mount)| *mount == Mount::HiddenDirectory);
        let hidden: ByPath<()> = hidden.map(|(path, _)| (path.to_owned(), ())).collect();
        let is_inside = |path: &Path| hidden.at_or_above(path).any(|(above, ())| above != path);
        if hidden.len() > 0 {
            self.0.retain(|path, mount| *mount == Mount::Write || !is_inside(path));
        }
        let kept = self.iter().filter(|(_, mount)| mount.is_unwritten());
        let between: Vec<_> = kept.flat_map(|(path, _)| between(profile, path)).collect();
        for path in between {
            self.0.or_insert(path, Mount::Pinned);
        }
    }

    /// Removes the mounts for which `is` returns true.
    pub(super) fn remove(&mut self, is: impl Fn(&Path, Mount) -> bool) {
        self.0.retain(|path, mount| !is(path, *mount));
    }

    /// Replaces the mount at a path.
    pub(super) fn set(&mut self, path: PathBuf, mount: Mount) {
        self.0.insert(path, mount);
    }

    pub(super) fn at(&self, path: &Path) -> Option<Mount> {
        self.0.get(path).copied()
    }

    /// Returns the mounts below a path, the path itself excluded.
    pub(super) fn below(&self, path: &Path) -> impl Iterator<Item = (&Path, Mount)> + use<'_> {
        self.0.below(path).map(|(path, mount)| (path, *mount))
    }

    /// Returns the mount that applies to `path`, with the path of that mount.
    pub(super) fn over(&self, path: &Path) -> Option<(&Path, Mount)> {
        self.0.at_or_above(path).find(|(_, mount)| **mount != Mount::Pinned).map(|(path, mount)| (path, *mount))
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Path, Mount)> {
        self.0.iter().map(|(path, mount)| (path, *mount))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the paths of the mounts for which `is` returns true.
    pub(super) fn named(&self, is: impl Fn(Mount) -> bool) -> Vec<SanitizedPath> {
        self.iter().filter(|(_, mount)| is(*mount)).map(|(path, _)| said(path)).collect()
    }
}

/// Returns the directories between a path and its write root.
fn between(profile: &Profile, path: &Path) -> Vec<PathBuf> {
    let is_root = |path: &Path| profile.write.keys().any(|root| root.as_path() == path);
    let above = path.ancestors().skip(1);
    match above.clone().position(is_root) {
        Some(count) => above.take(count).map(Path::to_owned).collect(),
        None => Vec::new(),
    }
}

/// Converts a path for people. Characters that the text cannot hold are replaced.
pub(super) fn said(path: &Path) -> SanitizedPath {
    let text = path.to_string_lossy();
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
    let text: String = text.chars().map(|c| if is_odd(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    text.parse().unwrap_or_else(|_| SanitizedPath::root())
}
