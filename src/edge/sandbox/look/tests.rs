use rustix::fs::fstatfs;

use super::*;
use crate::{
    kernel::ExecScope,
    model::{Permission, PermissionSet},
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

#[test]
fn what_is_remembered_is_what_a_fresh_look_sees() {
    let root = at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let profile = profile(&root);
    let remembered = Remembered::default();
    let first = format!("{:?}", look(&root, &profile, &remembered));
    let is_local = LOCAL.contains(&fstatfs(std::fs::File::open(&root).unwrap()).unwrap().f_type);
    let kept = remembered.0.lock().unwrap().len();
    assert_eq!(kept > 0, is_local, "{kept}");
    assert_eq!(format!("{:?}", look(&root, &profile, &remembered)), first);
    assert_eq!(format!("{:?}", look(&root, &profile, &Remembered::default())), first);
}

#[test]
fn a_directory_that_was_just_changed_is_looked_at_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let root = at(dir.path());
    let profile = profile(&root);
    let remembered = Remembered::default();
    std::fs::create_dir(dir.path().join("a")).unwrap();
    assert!(look(&root, &profile, &remembered).sensitive.is_empty());
    assert!(remembered.0.lock().unwrap().is_empty());
    std::fs::write(dir.path().join("a/.env"), "").unwrap();
    assert_eq!(look(&root, &profile, &remembered).sensitive.len(), 1);
    // In another state it is not the directory that is remembered.
    let stale = Known { device: 0, inode: 0, changed: (0, 0) };
    let nothing = (stale, profile.sensitive.clone(), Arc::new(Entries::default()));
    remembered.0.lock().unwrap().insert(dir.path().join("a"), nothing);
    assert_eq!(look(&root, &profile, &remembered).sensitive.len(), 1);
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
    let looked = look(&root, &profile(&root), &Remembered::default());
    assert_eq!(looked.repositories, [root.as_path().join("x")]);
    assert_eq!(looked.sensitive, [(root.as_path().join("y/HEAD"), FileType::RegularFile)]);
    assert!(!looked.is_repository);
}
