//! Tests paths of any text through trees of any links. Both back ends agree, and no path outside is opened.

#![no_main]

use std::{
    fs::{self, File},
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, symlink},
    },
    path::PathBuf,
};

use arbitrary::Arbitrary;
use bestow::fs::{Backend, open_read, real, sanitize};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    /// The targets of the links in the workspace. `{` stands for the root of the tree.
    links: [String; 4],
    /// The path to resolve: once as given, and once below the workspace.
    path: String,
}

fuzz_target!(|input: Input| {
    let _ = sanitize(&input.path);
    let dir = tempfile::tempdir().unwrap();
    let root = real(dir.path().to_str().unwrap()).unwrap().path().to_string();
    let workspace = format!("{root}/workspace");
    fs::create_dir_all(format!("{workspace}/a/b")).unwrap();
    fs::create_dir_all(format!("{root}/outside")).unwrap();
    for file in ["workspace/f", "workspace/a/f", "workspace/a/b/f", "outside/secret"] {
        fs::write(format!("{root}/{file}"), "x").unwrap();
    }
    for (name, target) in ["l", "m", "a/n", "a/b/o"].into_iter().zip(&input.links) {
        // The kernel refuses an empty target and one with a null byte. Then the link does not exist.
        let _ = symlink(target.replace('{', &root), format!("{workspace}/{name}"));
    }
    check(&workspace, &input.path);
    check(&workspace, &format!("{workspace}/{}", input.path));
});

fn check(workspace: &str, path: &str) {
    let over = |backend: Backend| {
        let resolved = backend.resolve(&[workspace], path).map_err(|error| error.to_string());
        let opened = resolved.as_ref().ok().and_then(|path| path.open_read().ok());
        (resolved.map(|path| path.path().to_string()), opened.as_ref().map(inode), opened)
    };
    let (one, other) = (over(Backend::Openat2), over(Backend::Walk));
    assert_eq!((&one.0, &one.1), (&other.0, &other.1), "both ways agree");
    if let (Ok(path), Some(file)) = (&one.0, &one.2) {
        assert!(place(file).starts_with(workspace), "{path} was opened outside");
        assert_eq!(inode(&File::open(path).unwrap()), inode(file));
        assert!(open_read(path).is_ok(), "a resolved path has no links");
    }
}

fn inode(file: &File) -> (u64, u64) {
    let meta = file.metadata().unwrap();
    (meta.dev(), meta.ino())
}

fn place(file: &File) -> PathBuf {
    fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap()
}
