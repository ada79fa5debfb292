//! Path resolution: the canonical path and the object of a path.

use std::{fmt, path::Path};

use bestow_command::internal::steers_programs;

use crate::{
    fs::{self, Ignoring, TrackedFiles},
    model::{Anchor, Escaped, FileIdentity, Floor, PathGlob, SanitizedPath},
};

/// The current target of a path, and the object there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a path and what stands there")]
pub struct Real {
    /// The path with all links followed.
    pub path: SanitizedPath,
    /// The object, if there is one.
    pub identity: Option<FileIdentity>,
}

/// A path resolver. The engine calls it before it stores a permission for a path, and before it relies on one.
pub trait Paths: fmt::Debug + Send + Sync {
    /// Resolves `path`, and follows all links.
    ///
    /// # Errors
    ///
    /// Fails if the path cannot be resolved. No agent then has a permission there.
    fn real(&self, path: &str) -> Result<Real, PathFailure>;

    /// Resolves a path that was parsed already.
    ///
    /// # Errors
    ///
    /// Fails like [`Paths::real`].
    fn real_of(&self, path: &SanitizedPath) -> Result<Real, PathFailure> {
        self.real(path.as_str())
    }

    /// Returns the deepest existing directory above `path`. `path` must not exist, and must have no links above it.
    /// Returns none if these paths are no objects.
    ///
    /// # Errors
    ///
    /// Fails like [`Paths::real`]. Also fails if a link has appeared above the path.
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
                return Err(PathFailure(format!("`{}` keeps changing", Escaped(above.as_str()))));
            }
            Ok(real.identity.map(|identity| Anchor::new(above, identity)))
        };
        // Usually the parent directory exists. If it does not, the search goes up, because everything below a missing
        // directory is missing too.
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

    /// Returns the paths below `roots` that one of `globs` denies, and for which `counts` returns true. Returns none if
    /// the resolver cannot search there.
    ///
    /// # Errors
    ///
    /// Fails if the search is not possible or too large, or finds more than `most` paths. A person then decides about a
    /// use of these directories.
    fn denied_below(
        &self,
        globs: &[PathGlob],
        roots: &[SanitizedPath],
        most: usize,
        counts: &dyn Fn(&SanitizedPath) -> bool,
    ) -> Result<Option<Vec<SanitizedPath>>, PathFailure> {
        let _ = (globs, roots, most, counts);
        Ok(None)
    }

    /// Returns what the ignore files of searches, such as `.gitignore`, say about `path`.
    fn read_ignore_files(&self, path: &SanitizedPath, is_directory: bool) -> Ignoring {
        let _ = (path, is_directory);
        Ignoring::Unmentioned
    }

    /// Returns what the ignore files of git, and no others, say about `path`.
    fn read_git_ignore_files(&self, path: &SanitizedPath, is_directory: bool) -> Ignoring {
        let _ = (path, is_directory);
        Ignoring::Unmentioned
    }

    /// Returns the files that the index of the repository around `start` lists. Returns none if they are unknown.
    fn tracked_files(&self, start: &SanitizedPath) -> Option<TrackedFiles> {
        let _ = start;
        None
    }

    /// Returns the directories of other repositories that the index of the repository at `top` lists: its submodules.
    /// Returns none if they are unknown. A program that obeys the repository is then not trusted.
    fn nested_repositories(&self, top: &SanitizedPath) -> Option<Vec<SanitizedPath>> {
        let _ = top;
        None
    }

    /// Returns the paths to which a shell expands `pattern` in the directory `start`. Returns none if they are unknown.
    /// The pattern then counts as everything there.
    fn matching(&self, start: &SanitizedPath, pattern: &str) -> Option<Vec<String>> {
        let _ = (start, pattern);
        None
    }

    /// Returns the links below `root`, and those below their targets, each with its target. Returns none if they are
    /// unknown.
    fn linked_below(&self, root: &SanitizedPath) -> Option<Vec<(SanitizedPath, SanitizedPath)>> {
        let _ = root;
        None
    }

    /// Returns true if these paths have no links. A `..` in a command line is then resolved by its text.
    ///
    /// # Authority
    ///
    /// Returning true for paths with links lets a command name one file and use another.
    fn have_no_links(&self) -> bool {
        false
    }

    /// Returns the directories in which the shell of the host finds programs, in order. An engine calls it once, at its
    /// start.
    ///
    /// # Authority
    ///
    /// A command that only reads runs unasked only if no agent may write a directory in which its program is found. A
    /// missing directory lets an agent choose the program.
    fn program_directories(&self) -> Vec<SanitizedPath> {
        Vec::new()
    }

    /// Returns the variables of the environment whose values lead to code that programs load, and the relative
    /// directories of `PATH`. An engine calls it once, at its start.
    ///
    /// # Authority
    ///
    /// A command that only reads runs unasked only if no agent may write where such a value leads.
    fn program_variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns the floor for these paths. An engine calls it once, at its start.
    ///
    /// # Authority
    ///
    /// A floor that omits a home leaves the keys in it readable.
    fn floor(&self) -> Floor {
        Floor::of_this_machine()
    }
}

