//! What a path really names.

use std::fmt;

use crate::{
    fs,
    model::{Anchor, FileIdentity, Floor, PathGlob, SanitizedPath, Shown},
};

/// Where a path leads now, and which object is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a path and what stands there")]
pub struct Real {
    /// The path with all links followed.
    pub path: SanitizedPath,
    /// The object, if there is one.
    pub identity: Option<FileIdentity>,
}

/// Finds out what a path really names. The engine asks before it stores a right to a path, and before it believes one.
pub trait Paths: fmt::Debug + Send + Sync {
    /// Follows `path` to its end.
    ///
    /// # Errors
    ///
    /// When that cannot be found out; then nobody has a right there.
    fn real(&self, path: &str) -> Result<Real, PathFailure>;

    /// The same for a path that was parsed already.
    ///
    /// # Errors
    ///
    /// As [`Paths::real`].
    fn real_of(&self, path: &SanitizedPath) -> Result<Real, PathFailure> {
        self.real(path.as_str())
    }

    /// The deepest directory that is there on the way to `path`, which is not there itself and has no links on its way; none
    /// if these paths are no objects.
    ///
    /// # Errors
    ///
    /// As [`Paths::real`]; and when a link appeared on the way meanwhile.
    fn anchor(&self, path: &SanitizedPath) -> Result<Option<Anchor>, PathFailure> {
        let path = path.as_str();
        if path == "/" {
            return Ok(None);
        }
        let ends: Vec<usize> = path.match_indices('/').map(|(end, _)| end.max(1)).collect();
        let at = |place: usize| -> Result<Option<Anchor>, PathFailure> {
            let above = ends.get(place).and_then(|end| path.get(..*end)).unwrap_or("/");
            let above: SanitizedPath = above.parse().map_err(|why| PathFailure(format!("{why}")))?;
            let real = self.real_of(&above)?;
            if real.path != above {
                return Err(PathFailure(format!("`{}` keeps changing", Shown(above.as_str()))));
            }
            Ok(real.identity.map(|identity| Anchor::new(above, identity)))
        };
        // Mostly it is the directory right above. Where it is not, all below what is missing is missing, however deep.
        let (mut missing, mut step) = (ends.len(), 1);
        let (mut there, mut deepest) = loop {
            let place = missing.saturating_sub(step);
            match at(place)? {
                Some(anchor) => break (place, anchor),
                None if place == 0 => return Ok(None),
                None => (missing, step) = (place, step * 2),
            }
        };
        while there + 1 < missing {
            let middle = there.midpoint(missing);
            match at(middle)? {
                Some(anchor) => (there, deepest) = (middle, anchor),
                None => missing = middle,
            }
        }
        Ok(Some(deepest))
    }

    /// Returns the first path below `roots` that each of `globs` means, of those that `counts` says yes to; none if nobody
    /// can look there.
    ///
    /// # Errors
    ///
    /// When it cannot be found out, or there is too much to look at; then what is used with all below it is used by nobody.
    fn first_below(
        &self,
        globs: &[PathGlob],
        roots: &[SanitizedPath],
        counts: &dyn Fn(&SanitizedPath) -> bool,
    ) -> Result<Option<Vec<SanitizedPath>>, PathFailure> {
        let _ = (globs, roots, counts);
        Ok(None)
    }

    /// Returns the paths that a shell makes of `pattern` in the directory `start`; none if nobody can tell, and then it
    /// counts as everything there.
    fn matching(&self, start: &SanitizedPath, pattern: &str) -> Option<Vec<String>> {
        let _ = (start, pattern);
        None
    }

    /// Returns what the links below `root` lead to, and those below that; none if nobody can tell.
    fn linked_below(&self, root: &SanitizedPath) -> Option<Vec<SanitizedPath>> {
        let _ = root;
        None
    }

    /// Reports whether there are no links: then a `..` in a command line leads where its text says.
    ///
    /// # Authority
    ///
    /// Who says so of paths with links lets a command name one file and use another.
    fn have_no_links(&self) -> bool {
        false
    }

    /// The floor under these paths. An engine asks once, when it starts.
    ///
    /// # Authority
    ///
    /// A floor that leaves out a home leaves its keys readable.
    fn floor(&self) -> Floor {
        Floor::of_this_machine()
    }
}

