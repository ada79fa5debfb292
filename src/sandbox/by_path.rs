//! A map of absolute paths in the order of their parts.
//!
//! A path sorts after every path above it, and before every path that is not below it and sorts later. The standard
//! library compares paths part by part. This map compares bytes, in which the separator is the lowest one: with
//! thousands of guarded paths, that is a tenth of the time.

use std::{
    collections::BTreeMap,
    ops::Bound,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// The separator in a key. No path has this byte.
const SEPARATOR: u8 = 0;

/// A map from paths to values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByPath<T>(BTreeMap<Vec<u8>, (PathBuf, T)>);

impl<T> Default for ByPath<T> {
    fn default() -> ByPath<T> {
        ByPath(BTreeMap::new())
    }
}

/// Returns the key of a path. The root has the empty one.
fn key(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    let is_odd = bytes.ends_with(b"/")
        || bytes.ends_with(b"/.")
        || bytes.windows(3).any(|three| three == b"/./" || three.starts_with(b"//"));
    let plain: PathBuf;
    let bytes = if is_odd {
        plain = path.components().collect();
        plain.as_os_str().as_bytes()
    } else {
        bytes
    };
    if bytes == b"/" {
        return Vec::new();
    }
    bytes.iter().map(|byte| if *byte == b'/' { SEPARATOR } else { *byte }).collect()
}

impl<T> ByPath<T> {
    pub(super) fn get(&self, path: &Path) -> Option<&T> {
        self.0.get(&key(path)).map(|(_, value)| value)
    }

    /// Returns the value at a path, after `value` was put there if there was none.
    pub(super) fn or_insert(&mut self, path: PathBuf, value: T) -> &mut T {
        &mut self.0.entry(key(&path)).or_insert((path, value)).1
    }

    /// Puts a value at a path, in the place of an earlier one.
    pub(super) fn insert(&mut self, path: PathBuf, value: T) {
        self.0.insert(key(&path), (path, value));
    }

    pub(super) fn retain(&mut self, stays: impl Fn(&Path, &T) -> bool) {
        self.0.retain(|_, (path, value)| stays(path, value));
    }

    /// Returns the paths below a path, the path itself excluded.
    pub(super) fn below(&self, path: &Path) -> impl Iterator<Item = (&Path, &T)> + use<'_, T> {
        let mut above = key(path);
        let after = self.0.range::<[u8], _>((Bound::Excluded(above.as_slice()), Bound::Unbounded));
        above.push(SEPARATOR);
        after.take_while(move |(key, _)| key.starts_with(&above)).map(|(_, (path, value))| (path.as_path(), value))
    }

    /// Returns the path itself and those above it, the nearest first.
    pub(super) fn at_or_above(&self, path: &Path) -> impl Iterator<Item = (&Path, &T)> + use<'_, T> {
        let mut next = Some(key(path));
        let keys = std::iter::from_fn(move || {
            let this = next.take()?;
            let end = this.iter().rposition(|byte| *byte == SEPARATOR);
            next = end.map(|end| this.get(..end).unwrap_or_default().to_vec());
            Some(this)
        });
        keys.filter_map(|key| self.0.get(&key)).map(|(path, value)| (path.as_path(), value))
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Path, &T)> {
        self.0.values().map(|(path, value)| (path.as_path(), value))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> FromIterator<(PathBuf, T)> for ByPath<T> {
    fn from_iter<I: IntoIterator<Item = (PathBuf, T)>>(all: I) -> ByPath<T> {
        ByPath(all.into_iter().map(|(path, value)| (key(&path), (path, value))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 12] =
        ["/", "/a", "/a/b", "/a/b/c", "/a!", "/a.b", "/a b/c", "/a/.git", "/a/\u{1}", "/ab", "/b/a/.git/hooks", "/é"];

    fn all() -> ByPath<usize> {
        PATHS.iter().enumerate().map(|(at, path)| (PathBuf::from(path), at)).collect()
    }

    #[test]
    fn the_order_is_that_of_the_parts() {
        let mut expected: Vec<_> = PATHS.iter().map(Path::new).collect();
        expected.sort();
        assert_eq!(all().iter().map(|(path, _)| path).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_below_and_above_is_what_the_parts_say() {
        let all = all();
        for path in PATHS.map(Path::new) {
            let inside = |other: &Path| other.starts_with(path) && other != path;
            let expected: Vec<_> = all.iter().map(|(path, _)| path).filter(|other| inside(other)).collect();
            assert_eq!(all.below(path).map(|(path, _)| path).collect::<Vec<_>>(), expected, "{}", path.display());
            let above: Vec<_> = path.ancestors().filter(|above| PATHS.iter().any(|p| Path::new(p) == *above)).collect();
            assert_eq!(all.at_or_above(path).map(|(path, _)| path).collect::<Vec<_>>(), above, "{}", path.display());
        }
    }

    #[test]
    fn a_path_that_is_written_in_another_way_is_the_same() {
        let mut all = all();
        for (odd, at) in [("//", 0), ("/a/", 1), ("/./a", 1), ("/a/.", 1), ("//a///b", 2), ("/a/./b/c", 3)] {
            assert_eq!(all.get(Path::new(odd)), Some(&at), "{odd}");
            assert_eq!(*all.or_insert(odd.into(), 99), at, "{odd}");
        }
        assert_eq!(all.len(), PATHS.len());
        assert_eq!(all.get(Path::new("/a/..")), None);
    }
}