/// The error for a path that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PathFailure(pub(crate) String);

impl PathFailure {
    /// Creates a failure with the reason `why`, for people.
    pub fn new(why: impl Into<String>) -> PathFailure {
        PathFailure(why.into())
    }
}

/// The path resolver that reads the disk.
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

    fn denied_below(
        &self,
        globs: &[PathGlob],
        roots: &[SanitizedPath],
        most: usize,
        counts: &dyn Fn(&SanitizedPath) -> bool,
    ) -> Result<Option<Vec<SanitizedPath>>, PathFailure> {
        fs::denied_below(globs, roots, most, counts).map(Some).map_err(|why| PathFailure(why.to_string()))
    }

    fn read_ignore_files(&self, path: &SanitizedPath, is_directory: bool) -> Ignoring {
        fs::read_ignore_files(path.as_path(), is_directory)
    }

    fn read_git_ignore_files(&self, path: &SanitizedPath, is_directory: bool) -> Ignoring {
        fs::read_git_ignore_files(path.as_path(), is_directory)
    }

    fn tracked_files(&self, start: &SanitizedPath) -> Option<TrackedFiles> {
        fs::tracked_files(start.as_path())
    }

    fn nested_repositories(&self, top: &SanitizedPath) -> Option<Vec<SanitizedPath>> {
        let found = fs::nested_repositories(top.as_path())?;
        found.iter().map(|path| path.to_str()?.parse().ok()).collect()
    }

    fn matching(&self, start: &SanitizedPath, pattern: &str) -> Option<Vec<String>> {
        fs::matching(start.as_str(), pattern)
    }

    fn linked_below(&self, root: &SanitizedPath) -> Option<Vec<(SanitizedPath, SanitizedPath)>> {
        fs::linked(root)
    }

    /// Returns the directories of `PATH`, after the one of the Python environment in `VIRTUAL_ENV`.
    fn program_directories(&self) -> Vec<SanitizedPath> {
        let environment = std::env::var_os("VIRTUAL_ENV").map(|environment| Path::new(&environment).join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all =
            environment.into_iter().chain(std::env::split_paths(&path)).filter(|directory| directory.is_absolute());
        all.filter_map(|directory| Some(fs::real(directory.to_str()?).ok()?.path().clone())).collect()
    }

    fn program_variables(&self) -> Vec<(String, String)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let relative = std::env::split_paths(&path).filter(|directory| !directory.is_absolute());
        let relative = relative.map(|directory| format!("./{}", directory.display()));
        let of_path = relative.map(|directory| ("PATH".to_owned(), directory));
        let steering = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        // The directories of `PATH` and of the Python environment are compared program by program.
        let is_other = |name: &str| !matches!(name, "PATH" | "VIRTUAL_ENV");
        let steering = steering.filter(|(name, _)| steers_programs(name) && is_other(name));
        of_path.chain(steering.map(|(name, value)| (name, value.to_string_lossy().into_owned()))).collect()
    }
}

impl DiskPaths {
    fn found(real: Result<fs::RealPath, fs::ResolveError>) -> Result<Real, PathFailure> {
        let real = real.map_err(|why| PathFailure(why.to_string()))?;
        // Below `/proc`, the floor decides by name which paths are open.
        if real.is_on_proc() && !real.path().as_str().starts_with("/proc") {
            let shown = Escaped(real.path().as_str());
            return Err(PathFailure(format!("`{shown}` is on a proc file system, and no grant covers such a path")));
        }
        Ok(Real { path: real.path().clone(), identity: real.identity() })
    }
}

/// A path resolver that takes paths literally. It is for hosts whose paths are not files of this machine, and for
/// tests.
///
/// # Authority
///
/// Links are not followed, and objects are not compared. A program that can put a link on the disk can move a
/// permission.
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

    /// Returns none, because these paths are no objects.
    fn anchor(&self, _: &SanitizedPath) -> Result<Option<Anchor>, PathFailure> {
        Ok(None)
    }

    /// Returns the names that are protected on every machine. Homes and links belong to the disk, so they are left out.
    fn floor(&self) -> Floor {
        Floor::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Nested directories `/d/d/…` with the depth `there`, and nothing else.
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