/// What a path names cannot be found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFailure(pub(crate) String);

impl PathFailure {
    /// For `why`, in words.
    pub fn new(why: impl Into<String>) -> PathFailure {
        PathFailure(why.into())
    }
}

impl fmt::Display for PathFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PathFailure {}

/// Asks the disk.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "there is one disk")]
pub struct DiskPaths;

impl Paths for DiskPaths {
    fn real(&self, path: &str) -> Result<Real, PathFailure> {
        DiskPaths::found(fs::real(path))
    }

    fn real_of(&self, path: &SanitizedPath) -> Result<Real, PathFailure> {
        DiskPaths::found(fs::real_of(path))
    }

    fn first_below(
        &self,
        globs: &[PathGlob],
        roots: &[SanitizedPath],
        counts: &dyn Fn(&SanitizedPath) -> bool,
    ) -> Result<Option<Vec<SanitizedPath>>, PathFailure> {
        fs::first_found(globs, roots, counts).map(Some).map_err(|why| PathFailure(why.to_string()))
    }

    fn matching(&self, start: &SanitizedPath, pattern: &str) -> Option<Vec<String>> {
        fs::matching(start.as_str(), pattern)
    }

    fn linked_below(&self, root: &SanitizedPath) -> Option<Vec<SanitizedPath>> {
        fs::linked(root)
    }
}

impl DiskPaths {
    fn found(real: Result<fs::RealPath, fs::ResolveError>) -> Result<Real, PathFailure> {
        let real = real.map_err(|why| PathFailure(why.to_string()))?;
        // Below `/proc` the name says what is open.
        if real.is_on_proc() && !real.path().as_str().starts_with("/proc") {
            let shown = Shown(real.path().as_str());
            return Err(PathFailure(format!("`{shown}` lies on a proc file system, which no grant reaches")));
        }
        Ok(Real { path: real.path().clone(), identity: real.identity() })
    }
}

/// Takes paths as they are written: for hosts whose paths are not files of this machine, and for tests.
///
/// # Authority
///
/// Links are not followed and objects not compared: whoever can put a link on the disk can move a right.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "it has nothing to keep")]
pub struct AsWritten;

impl Paths for AsWritten {
    fn real(&self, path: &str) -> Result<Real, PathFailure> {
        let path = path.parse::<SanitizedPath>().map_err(|why| PathFailure(why.to_string()))?;
        self.real_of(&path)
    }

    fn real_of(&self, path: &SanitizedPath) -> Result<Real, PathFailure> {
        Ok(Real { path: path.clone(), identity: None })
    }

    fn have_no_links(&self) -> bool {
        true
    }

    /// None: these paths are no objects.
    fn anchor(&self, _: &SanitizedPath) -> Result<Option<Anchor>, PathFailure> {
        Ok(None)
    }

    /// The names that are protected on every machine; homes and links are of the disk.
    fn floor(&self) -> Floor {
        Floor::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Directories `/d/d/…`, so many of them, and nothing else.
    #[derive(Debug)]
    struct Deep {
        there: usize,
        looked: AtomicUsize,
    }

    impl Paths for Deep {
        fn real(&self, path: &str) -> Result<Real, PathFailure> {
            self.looked.fetch_add(1, Ordering::Relaxed);
            let path: SanitizedPath = path.parse().unwrap();
            let identity = (path.depth() <= self.there).then(|| FileIdentity::new(1, path.depth() as u64));
            Ok(Real { path, identity })
        }
    }

    #[test]
    fn the_deepest_directory_that_is_there_is_found_with_few_looks_however_deep_a_path_is() {
        for depth in [1, 2, 3, 7, 64, 1000, 2000] {
            let path: SanitizedPath = "/d".repeat(depth).parse().unwrap();
            for there in (0..depth).step_by(1 + depth / 40).chain([depth - 1]) {
                let deep = Deep { there, looked: AtomicUsize::new(0) };
                let anchor = deep.anchor(&path).unwrap().unwrap();
                assert_eq!(anchor.identity.ino, there as u64, "{depth}");
                assert_eq!(anchor.path.depth(), there);
                let looked = deep.looked.into_inner();
                assert!(looked <= 2 * depth.ilog2() as usize + 2, "{looked} looks at {depth}, {there} of it there");
                assert!(there + 1 < depth || looked == 1);
            }
        }
    }
}
