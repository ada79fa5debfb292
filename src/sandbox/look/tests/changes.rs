//! The property of the cache: after any changes of a tree, what is remembered leads to the same result as a search that
//! remembers nothing.

use std::fs;

use proptest::{collection::vec, prelude::*, sample::select};
use rustix::fs::{RenameFlags, renameat_with};

use super::{kept::through_a_file, *};
use crate::model::PathGlob;

/// The names in a tree. Some of them are sensitive, and some are denied by a pattern.
const NAMES: [&str; 10] = ["a", "b", "c", ".git", "HEAD", "objects", "refs", ".env", ".claude", "key.secret"];

/// A change by a command, by a person, or by another process.
#[derive(Clone, Debug)]
enum Change {
    Directory(String),
    File(String),
    Link(String, String),
    HardLink(String, String),
    Move(String, String),
    Exchange(String, String),
    Remove(String),
    Close(String),
    Open(String),
}

fn path() -> impl Strategy<Value = String> {
    vec(select(&NAMES[..]), 1..4).prop_map(|names| names.join("/"))
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => path().prop_map(Change::Directory),
        3 => path().prop_map(Change::File),
        1 => (path(), path()).prop_map(|(one, other)| Change::Link(one, other)),
        1 => (path(), path()).prop_map(|(one, other)| Change::HardLink(one, other)),
        3 => (path(), path()).prop_map(|(one, other)| Change::Move(one, other)),
        2 => (path(), path()).prop_map(|(one, other)| Change::Exchange(one, other)),
        2 => path().prop_map(Change::Remove),
        1 => path().prop_map(Change::Close),
        1 => path().prop_map(Change::Open),
    ]
}

impl Change {
    /// Makes the change, if that is possible.
    fn make(&self, root: &Path) {
        let mode = |path: &Path, mode: u32| {
            let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            if is_directory { fs::set_permissions(path, mode) } else { Ok(()) }
        };
        let at = |path: &String| root.join(path);
        let _ = match self {
            Change::Directory(path) => fs::create_dir_all(at(path)),
            Change::File(path) => {
                let path = at(path);
                let _ = fs::create_dir_all(path.parent().unwrap());
                fs::write(path, "")
            }
            Change::Link(one, other) => std::os::unix::fs::symlink(at(one), at(other)),
            Change::HardLink(one, other) => fs::hard_link(at(one), at(other)),
            Change::Move(one, other) => fs::rename(at(one), at(other)),
            Change::Exchange(one, other) => {
                let flags = RenameFlags::EXCHANGE;
                renameat_with(rustix::fs::CWD, at(one), rustix::fs::CWD, at(other), flags).map_err(Into::into)
            }
            Change::Remove(path) => fs::remove_dir_all(at(path)).or_else(|_| fs::remove_file(at(path))),
            Change::Close(path) => mode(&at(path), 0o000),
            Change::Open(path) => mode(&at(path), 0o755),
        };
    }
}

/// Some changes between two commands. True if the tree is old enough before them that every directory is known.
fn step() -> impl Strategy<Value = (bool, Vec<Change>)> {
    (any::<bool>(), vec(change(), 1..8))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(96), ..ProptestConfig::default() })]

    #[test]
    fn what_is_remembered_is_what_a_fresh_look_sees_after_any_changes(
        first in vec(change(), 0..24),
        steps in vec(step(), 1..6),
        denies in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let root = at(dir.path());
        let glob: PathGlob = "/**/*.secret".parse().unwrap();
        let profile = if denies { profile(&root).denying([&glob], []) } else { profile(&root) };
        let names = Names::of_written(&profile).unwrap();
        first.iter().for_each(|change| change.make(root.as_path()));
        let mut seen = Tree::default();
        for (is_old, changes) in steps {
            if is_old {
                seen = known_at_once(&root, &names);
                until_changes_have_another_time();
            }
            changes.iter().for_each(|change| change.make(root.as_path()));
            // The next command is that of another process, which reads the file.
            let mut kept = through_a_file(&seen);
            let looked = format!("{:?}", look_with(&root, &names, &mut kept));
            prop_assert_eq!(&looked, &format!("{:?}", look(&root, &names)), "{:?}", changes);
            prop_assert_eq!(&looked, &format!("{:?}", look_with(&root, &names, &mut seen)), "{:?}", changes);
        }
    }
}
