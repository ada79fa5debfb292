//! The reduction of the number of mounts, if paths below a write root need more than a sandbox can have.
//!
//! A directory that holds many of these paths becomes stricter as a whole. First, only its own files do, and its
//! directories stay as they are. If that is not enough, everything in a directory becomes stricter. Names that one
//! command leaves behind therefore cost other commands at most the directories that contain such names.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{
    Profile,
    mounts::{Mount, Mounts, said},
};

/// The most mounts of a sandbox. A kernel may not have room for more.
pub(super) const MOST_MOUNTS: usize = 10_000;

/// The fewest mounts for which a directory becomes stricter without its directories.
const FEWEST: usize = 1_000;

/// The most directories that stay as they are inside a stricter one.
const MOST_OPEN: usize = 500;

/// Reduces the mounts to a number that a sandbox can have. Returns a sentence for each directory that became stricter.
pub(super) fn fold(mounts: &mut Mounts, profile: &Profile) -> Vec<String> {
    let mut told = Vec::new();
    while mounts.len() > MOST_MOUNTS {
        let excess = mounts.len() - MOST_MOUNTS;
        let Some(fullest) = fullest(mounts, profile, excess) else { return told };
        let before = mounts.len();
        told.push(fullest.close(mounts, profile));
        if mounts.len() >= before {
            return told;
        }
    }
    told
}

/// A directory that becomes stricter.
struct Fullest {
    directory: PathBuf,
    is_hidden: bool,
    /// True if its directories stay as they are.
    keeps_directories: bool,
}

/// Returns the directory that saves most mounts, or `None` if no directory saves any.
fn fullest(mounts: &Mounts, profile: &Profile, excess: usize) -> Option<Fullest> {
    let mut inside = BTreeMap::<(PathBuf, bool), usize>::new();
    let (mut below, mut of_roots) = (inside.clone(), inside.clone());
    for (path, mount) in mounts.iter().filter(|(_, mount)| mount.is_foldable() || mount.is_hidden()) {
        // A directory that the command only reads has no root. The directory above the path then counts.
        let root = root_of(profile, path).or(path.parent().filter(|_| mount.is_hidden()));
        let (Some(root), Some(parent)) = (root, path.parent().filter(|_| root != Some(path))) else { continue };
        let is_leaf = mounts.below(path).next().is_none();
        if is_leaf && parent.starts_with(root) {
            *inside.entry((parent.to_owned(), mount.is_hidden())).or_default() += 1;
        }
        let first = path.strip_prefix(root).ok().and_then(|below| below.components().next());
        let first = first.map_or_else(|| root.to_owned(), |name| root.join(name));
        *of_roots.entry((root.to_owned(), mount.is_hidden())).or_default() += 1;
        *below.entry((first, mount.is_hidden())).or_default() += 1;
    }
    let most = |counts: BTreeMap<(PathBuf, bool), usize>, fewest: usize| {
        let enough = counts.into_iter().filter(|(_, count)| *count >= fewest);
        enough.max_by_key(|(_, count)| *count).map(|(at, _)| at)
    };
    let whole = |(directory, is_hidden)| Fullest { directory, is_hidden, keeps_directories: false };
    let first = most(inside, FEWEST.min(excess + MOST_OPEN));
    let first = first.map(|(directory, is_hidden)| Fullest { directory, is_hidden, keeps_directories: true });
    first.or_else(|| most(below, 2).map(whole)).or_else(|| most(of_roots, 1).map(whole))
}

/// Returns the innermost write root that contains a path.
fn root_of<'p>(profile: &'p Profile, path: &Path) -> Option<&'p Path> {
    let roots = profile.write.keys().map(|root| root.as_path()).filter(|root| path.starts_with(root));
    roots.max_by_key(|root| root.as_os_str().len())
}

impl Fullest {
    /// Replaces the mounts in the directory by one over it. Returns a sentence about it.
    fn close(&self, mounts: &mut Mounts, profile: &Profile) -> String {
        let Fullest { directory, is_hidden, .. } = self;
        let is_replaced = |mount: Mount| mount.is_foldable() || (*is_hidden && mount.is_hidden());
        // Other write roots inside stay as they are, with all of their mounts.
        let is_in = |path: &Path| {
            path.starts_with(directory)
                && root_of(profile, path).is_none_or(|root| root == directory || directory.starts_with(root))
        };
        let open = if self.keeps_directories { directories(mounts, directory) } else { None };
        match &open {
            Some(open) => {
                let stays = |path: &Path| open.iter().any(|open| path.starts_with(open));
                let is_leaf = |path: &Path| path.parent() == Some(directory) && !stays(path);
                mounts.remove(|path, mount| is_leaf(path) && is_replaced(mount) && is_in(path));
                for path in open {
                    let mount = mounts.at(path).filter(|mount| *mount != Mount::Pinned);
                    mounts.set(path.clone(), mount.unwrap_or(Mount::Open));
                }
            }
            None => mounts.remove(|path, mount| path != directory && is_in(path) && is_replaced(mount)),
        }
        let mount = if *is_hidden { Mount::HiddenDirectory } else { Mount::ReadOnly };
        mounts.insert(directory.clone(), mount);
        let what = if open.is_some() { "no file directly in" } else { "nothing in" };
        let how = if *is_hidden { "can be read" } else { "can be written" };
        format!(
            "{what} `{}` {how}: it contains more guarded names than the sandbox can guard one by one; remove them, or \
             move them to another directory",
            said(directory)
        )
    }
}

/// Returns the directories in a directory that stay as they are, or `None` if there are too many. A directory with a
/// mount that hides it, or that makes it read-only, keeps that mount.
fn directories(mounts: &Mounts, directory: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).ok()? {
        let entry = entry.ok()?;
        if !entry.file_type().ok()?.is_dir() {
            continue;
        }
        let path = entry.path();
        if mounts.at(&path).is_none_or(|mount| !mount.is_hidden() && mount != Mount::Place) {
            found.push(path);
        }
        if found.len() > MOST_OPEN {
            return None;
        }
    }
    Some(found)
}
