//! Tests of the resolution of a path, and of the object that a grant pins.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path, process::Command};

use bestow::{
    fs::{Base, ResolveError, real, resolve},
    path::{InvalidPath, SanitizedPath},
};
use rustix::fs::{CWD, Mode, mkdirat};

use super::{BOTH, world::World};

#[test]
fn a_real_path_has_no_links_and_knows_its_object() {
    let world = World::new();
    world.link("a/f", "workspace/l");
    for backend in BOTH {
        let (link, file) =
            (backend.real(&world.text("workspace/l")).unwrap(), backend.real(&world.text("workspace/a/f")).unwrap());
        assert_eq!(link.path().as_str(), world.text("workspace/a/f"));
        assert!(link.identity().is_some());
        assert_eq!(link, file);
    }
}

#[test]
fn a_path_to_nothing_is_real_but_has_no_object() {
    let world = World::new();
    for backend in BOTH {
        let new = backend.real(&world.text("workspace/n1/n2/n3")).unwrap();
        assert_eq!((new.path().as_str(), new.identity()), (world.text("workspace/n1/n2/n3").as_str(), None));
    }
}

#[test]
fn what_is_pinned_when_a_path_is_granted_is_the_place_it_leads_to_and_not_the_text() {
    let world = World::new();
    world.link("../outside", "workspace/l");
    world.link("../outside/later", "workspace/dangling");
    for backend in BOTH {
        for text in ["workspace/../outside", "workspace/l", "workspace/l/", "workspace/l/dir/.."] {
            assert_eq!(backend.real(&world.text(text)).unwrap().path().as_str(), world.text("outside"), "{text}");
        }
        let later = backend.real(&world.text("workspace/dangling")).unwrap();
        assert_eq!(later.path().as_str(), world.text("outside/later"));
    }
}

#[test]
fn texts_that_no_grant_may_hold_are_refused() {
    let long = format!("/{}", "x".repeat(4096));
    let cases = [
        ("", InvalidPath::Relative),
        ("relative", InvalidPath::Relative),
        ("../relative", InvalidPath::Relative),
        ("~/x", InvalidPath::Relative),
        ("/p\0q", InvalidPath::Nul),
        ("/p\u{1b}[2Jq", InvalidPath::ControlCharacter),
        (&long, InvalidPath::TooLong),
    ];
    for (text, expected) in cases {
        assert!(matches!(real(text), Err(ResolveError::Invalid(found)) if found == expected), "{text:?}");
    }
}

#[test]
fn a_link_cannot_smuggle_in_a_name_that_no_grant_may_hold() {
    let world = World::new();
    world.link("\u{1b}[2J", "workspace/escape");
    world.link(Path::new(OsStr::from_bytes(b"\xff\xfe")), "workspace/bytes");
    for backend in BOTH {
        let escape = backend.real(&world.text("workspace/escape"));
        assert!(matches!(escape, Err(ResolveError::Invalid(InvalidPath::ControlCharacter))));
        assert!(matches!(backend.real(&world.text("workspace/bytes")), Err(ResolveError::NotText(_))));
    }
}

#[test]
fn containment_is_by_component() {
    let world = World::new();
    world.file("workspace-evil/x", "");
    world.file("Workspace/x", "");
    for backend in BOTH {
        for (path, is_inside) in [
            ("workspace", true),
            ("workspace/a", true),
            ("workspace-evil/x", false),
            ("Workspace/x", false),
            ("", false),
        ] {
            let resolved = backend.resolve(&[world.workspace()], &world.text(path));
            assert_eq!(resolved.is_ok(), is_inside, "{path}");
        }
    }
}

#[test]
fn a_base_that_is_empty_relative_missing_or_broken_allows_nothing_and_takes_nothing_away() {
    let world = World::new();
    world.link("loop", "loop");
    let (file, missing, endless) = (world.text("workspace/f"), world.text("nowhere"), world.text("loop"));
    let useless = ["", ".", "workspace", "/p\0", &missing, &endless];
    for backend in BOTH {
        assert!(matches!(backend.resolve(&useless, &file), Err(ResolveError::Outside(_))));
        assert!(matches!(backend.resolve::<&str>(&[], &file), Err(ResolveError::Outside(_))));
        let mut bases = useless.map(str::to_owned).to_vec();
        bases.push(world.workspace());
        assert_eq!(backend.resolve(&bases, &file).unwrap().base().path().as_str(), world.workspace());
    }
}

#[test]
fn a_missing_tail_is_kept_as_it_is_written_and_may_not_go_up() {
    let world = World::new();
    world.link("nowhere", "workspace/dangling");
    for backend in BOTH {
        for path in ["workspace/new/..", "workspace/new/x/../../f", "workspace/dangling/../f"] {
            assert!(matches!(backend.real(&world.text(path)), Err(ResolveError::MissingParent(_))), "{path}");
        }
        let deep = backend.real(&world.text("workspace/dangling/./x//y")).unwrap();
        assert_eq!(deep.path().as_str(), world.text("workspace/nowhere/x/y"));
    }
}

#[test]
fn only_a_missing_name_is_missing_and_every_error_names_where_it_happened() {
    let world = World::new();
    world.link("l2", "workspace/l1");
    world.link("l1", "workspace/l2");
    world.link("a/f/below", "workspace/below_a_file");
    let long = format!("workspace/{}", "x".repeat(256));
    for backend in BOTH {
        let error = |path: &str| backend.real(&world.text(path)).unwrap_err();
        assert!(matches!(error("workspace/l1"), ResolveError::Loop(_)));
        assert!(matches!(error("workspace/f/x"), ResolveError::NotADirectory(at) if at == world.text("workspace/f")));
        assert!(matches!(error("workspace/f/"), ResolveError::NotADirectory(_)));
        assert!(matches!(error("workspace/f/."), ResolveError::NotADirectory(_)));
        assert!(matches!(error("workspace/f/.."), ResolveError::NotADirectory(_)));
        assert!(matches!(
            error("workspace/below_a_file"),
            ResolveError::NotADirectory(at) if at == world.text("workspace/a/f")
        ));
        assert!(matches!(error(&long), ResolveError::TooLong(_)));
    }
}

