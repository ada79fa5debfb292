//! Tests of the file tools below a held directory.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
};

use bestow::fs::{Base, EntryKind, FileError};

use super::{BOTH, process, world::World};

/// Returns a world for each back end, with a base held on the workspace.
fn each_base() -> impl Iterator<Item = (World, Base)> {
    BOTH.into_iter().map(|backend| {
        let world = World::new();
        let base = backend.hold(&world.workspace()).unwrap();
        (world, base)
    })
}

fn names(world: &World, dir: &str) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(world.path(dir)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_read_gives_all_of_a_file_or_nothing() {
    for (_world, base) in each_base() {
        let file = base.below("a/f").unwrap();
        assert_eq!(file.read(6).unwrap(), b"inside");
        assert!(matches!(file.read(5), Err(FileError::TooLarge(_, 5))));
        assert!(matches!(base.below("a/none").unwrap().read(5), Err(FileError::NotFound(_))));
    }
}

#[test]
fn a_write_replaces_the_file_and_leaves_nothing_else() {
    for (world, base) in each_base() {
        base.below("a/b/f").unwrap().write(b"new").unwrap();
        base.below("a/b/g").unwrap().write(b"created").unwrap();
        assert_eq!(
            (world.content("workspace/a/b/f").as_str(), world.content("workspace/a/b/g").as_str()),
            ("new", "created")
        );
        assert_eq!(names(&world, "workspace/a/b"), ["f", "g"]);
        assert_eq!(fs::metadata(world.path("workspace/a/b/g")).unwrap().mode() & 0o7777 & !0o600, 0);
    }
}

#[test]
fn a_write_keeps_the_permission_bits_but_not_set_user_id() {
    for (world, base) in each_base() {
        fs::set_permissions(world.path("workspace/f"), fs::Permissions::from_mode(0o4755)).unwrap();
        base.below("f").unwrap().write(b"#!/bin/sh").unwrap();
        assert_eq!(fs::metadata(world.path("workspace/f")).unwrap().mode() & 0o7777, 0o755);
    }
}

#[test]
fn a_write_to_one_name_of_a_file_leaves_the_other_name_its_content() {
    for (world, base) in each_base() {
        fs::hard_link(world.path("outside/secret"), world.path("workspace/h")).unwrap();
        base.below("h").unwrap().write(b"new").unwrap();
        assert_eq!(
            (world.content("workspace/h").as_str(), world.content("outside/secret").as_str()),
            ("new", "secret")
        );
    }
}

#[test]
fn a_refused_write_changes_nothing() {
    for (world, base) in each_base() {
        world.link("../outside/secret", "workspace/l");
        world.link("../outside", "workspace/d");
        assert!(matches!(base.below("l").unwrap().write(b"x"), Err(FileError::NotAFile(_))));
        assert!(matches!(base.below("d/secret").unwrap().write(b"x"), Err(FileError::Link(_))));
        assert!(matches!(base.below("a").unwrap().write(b"x"), Err(FileError::NotAFile(_))));
        assert!(matches!(base.below("f/x").unwrap().write(b"x"), Err(FileError::NotADirectory(_))));
        assert!(matches!(base.below("n/x").unwrap().write(b"x"), Err(FileError::NotFound(_))));
        assert!(base.below("").unwrap().write(b"x").is_err());
        let long = "x".repeat(256);
        assert!(matches!(base.below(&long).unwrap().write(b"x"), Err(FileError::TooLong(_))));
        assert_eq!(names(&world, "workspace"), ["a", "d", "f", "l"]);
        assert_eq!(names(&world, "outside"), ["dir", "secret"]);
        assert_eq!(world.content("outside/secret"), "secret");
    }
}

#[test]
fn a_write_that_runs_out_of_space_leaves_the_old_content_and_nothing_else() {
    let name = "fs::tools::a_write_that_runs_out_of_space_leaves_the_old_content_and_nothing_else";
    process::alone(name, process::WITH_MOUNTS, || {
        for (world, base) in each_base() {
            world.dir("workspace/small");
            process::run("mount", &["-t", "tmpfs", "-o", "size=64k", "small", &world.text("workspace/small")]);
            world.file("workspace/small/f", "old");
            assert!(matches!(base.below("small/f").unwrap().write(&[0; 1 << 20]), Err(FileError::Io(..))));
            assert_eq!(
                (world.content("workspace/small/f").as_str(), names(&world, "workspace/small").len()),
                ("old", 1)
            );
            process::run("umount", &[&world.text("workspace/small")]);
        }
    });
}

#[test]
fn missing_directories_are_created_for_us_alone() {
    for (world, base) in each_base() {
        base.below("a/n1/n2").unwrap().create_dir_all().unwrap();
        base.below("a/n1/n2").unwrap().create_dir_all().unwrap();
        base.below("").unwrap().create_dir_all().unwrap();
        assert_eq!(fs::metadata(world.path("workspace/a/n1/n2")).unwrap().mode() & 0o777 & !0o700, 0);
    }
}

#[test]
fn directories_are_not_created_below_a_file_or_through_a_link() {
    for (world, base) in each_base() {
        world.link("../outside", "workspace/d");
        world.link("../outside/new", "workspace/dangling");
        for path in ["f/x", "d/x", "dangling", "dangling/x"] {
            let refused = base.below(path).unwrap().create_dir_all();
            assert!(matches!(refused, Err(FileError::NotADirectory(_) | FileError::Link(_))), "{path}: {refused:?}");
        }
        assert_eq!(names(&world, "outside"), ["dir", "secret"]);
    }
}

#[test]
fn a_list_names_what_is_there_and_follows_nothing() {
    for (world, base) in each_base() {
        world.link("../outside", "workspace/d");
        let listed = base.below("").unwrap().list(3).unwrap();
        let shown: Vec<_> = listed.iter().map(|entry| (entry.name.to_str().unwrap(), entry.kind)).collect();
        assert_eq!(shown, [("a", EntryKind::Directory), ("d", EntryKind::Link), ("f", EntryKind::File)]);
        assert!(matches!(base.below("").unwrap().list(2), Err(FileError::TooLarge(_, 2))));
        assert!(base.below("d").unwrap().list(100).is_err());
        assert!(matches!(base.below("f").unwrap().list(100), Err(FileError::NotADirectory(_))));
    }
}

#[test]
fn files_and_empty_directories_are_removed_and_links_are_not_followed() {
    for (world, base) in each_base() {
        world.dir("workspace/empty");
        world.link("../outside/secret", "workspace/l");
        base.below("f").unwrap().remove_file().unwrap();
        base.below("l").unwrap().remove_file().unwrap();
        base.below("empty").unwrap().remove_dir().unwrap();
        assert!(matches!(base.below("a").unwrap().remove_file(), Err(FileError::NotAFile(_))));
        assert!(matches!(base.below("a").unwrap().remove_dir(), Err(FileError::NotEmpty(_))));
        assert!(matches!(base.below("a/f").unwrap().remove_dir(), Err(FileError::NotADirectory(_))));
        assert!(matches!(base.below("").unwrap().remove_dir(), Err(FileError::IsBase(_))));
        assert_eq!(names(&world, "workspace"), ["a"]);
        assert_eq!(world.content("outside/secret"), "secret");
    }
}
