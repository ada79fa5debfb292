//! The mounts that make a profile: a pure list, parents before what is below them.

use std::collections::BTreeMap;

use super::Profile;
use crate::model::SanitizedPath;

/// How something appears to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mount {
    /// Mounted over itself, so that it cannot be renamed away from above what is protected. As writable as before.
    Pinned,
    /// May be written.
    Write,
    /// May be read only.
    ReadOnly,
    /// Not even read.
    Hidden,
    /// Not there, and kept so by something empty in its place.
    Absent,
}

/// Every mount of a profile. Later ones lie on earlier ones, and a path sorts after every path above it.
pub(super) fn mounts(
    profile: &Profile,
    read_only: &[SanitizedPath],
    absent: &[SanitizedPath],
) -> BTreeMap<SanitizedPath, Mount> {
    let mut all: BTreeMap<SanitizedPath, Mount> =
        profile.write.keys().map(|path| (path.clone(), Mount::Write)).collect();
    all.extend(read_only.iter().map(|path| (path.clone(), Mount::ReadOnly)));
    all.extend(profile.hidden.iter().map(|path| (path.clone(), Mount::Hidden)));
    all.extend(absent.iter().map(|path| (path.clone(), Mount::Absent)));
    for path in read_only.iter().chain(&profile.hidden).chain(absent) {
        for above in between(profile, path) {
            all.entry(above).or_insert(Mount::Pinned);
        }
    }
    all
}

/// The directories between a path and the write root it lies in.
fn between(profile: &Profile, path: &SanitizedPath) -> Vec<SanitizedPath> {
    let above = |path: &SanitizedPath| path.as_path().parent().and_then(|above| above.to_str()?.parse().ok());
    let Some(root) = above(path).and_then(|above: SanitizedPath| profile.root_of(&above).cloned()) else {
        return Vec::new();
    };
    std::iter::successors(above(path), above).take_while(|directory| *directory != root).collect()
}
