//! Tests of a directory with one identity and two names, like a second mount. Tests may not mount, so the identity is
//! passed.

use std::{fs, path::Path};

use super::*;

fn identity(path: &Path) -> FileIdentity {
    crate::fs::identity_of(fs::File::open(path).unwrap()).unwrap()
}

#[test]
fn a_directory_on_the_way_is_not_written_under_another_name() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("policy/agents.toml");
    fs::create_dir_all(place.path().join("policy")).unwrap();
    fs::create_dir(place.path().join("other")).unwrap();
    fs::write(&file, "").unwrap();
    let ground = PolicyLocation::of(Trail::of(&file).unwrap()).unwrap();
    let agent = "lead".parse().unwrap();
    let root = "/mnt/elsewhere".parse().unwrap();
    for same in [place.path(), &place.path().join("policy"), &file, Path::new("/")] {
        let problem = ground.held_by(&agent, &root, Some(identity(same))).unwrap().to_string();
        assert!(
            problem.contains("`/mnt/elsewhere`, which is `") && problem.contains("under another name"),
            "{problem}"
        );
    }
    assert_eq!(ground.held_by(&agent, &root, Some(identity(&place.path().join("other")))), None);
    assert_eq!(ground.held_by(&agent, &root, None), None);
}
