//! Tests that a command which may write a directory cannot write its sensitive files (A5, the sandbox's part).

use std::{collections::BTreeMap, fs};

use bestow::{
    Permission,
    action::ExecScope,
    command::internal::sensitive_examples,
    grant::PermissionSet,
    path::SanitizedPath,
    sandbox::{Command, Profile, Sandbox},
};

#[test]
fn a_command_writes_no_row_of_the_table_that_is_there() {
    if !std::process::Command::new("bwrap").arg("--version").output().is_ok_and(|told| told.status.success()) {
        return eprintln!("notice: bubblewrap is missing; not tested");
    }
    let ground = tempfile::tempdir().unwrap();
    let workspace: SanitizedPath = crate::support::real(ground.path()).to_str().unwrap().parse().unwrap();
    let rows = sensitive_examples().into_iter().filter(|(.., is_kept)| *is_kept);
    let rows = rows.filter_map(|(path, ..)| Some(path.strip_prefix("/work/project/")?.to_owned()));
    let mut files = BTreeMap::new();
    // Names in a directory come first. If a directory is a row itself, a file in it represents it.
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|row| !row.contains('/'));
    for row in rows {
        let path = workspace.as_path().join(&row);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let path = if path.is_dir() { path.join("x") } else { path };
        fs::write(&path, "before").unwrap();
        files.insert(path, row);
    }
    let permission = Permission::write(workspace.clone());
    let mut set = PermissionSet::empty(workspace);
    set.insert(permission.clone());
    let scope = ExecScope::of(&set, [&permission]).unwrap();
    let profile = Profile::of(&scope, []).unwrap();
    let tried: String = files.keys().map(|path| format!("echo after > '{}'; rm -f '{0}';\n", path.display())).collect();
    let command = Command::new("sh").args(["-c", &format!("{tried} echo after > plain")]);
    let done = Sandbox::with_helper(crate::support::BESTOW).run(&profile, &command).unwrap();
    assert_eq!(done.code, Some(0));
    assert_eq!(fs::read_to_string(ground.path().join("plain")).unwrap(), "after\n");
    for (path, row) in files {
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("before"), "{row}");
    }
}
