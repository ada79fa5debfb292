use super::{seen::Known, *};
use crate::{
    kernel::ExecScope,
    model::{Permission, PermissionSet},
    sandbox::Profile,
};

fn profile(root: &SanitizedPath) -> Profile {
    let write = Permission::write(root.clone());
    let mut caller = PermissionSet::empty(root.clone());
    caller.insert(write.clone());
    Profile::of(&ExecScope::of(&caller, [&write]).unwrap(), []).unwrap()
}

fn at(path: &Path) -> SanitizedPath {
    crate::fs::real(path.to_str().unwrap()).unwrap().path().clone()
}

/// Reads a tree, and marks every directory as known, even after a recent change.
fn known_at_once(root: &SanitizedPath, names: &Names<'_>) -> Tree {
    let mut seen = Tree::default();
    let closed = look_with(root, names, &mut seen).closed;
    let is_closed = |directory: &Path| closed.iter().any(|(path, _)| path == directory);
    let mut open = vec![(root.as_path().to_owned(), ROOT)];
    while let Some((directory, at)) = open.pop() {
        if !is_closed(&directory) {
            seen.set_known(at, Known::of(&rustix::fs::lstat(&directory).unwrap()));
        }
        open.extend(seen.entries(at).directories.iter().map(|below| (directory.join(&below.name), below.at)));
    }
    seen
}

/// Waits until a change gets another change time. Some file systems count time in steps.
fn until_changes_have_another_time() {
    let dir = tempfile::tempdir().unwrap();
    let changed = || Known::of(&rustix::fs::lstat(dir.path()).unwrap()).changed;
    let before = changed();
    while changed() == before {
        std::fs::create_dir(dir.path().join("x")).unwrap();
        std::fs::remove_dir(dir.path().join("x")).unwrap();
    }
}

#[test]
fn what_is_remembered_is_what_a_fresh_look_sees() {
    let root = at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let profile = profile(&root);
    let names = Names::of_written(&profile).unwrap();
    let fresh = format!("{:?}", look(&root, &names));
    let mut seen = known_at_once(&root, &names);
    seen.has_news = false;
    assert_eq!(format!("{:?}", look_with(&root, &names, &mut seen)), fresh);
    assert!(!seen.has_news, "nothing was read again but the root");
}

#[test]
fn a_change_anywhere_is_seen_although_all_is_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let root = at(dir.path());
    for below in ["a/b/c", "a/d", "e"] {
        std::fs::create_dir_all(dir.path().join(below)).unwrap();
    }
    let profile = profile(&root);
    let names = Names::of_written(&profile).unwrap();
    type Change = fn(&Path);
    let changes: [(&str, Change); 6] = [
        ("a/b/c/.env", |path| std::fs::write(path, "").unwrap()),
        ("a/d/.git", |path| std::fs::create_dir(path).unwrap()),
        ("e/new/x/.claude", |path| std::fs::create_dir_all(path).unwrap()),
        ("a/b/c/key.pem", |path| std::fs::hard_link(path.with_file_name(".env"), path).unwrap()),
        ("moved/c/.env", |path| {
            let top = path.parent().unwrap().parent().unwrap();
            std::fs::rename(top.with_file_name("a").join("b"), top).unwrap();
        }),
        (".npmrc", |path| std::os::unix::fs::symlink("e", path).unwrap()),
    ];
    for (path, change) in changes {
        let mut seen = known_at_once(&root, &names);
        until_changes_have_another_time();
        let path = dir.path().join(path);
        change(&path);
        let looked = look_with(&root, &names, &mut seen);
        let has = |looked: &Looked| looked.sensitive.iter().any(|(found, _)| *found == root.as_path().join(&path));
        assert!(has(&looked), "{}: {looked:?}", path.display());
        assert_eq!(format!("{looked:?}"), format!("{:?}", look(&root, &names)));
    }
}

#[test]
fn a_directory_that_was_just_changed_is_read_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let root = at(dir.path());
    let (profile, mut seen) = (profile(&root), Tree::default());
    let names = Names::of_written(&profile).unwrap();
    std::fs::create_dir(dir.path().join("a")).unwrap();
    assert!(look_with(&root, &names, &mut seen).sensitive.is_empty());
    assert!(!seen.has_news);
    std::fs::write(dir.path().join("a/.env"), "").unwrap();
    assert_eq!(look_with(&root, &names, &mut seen).sensitive.len(), 1);
}

#[test]
fn a_directory_with_what_git_looks_for_is_a_repository_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let root = at(dir.path());
    for below in ["x/objects", "x/refs", "y/objects", "x/deep/.git"] {
        std::fs::create_dir_all(dir.path().join(below)).unwrap();
    }
    for head in ["x/HEAD", "y/HEAD"] {
        std::fs::write(dir.path().join(head), "ref: refs/heads/x").unwrap();
    }
    let profile = profile(&root);
    let looked = look(&root, &Names::of_written(&profile).unwrap());
    assert_eq!(looked.repositories, [root.as_path().join("x")]);
    assert_eq!(looked.sensitive, [(root.as_path().join("y/HEAD"), FileType::RegularFile)]);
    assert!(!looked.is_repository);
}

#[cfg(feature = "property-tests")]
mod changes;
