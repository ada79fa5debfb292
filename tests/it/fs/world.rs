//! A temporary directory for each test: `workspace` is allowed, `outside` is not.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use bestow::fs::real;
use tempfile::TempDir;

/// The content of the files outside, so that a leak is recognized.
pub(crate) const SECRET: &str = "secret";

pub(crate) struct World {
    /// Keeps the directory until the test ends.
    _dir: TempDir,
    root: PathBuf,
}

impl World {
    /// Creates a root without any files.
    pub(crate) fn empty() -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = real(dir.path().to_str().unwrap()).unwrap().path().as_path().to_owned();
        World { _dir: dir, root }
    }

    /// Creates `workspace/{f, a/f, a/b/f}` and `outside/{secret, dir/s}`.
    pub(crate) fn new() -> World {
        let world = World::empty();
        for file in ["workspace/f", "workspace/a/f", "workspace/a/b/f"] {
            world.file(file, "inside");
        }
        for file in ["outside/secret", "outside/dir/s"] {
            world.file(file, SECRET);
        }
        world
    }

    pub(crate) fn root(&self) -> &str {
        self.root.to_str().unwrap()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    /// Returns the path as an agent would write it.
    pub(crate) fn text(&self, below: &str) -> String {
        format!("{}/{below}", self.root())
    }

    pub(crate) fn workspace(&self) -> String {
        self.text("workspace")
    }

    pub(crate) fn dir(&self, below: &str) {
        fs::create_dir_all(self.path(below)).unwrap();
    }

    pub(crate) fn file(&self, below: &str, content: &str) {
        fs::create_dir_all(self.path(below).parent().unwrap()).unwrap();
        fs::write(self.path(below), content).unwrap();
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, below: &str) {
        symlink(target, self.path(below)).unwrap();
    }

    pub(crate) fn content(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    pub(crate) fn exists(&self, below: &str) -> bool {
        fs::symlink_metadata(self.path(below)).is_ok()
    }
}
