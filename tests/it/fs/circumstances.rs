//! Tests that the behaviour is unchanged for another user, without `openat2`, and after ten thousand calls.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt};

use bestow::fs::{Backend, FileError, ResolveError};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use super::{BOTH, cases, process, world::World};

/// The number of the system call on x86-64 and on every later architecture.
const OPENAT2: i64 = 437;

const ENOSYS: u32 = 38;
const EPERM: u32 = 1;

#[test]
fn the_table_holds_for_an_ordinary_user() {
    process::as_ordinary_user(|| cases::check_over(&BOTH));
}

#[test]
fn a_directory_that_may_not_be_searched_is_no_way_to_anywhere() {
    process::as_ordinary_user(|| {
        let world = World::new();
        world.file("workspace/x/f", "");
        fs::set_permissions(world.path("workspace/x"), fs::Permissions::from_mode(0o000)).unwrap();
        for backend in BOTH {
            for path in ["workspace/x/f", "workspace/x/../f", "workspace/x/../../outside/secret", "workspace/x/new"] {
                let refused = backend.resolve(&[world.workspace()], &world.text(path));
                assert!(matches!(refused, Err(ResolveError::Denied(_))), "{path}: {refused:?}");
            }
        }
        fs::set_permissions(world.path("workspace/x"), fs::Permissions::from_mode(0o700)).unwrap();
    });
}

#[test]
fn what_the_operating_system_forbids_stays_forbidden() {
    process::as_ordinary_user(|| {
        let world = World::new();
        fs::set_permissions(world.path("workspace/f"), fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(world.path("workspace/a"), fs::Permissions::from_mode(0o500)).unwrap();
        for backend in BOTH {
            let base = backend.hold(&world.workspace()).unwrap();
            let denied = [
                base.below("f").unwrap().open_write().map(drop),
                base.below("a/new").unwrap().open_write().map(drop),
                base.below("a/f").unwrap().write(b"x"),
                base.below("a/f").unwrap().remove_file(),
                base.below("a/new").unwrap().create_dir_all(),
            ];
            assert!(denied.iter().all(|tried| matches!(tried, Err(FileError::Denied(_)))), "{denied:?}");
        }
        fs::set_permissions(world.path("workspace/a"), fs::Permissions::from_mode(0o700)).unwrap();
    });
}

#[test]
fn where_openat2_is_missing_or_forbidden_the_walk_answers_the_same() {
    for errno in [ENOSYS, EPERM] {
        process::on_own_thread(move || {
            forbid_openat2(errno);
            cases::check_over(&[Backend::Auto, Backend::Walk]);
        });
    }
}

#[test]
fn where_openat2_is_missing_nothing_is_opened_in_its_name() {
    process::on_own_thread(|| {
        forbid_openat2(ENOSYS);
        let world = World::new();
        assert!(matches!(Backend::Openat2.real(&world.workspace()), Err(ResolveError::Io(..))));
    });
}

/// Makes the system call fail on this thread, as an old kernel or a container's filter would.
fn forbid_openat2(errno: u32) {
    let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
    let rules = BTreeMap::from([(OPENAT2, vec![])]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
    let tried = openat2(CWD, c"/", OFlags::PATH, Mode::empty(), ResolveFlags::empty());
    assert_eq!(tried.unwrap_err().raw_os_error().unsigned_abs(), errno, "the filter must be in force");
}

#[test]
fn ten_thousand_calls_leave_no_descriptor_behind() {
    process::alone("fs::circumstances::ten_thousand_calls_leave_no_descriptor_behind", &[], || {
        let world = World::new();
        world.link("../outside/secret", "workspace/l");
        world.link("loop", "workspace/loop");
        fs::hard_link(world.path("outside/secret"), world.path("workspace/h")).unwrap();
        let paths = ["f", "a/b/f", "a/../f", "l", "loop", "h", "a", "none", "none/../f", "f/x", "new", "\u{1b}"];
        let before = open_descriptors();
        for round in 0..10_000 / paths.len() {
            for path in paths {
                every_call(&world, BOTH[round % 2], path);
            }
        }
        assert_eq!(open_descriptors(), before);
    });
}

#[test]
fn no_descriptor_is_inherited_by_a_child() {
    process::alone("fs::circumstances::no_descriptor_is_inherited_by_a_child", &[], || {
        let world = World::new();
        let before = inheritable_descriptors();
        for backend in BOTH {
            let path = backend.resolve(&[world.workspace()], &world.text("workspace/f")).unwrap();
            let _held = (path.open_read().unwrap(), path.open_write().unwrap(), backend.hold("/").unwrap());
            assert_eq!(inheritable_descriptors(), before);
        }
        // The check counts an inherited descriptor, so it can fail.
        let _inherited = openat(CWD, world.path("workspace/f"), OFlags::RDONLY, Mode::empty()).unwrap();
        assert_eq!(inheritable_descriptors(), before + 1);
    });
}

fn inheritable_descriptors() -> usize {
    let is_inheritable = |info: &str| {
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
        u32::from_str_radix(flags, 8).unwrap() & OFlags::CLOEXEC.bits() == 0
    };
    let infos =
        fs::read_dir("/proc/self/fdinfo").unwrap().filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
    infos.filter(|info| is_inheritable(info)).count()
}

/// Runs every call. Each may fail, and none may leak a descriptor.
fn every_call(world: &World, backend: Backend, path: &str) {
    let text = world.text(&format!("workspace/{path}"));
    let Ok(contained) = backend.resolve(&[world.workspace()], &text) else { return };
    let place = contained.place();
    let _opened = (place.open_read(), place.open_write());
    let _tools = (place.write(b"x"), place.read(1), place.list(1), place.create_dir_all(), place.remove_dir());
    let _free = (backend.open_read(&text), backend.open_write(&text));
}

fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}