#[test]
fn messages_are_one_line_and_show_what_a_name_would_hide() {
    let world = World::new();
    world.file("workspace/\u{202e}evil\n", "");
    let error = real(&world.text("workspace/\u{202e}evil\n/x")).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}/\\u{{202e}}evil\\n` is not a directory", world.workspace()));
}

#[test]
fn links_of_procfs_lead_nowhere_but_self_does() {
    let world = World::new();
    let mut other = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let secret = world.text("outside/secret");
    let paths = [
        format!("/proc/{}/root{secret}", other.id()),
        format!("/proc/{}/cwd", other.id()),
        format!("/proc/self/root{secret}"),
        "/proc/self/cwd".to_owned(),
        "/proc/self/exe".to_owned(),
        "/proc/self/fd/0".to_owned(),
        "/proc/thread-self/cwd".to_owned(),
        format!("/proc/self/task/{}/cwd", std::process::id()),
        "/dev/stdin".to_owned(),
        "/dev/fd/0".to_owned(),
    ];
    for backend in BOTH {
        for path in &paths {
            let refused = backend.resolve(&["/"], path);
            assert!(matches!(refused, Err(ResolveError::MagicLink(_))), "{path}: {refused:?}");
        }
        let own = format!("/proc/{}/status", std::process::id());
        assert_eq!(backend.real("/proc/self/status").unwrap().path().as_str(), own);
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_very_deep_path_is_resolved_without_a_descriptor_for_each_step() {
    let world = World::new();
    let depth = 1_990;
    let dirs: Vec<String> = (0..=depth).map(|steps| world.workspace() + &"/d".repeat(steps)).collect();
    dirs.iter().skip(1).for_each(|dir| mkdirat(CWD, dir, Mode::RWXU).unwrap());
    let deepest = dirs.last().unwrap();
    let up_and_down = format!("{}{}/d", world.workspace() + &"/d".repeat(600), "/../d".repeat(400));
    for backend in BOTH {
        assert_eq!(backend.resolve(&[world.workspace()], deepest).unwrap().path().as_str(), deepest);
        assert!(backend.resolve(&[world.workspace()], &up_and_down).is_ok());
    }
    // A removal that keeps a descriptor for each level would fail here.
    dirs.iter().skip(1).rev().for_each(|dir| fs::remove_dir(dir).unwrap());
}

#[test]
fn a_base_that_is_held_is_the_granted_directory_and_not_the_one_that_took_its_name() {
    let world = World::new();
    for backend in BOTH {
        let granted = backend.real(&world.workspace()).unwrap().identity().unwrap();
        let held = std::sync::Arc::new(backend.hold(&world.workspace()).unwrap());
        fs::rename(world.path("workspace"), world.path("old")).unwrap();
        world.file("workspace/f", "the new directory's");

        let through_held = held.contain(&world.text("workspace/f")).unwrap();
        assert_eq!(std::io::read_to_string(through_held.open_read().unwrap()).unwrap(), "inside");

        let anew = backend.resolve(&[world.workspace()], &world.text("workspace/f")).unwrap();
        let refused = anew.expecting_base(granted).unwrap_err();
        assert!(matches!(refused, bestow::fs::FileError::BaseChanged(_)));
        assert!(backend.hold(&world.workspace()).unwrap().expecting(granted).is_err());

        fs::remove_dir_all(world.path("workspace")).unwrap();
        fs::rename(world.path("old"), world.path("workspace")).unwrap();
        assert!(backend.hold(&world.workspace()).unwrap().expecting(granted).is_ok());
    }
}

#[test]
fn below_a_held_base_that_was_deleted_there_is_nothing() {
    for backend in BOTH {
        let world = World::new();
        let held = std::sync::Arc::new(backend.hold(&world.workspace()).unwrap());
        fs::remove_dir_all(world.path("workspace")).unwrap();
        world.file("workspace/f", "the new directory's");
        let path = held.contain(&world.text("workspace/f")).unwrap();
        assert!(path.open_read().is_err());
        assert!(path.open_write().is_err());
        assert_eq!(world.content("workspace/f"), "the new directory's");
    }
}

#[test]
fn the_root_of_the_file_system_can_be_a_base() {
    let held = Base::hold("/").unwrap();
    assert_eq!(held.path(), &SanitizedPath::root());
    assert_eq!(resolve(&["/"], "/").unwrap().path(), &SanitizedPath::root());
    assert!(held.below("etc/passwd").unwrap().open_read().is_ok());
}

#[test]
fn a_path_that_names_a_directory_is_no_path_of_a_file() {
    let world = World::new();
    for backend in BOTH {
        for path in ["workspace/new/", "workspace/new/."] {
            let resolved = backend.resolve(&[world.workspace()], &world.text(path)).unwrap();
            assert_eq!(resolved.path().as_str(), world.text("workspace/new"));
            assert!(resolved.open_write().is_err());
            assert!(resolved.place().write(b"").is_err());
        }
        assert!(backend.open_read(&world.text("workspace/f/")).is_err());
    }
    assert!(!world.exists("workspace/new"));
}
