//! Tests that a regular file is opened, or nothing, and that a refused path is not changed.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{Read, Write},
    os::unix::{ffi::OsStrExt, fs::MetadataExt, net::UnixListener},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use bestow::fs::{Backend, Base, ContainedPath, EntryKind, FileError};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, mknodat};

use super::{BOTH, process, world::World};

fn resolved(world: &World, backend: Backend, path: &str) -> ContainedPath {
    backend.resolve(&[world.workspace()], &world.text(path)).unwrap()
}

#[test]
fn a_file_is_read_and_written() {
    for backend in BOTH {
        let world = World::new();
        let path = resolved(&world, backend, "workspace/a/f");
        path.open_write().unwrap().write_all(b"new").unwrap();
        let mut text = String::new();
        path.open_read().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "new");
    }
}

#[test]
fn a_pipe_is_refused_at_once_even_if_nobody_is_at_its_other_end() {
    let world = World::new();
    mknodat(CWD, world.path("workspace/p"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for backend in BOTH {
        // A naive open would wait for the other end of the pipe for ever.
        let path = resolved(&world, backend, "workspace/p");
        assert!(matches!(path.open_read(), Err(FileError::NotAFile(_))));
        assert!(matches!(path.open_write(), Err(FileError::NotAFile(_))));
    }
}

#[test]
fn a_socket_and_a_device_are_refused() {
    let world = World::new();
    let _listener = UnixListener::bind(world.path("workspace/s")).unwrap();
    for backend in BOTH {
        let null = backend.resolve(&["/dev"], "/dev/null").unwrap();
        for path in [resolved(&world, backend, "workspace/s"), null] {
            assert!(matches!(path.open_read(), Err(FileError::NotAFile(_))), "{path:?}");
            assert!(matches!(path.open_write(), Err(FileError::NotAFile(_))), "{path:?}");
        }
        assert!(matches!(backend.open_write("/dev/null"), Err(FileError::NotAFile(_))));
    }
}

#[test]
fn opening_by_real_path_takes_no_link_at_the_end_in_the_middle_or_with_a_slash_behind() {
    let world = World::new();
    world.link("../outside", "workspace/d");
    world.link("f", "workspace/l");
    for backend in BOTH {
        for path in ["workspace/d", "workspace/d/", "workspace/d/secret", "workspace/l"] {
            assert!(backend.open_read(&world.text(path)).is_err(), "{path}");
            assert!(backend.open_write(&world.text(path)).is_err(), "{path}");
        }
        assert!(matches!(backend.open_read(&world.text("workspace/l")), Err(FileError::Link(_))));
        assert!(matches!(backend.open_read(&world.text("workspace/a/../f")), Err(FileError::Invalid(_))));
        assert!(matches!(backend.open_read("workspace/f"), Err(FileError::Invalid(_))));
        assert!(backend.open_read(&world.text("workspace/f")).is_ok());
        assert!(backend.open_write(&world.text("workspace/f")).is_ok());
    }
    assert_eq!(world.content("outside/secret"), "secret");
}

#[test]
fn a_link_that_appears_after_resolving_is_an_error_and_not_an_escape() {
    for backend in BOTH {
        let world = World::new();
        let path = resolved(&world, backend, "workspace/a/secret");
        fs::remove_dir_all(world.path("workspace/a")).unwrap();
        world.link("../outside", "workspace/a");
        assert!(matches!(path.open_read(), Err(FileError::Link(_))));
        assert!(matches!(path.open_write(), Err(FileError::Link(_))));
        assert!(path.place().write(b"x").is_err());
        assert!(path.place().remove_file().is_err());
        assert!(path.place().create_dir_all().is_err());
        assert_eq!(world.content("outside/secret"), "secret");
    }
}

#[test]
fn a_file_with_two_names_may_be_read_but_is_not_written_and_keeps_its_content() {
    let world = World::new();
    fs::write(world.path("outside/big"), vec![7; 1 << 20]).unwrap();
    fs::hard_link(world.path("outside/big"), world.path("workspace/h")).unwrap();
    for backend in BOTH {
        let path = resolved(&world, backend, "workspace/h");
        assert!(matches!(path.open_write(), Err(FileError::HardLinked(_))));
        assert!(matches!(backend.open_write(path.path().as_str()), Err(FileError::HardLinked(_))));
        assert_eq!(fs::metadata(world.path("outside/big")).unwrap().len(), 1 << 20);
        assert!(path.open_read().is_ok());
    }
}

#[test]
fn a_created_file_is_ours_and_nobody_elses() {
    let world = World::new();
    for (backend, name) in BOTH.into_iter().zip(["workspace/n1", "workspace/n2"]) {
        let meta = resolved(&world, backend, name).open_write().unwrap().metadata().unwrap();
        assert_eq!(meta.mode() & 0o7777 & !0o600, 0, "{:o}", meta.mode());
        assert_eq!(meta.uid(), rustix::process::geteuid().as_raw());
    }
}

#[test]
fn an_opened_file_waits_like_any_other() {
    let world = World::new();
    for backend in BOTH {
        let path = resolved(&world, backend, "workspace/f");
        for file in [path.open_read().unwrap(), path.open_write().unwrap()] {
            assert!(!fcntl_getfl(&file).unwrap().contains(OFlags::NONBLOCK));
        }
    }
}

#[test]
fn a_single_file_can_be_the_base_and_no_longer_name_is_below_it() {
    let world = World::new();
    world.file("workspace/f.bak", "");
    let only = [world.text("workspace/f")];
    for backend in BOTH {
        let path = backend.resolve(&only, &only[0]).unwrap();
        assert!(path.open_read().is_ok());
        path.place().write(b"inside").unwrap();
        assert!(backend.resolve(&only, &world.text("workspace/f.bak")).is_err());
        assert!(matches!(path.place().remove_file(), Err(FileError::IsBase(_))));
    }
    assert_eq!(world.content("workspace/f"), "inside");
}

#[test]
fn a_single_file_that_was_replaced_since_is_not_the_base_any_more() {
    for backend in BOTH {
        let world = World::new();
        let only = [world.text("workspace/f")];
        let path = backend.resolve(&only, &only[0]).unwrap();
        world.file("workspace/new", "another");
        fs::rename(world.path("workspace/new"), world.path("workspace/f")).unwrap();
        assert!(matches!(path.open_read(), Err(FileError::BaseChanged(_))));
        assert!(matches!(path.open_write(), Err(FileError::BaseChanged(_))));
        fs::remove_file(world.path("workspace/f")).unwrap();
        assert!(path.open_write().is_err());
        assert!(!world.exists("workspace/f"), "what was granted was the file, not the name");
    }
}

#[test]
fn a_name_that_is_not_text_is_listed_and_opened_as_bytes_and_is_no_other_file() {
    let world = World::new();
    let name = OsStr::from_bytes(b"\xff\xfe");
    fs::write(world.path("workspace").join(name), "bytes").unwrap();
    world.file("workspace/\u{fffd}\u{fffd}", "text");
    for backend in BOTH {
        let base = backend.hold(&world.workspace()).unwrap();
        let listed = base.below("").unwrap().list(100).unwrap();
        assert!(listed.iter().any(|entry| entry.name == name && entry.kind == EntryKind::File));
        assert_eq!(base.below(name).unwrap().read(100).unwrap(), b"bytes");
        assert_eq!(base.below("\u{fffd}\u{fffd}").unwrap().read(100).unwrap(), b"text");
        assert!(backend.real(&(world.workspace() + "/" + &name.to_string_lossy())).unwrap().identity().is_some());
    }
}

#[test]
fn a_mount_inside_counts_as_inside() {
    process::alone("fs::opening::a_mount_inside_counts_as_inside", process::WITH_MOUNTS, || {
        let world = World::new();
        world.dir("workspace/m");
        process::run("mount", &["--bind", &world.text("outside"), &world.text("workspace/m")]);
        for backend in BOTH {
            assert!(resolved(&world, backend, "workspace/m/secret").open_read().is_ok());
        }
        process::run("umount", &[&world.text("workspace/m")]);
    });
}

#[test]
fn a_base_hands_out_only_plain_paths_below_itself() {
    let world = World::new();
    let base = Base::hold(&world.workspace()).unwrap();
    for path in ["/etc/passwd", "..", "a/..", "a//f", "./f", "f/", "a/./f", "a\0b"] {
        assert!(matches!(base.below(path), Err(FileError::NotCanonical(_))), "{path:?}");
    }
    assert!(base.below("a/f").unwrap().open_read().is_ok());
}

#[test]
fn a_file_that_somebody_writes_without_pause_is_opened_for_writing_or_called_unsteady() {
    let world = World::new();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = File::options().append(true).open(world.path("workspace/f")).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                log.write_all(b"x").unwrap();
            }
        });
        for backend in BOTH.into_iter().cycle().take(200) {
            let opened = resolved(&world, backend, "workspace/f").open_write();
            assert!(matches!(opened, Ok(_) | Err(FileError::Unsteady(_))), "{opened:?}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(BOTH.iter().all(|backend| resolved(&world, *backend, "workspace/f").open_write().is_ok()));
}
