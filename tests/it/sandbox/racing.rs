//! Guarded paths that another process changes between the search of the host and the mount of the helper.
//!
//! The helper of these tests is a script. It waits until the host has searched, changes the tree, and becomes the
//! helper.

use std::fs;

use bestow::sandbox::{Command, Sandbox};

use super::ground::{Ground, with_bubblewrap};

/// Returns a sandbox whose helper runs these lines in the workspace before each start.
fn changing(ground: &Ground, lines: &str) -> Sandbox {
    let (workspace, helper) = (ground.world.workspace(), ground.world.text("helper"));
    let script = format!(
        "#!/bin/sh\ncd {workspace}; echo x >> {workspace}/starts\n\
         # The first placeholder comes after the search.\n\
         until [ -S .envrc ]; do :; done\n{lines}\nexec {helper} \"$@\"\n"
    );
    ground.world.file("changing", &script);
    let path = ground.path("changing");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::create_dir_all(ground.path("workspace/one/.git")).unwrap();
    ground.world.file("workspace/starts", "");
    Sandbox::with_helper(path)
}

/// Returns the number of starts.
fn starts(ground: &Ground) -> usize {
    ground.world.content("workspace/starts").lines().count()
}

#[test]
fn a_start_is_repeated_if_a_guarded_path_goes_meanwhile() {
    with_bubblewrap(|ground| {
        let sandbox = changing(ground, "[ -d one/.git ] && mv one/.git one/gone");
        let done = sandbox.run(&ground.profile(), &Command::new("true")).unwrap();
        assert_eq!((done.code, starts(ground)), (Some(0), 2), "{ground}: {done:?}");
        assert!(!done.facts.read_only.iter().any(|path| path.as_str().ends_with("one/.git")), "{ground}");
    });
}

#[test]
fn a_guarded_path_that_appears_meanwhile_is_held_after_the_repetition() {
    with_bubblewrap(|ground| {
        let sandbox = changing(ground, "[ -d one/.git ] && mv one two");
        let write = Command::new("sh").args(["-c", "echo x > two/.git/config"]);
        let done = sandbox.run(&ground.profile(), &write).unwrap();
        assert_ne!(done.code, Some(0), "{ground}");
        assert_eq!(starts(ground), 2, "{ground}");
        assert!(!ground.world.exists("workspace/two/.git/config"), "{ground}");
    });
}

#[test]
fn a_path_that_changes_at_each_start_is_refused_by_name() {
    with_bubblewrap(|ground| {
        let sandbox = changing(ground, "if [ -d one ]; then mv one two; else mv two one; fi");
        let refused = sandbox.run(&ground.profile(), &Command::new("touch").arg("ran")).unwrap_err().to_string();
        assert!(refused.contains("sandbox_unavailable"), "{ground}: {refused}");
        assert!(refused.contains("workspace/one"), "{ground}: {refused}");
        assert_eq!(starts(ground), 3, "{ground}: {refused}");
        assert!(!ground.world.exists("workspace/ran"), "{ground}");
        // The placeholders of the starts are gone.
        assert!(!ground.world.exists("workspace/.envrc"), "{ground}");
    });
}

#[test]
fn a_link_that_takes_the_place_of_a_guarded_directory_is_not_followed_by_its_mount() {
    with_bubblewrap(|ground| {
        let lines = "[ -d one/.git ] && mv one/.git one/real && ln -s ../two one/.git";
        let sandbox = changing(ground, lines);
        fs::create_dir_all(ground.path("workspace/two")).unwrap();
        // The guard is at the link, and the directory that it names stays as it is.
        let line =
            "touch two/new && { mv one/.git one/moved || rm one/.git || ln -sfn ../three one/.git || echo kept; }";
        let done = sandbox.run(&ground.profile(), &Command::new("sh").args(["-c", line])).unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout.bytes), "kept\n", "{ground}: {done:?}");
        assert!(ground.world.exists("workspace/two/new"), "{ground}");
        assert_eq!(fs::read_link(ground.path("workspace/one/.git")).unwrap(), std::path::Path::new("../two"));
    });
}
