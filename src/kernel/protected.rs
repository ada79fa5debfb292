//! The protected paths of one engine: its floor and the paths that its settings add. The layout is optimized for
//! lookups.

use std::cmp::Ordering;

use crate::model::{Access, ByName, Floor, SanitizedPath, by_name};

/// The protection level of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// The path is not protected.
    Open,
    /// Only a line of the policy file that names the path exactly reaches it.
    Protected,
    /// The path is out of reach for every permission.
    Closed,
}

/// All protected paths. No path in the list is below another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Protected {
    paths: Vec<SanitizedPath>,
    closed: Vec<SanitizedPath>,
    /// The paths that are protected on this machine, whatever the settings are, and that do not belong to the engine.
    floor: Vec<SanitizedPath>,
}

impl Protected {
    pub(crate) fn of<'p>(floor: &'p Floor, added: impl IntoIterator<Item = &'p SanitizedPath>) -> Protected {
        let paths = outermost(floor.protected().iter().chain(added));
        Protected { paths, closed: outermost(floor.proc().iter()), floor: outermost(floor.of_machine()) }
    }

    /// Returns the protected paths and the closed paths. A line of the policy file reaches a protected path if it names
    /// the path exactly. No permission reaches a closed path.
    pub(crate) fn paths(&self) -> (&[SanitizedPath], &[SanitizedPath]) {
        (&self.paths, &self.closed)
    }

    /// Returns true if only the settings protect a path, as they protect the policy file, or if it belongs to the
    /// engine.
    pub(crate) fn is_by_settings(&self, access: Access, path: &SanitizedPath) -> bool {
        self.standing(access, path) == Standing::Protected
            && by_name(access, path.as_str()) == ByName::Open
            && !covers(&self.floor, path)
    }

    /// Returns the protection level of a path without symbolic links.
    pub(crate) fn standing(&self, access: Access, path: &SanitizedPath) -> Standing {
        if covers(&self.closed, path) {
            return Standing::Closed;
        }
        match by_name(access, path.as_str()) {
            ByName::Proc => Standing::Closed,
            ByName::Device => Standing::Protected,
            ByName::Open if covers(&self.paths, path) => Standing::Protected,
            ByName::Open => Standing::Open,
        }
    }
}

/// Sorts paths by components and removes those below another one.
fn outermost<'p>(paths: impl Iterator<Item = &'p SanitizedPath>) -> Vec<SanitizedPath> {
    let mut all: Vec<_> = paths.cloned().collect();
    all.sort_by(by_components);
    all.dedup_by(|later, kept| kept.contains(later));
    all
}

/// Returns true if one of `sorted` contains `path`. Only its direct predecessor can contain it.
fn covers(sorted: &[SanitizedPath], path: &SanitizedPath) -> bool {
    let after = sorted.partition_point(|one| by_components(one, path) != Ordering::Greater);
    let last = after.checked_sub(1).and_then(|last| sorted.get(last));
    last.is_some_and(|last| last.contains(path))
}

/// Compares paths so that everything below a path follows directly after it.
fn by_components(one: &SanitizedPath, other: &SanitizedPath) -> Ordering {
    let slash_first = |byte: u8| if byte == b'/' { 0 } else { byte };
    let (one, other) = (bytes_of(one), bytes_of(other));
    match one.iter().zip(other).find(|(one, other)| one != other) {
        Some((one, other)) => slash_first(*one).cmp(&slash_first(*other)),
        None => one.len().cmp(&other.len()),
    }
}

/// Returns the text of a path. The root is empty, so that it is the beginning of every path.
fn bytes_of(path: &SanitizedPath) -> &[u8] {
    if path.as_str() == "/" { &[] } else { path.as_str().as_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(texts: &[&str]) -> Vec<SanitizedPath> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_path_is_covered_by_what_it_lies_below_whatever_sorts_between() {
        let all = paths(&["/a", "/a-b/c", "/a.b", "/a/b", "/b/c/d", "/b/c-d"]);
        let sorted = outermost(all.iter());
        assert_eq!(sorted, paths(&["/a", "/a-b/c", "/a.b", "/b/c/d", "/b/c-d"]));
        for path in ["/a", "/a/x", "/a/b/c", "/a-b/c/d", "/a.b/x", "/b/c/d/e", "/b/c-d", "/", "/a-b", "/b/c", "/c"] {
            let path: SanitizedPath = path.parse().unwrap();
            assert_eq!(covers(&sorted, &path), all.iter().any(|one| one.contains(&path)), "{path}");
        }
        assert!(covers(&outermost(paths(&["/", "/a"]).iter()), &"/b".parse().unwrap()));
    }

    #[test]
    fn nothing_opens_what_is_closed_by_its_name() {
        let protected = Protected::of(&Floor::default(), []);
        let standing = |access, path: &str| protected.standing(access, &path.parse().unwrap());
        assert_eq!(standing(Access::Read, "/proc/1/mem"), Standing::Closed);
        assert_eq!(standing(Access::Read, "/proc/meminfo"), Standing::Open);
        assert_eq!(standing(Access::Read, "/dev/sda"), Standing::Protected);
        assert_eq!(standing(Access::Read, "/etc/shadow"), Standing::Protected);
        assert_eq!(standing(Access::Write, "/etc/hosts"), Standing::Open);
        let with = Protected::of(&Floor::default(), &paths(&["/proc/meminfo"]));
        assert_eq!(with.standing(Access::Read, &"/proc/meminfo".parse().unwrap()), Standing::Protected);
    }
}
