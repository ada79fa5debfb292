//! Races: an attacker exchanges directories, files and links as fast as the machine can, while a victim opens them.
//!
//! Each round runs one attack against both back ends and against a deliberately careless opener. A race counts only if
//! the careless opener was caught and both back ends succeeded and refused. Then no try of a back end may have touched
//! anything outside.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use bestow::{
    fs::{Backend, ContainedPath, real},
    path::FileIdentity,
};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, openat, renameat_with, unlinkat};

use super::{
    BOTH,
    clock::now,
    world::{SECRET, World},
};

type Error = Box<dyn std::error::Error>;

/// The least number of tries of each opener, unless the time is up.
const TRIES: u64 = 10_000;
/// The longest duration of a race that has shown both outcomes.
const BUDGET: Duration = Duration::from_secs(2);
/// The time limit for the careless opener to be caught and for the back ends to meet both states of the tree.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Inside,
    Refused,
    Escaped,
}

#[derive(Debug, Default)]
struct Tally {
    inside: u64,
    refused: u64,
    escaped: u64,
}

impl Tally {
    fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Inside => &mut self.inside,
            Outcome::Refused => &mut self.refused,
            Outcome::Escaped => &mut self.escaped,
        } += 1;
    }

    fn tries(&self) -> u64 {
        self.inside + self.refused + self.escaped
    }

    fn has_met_both(&self) -> bool {
        self.inside > 0 && self.refused > 0
    }
}

/// Runs `attack` repeatedly on a separate thread, and both openers on this one, until all outcomes have occurred.
fn race(attack: impl Fn() + Sync, mut ours: impl FnMut(Backend) -> Outcome, mut careless: impl FnMut() -> Outcome) {
    let is_over = AtomicBool::new(false);
    let attacks = AtomicU64::new(0);
    let (mut tallies, mut caught) = (BOTH.map(|_| Tally::default()), Tally::default());
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                attack();
                attacks.fetch_add(1, Ordering::Relaxed);
            }
        });
        // The attacker must stop even if a try panics, or the scope would never end.
        let _stop = OnDrop(&is_over);
        let start = now();
        loop {
            for (backend, tally) in BOTH.into_iter().zip(&mut tallies) {
                tally.count(ours(backend));
            }
            caught.count(careless());
            let has_shown = caught.escaped > 0 && tallies.iter().all(Tally::has_met_both);
            let is_enough = caught.tries() >= TRIES || start.elapsed() > BUDGET;
            if (has_shown && is_enough) || start.elapsed() > PATIENCE {
                break;
            }
        }
    });
    let told = format!("{attacks:?} attacks; ours {tallies:?}; careless {caught:?}");
    assert!(caught.escaped > 0, "the careless opener was not caught, so this shows nothing: {told}");
    assert!(tallies.iter().all(Tally::has_met_both), "ours must both succeed and refuse: {told}");
    assert!(tallies.iter().all(|tally| tally.escaped == 0), "ESCAPED: {told}");
}

struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn exchange(world: &World, one: &str, other: &str) {
    // An exchange fails if a victim has removed a name a moment before. It is repeated anyway.
    let _ = renameat_with(CWD, world.path(one), CWD, world.path(other), RenameFlags::EXCHANGE);
}

fn identity(file: &File) -> FileIdentity {
    let meta = file.metadata().unwrap();
    FileIdentity::new(meta.dev(), meta.ino())
}

fn identity_of(path: &Path) -> FileIdentity {
    identity(&File::open(path).unwrap())
}

/// Opens a path as a first draft would: it resolves and checks the path, and then opens it by its name.
fn careless(world: &World, path: &str, open: impl Fn(&Path) -> io::Result<File>) -> Result<File, Error> {
    let real = real(path)?;
    let base = real_workspace(world);
    if !base.contains(real.path()) {
        return Err("outside".into());
    }
    Ok(open(real.path().as_path())?)
}

fn real_workspace(world: &World) -> bestow::path::SanitizedPath {
    world.workspace().parse().unwrap()
}

fn careful(world: &World, backend: Backend, path: &str) -> Result<ContainedPath, Error> {
    Ok(backend.resolve(&[world.workspace()], path)?)
}

/// Returns the outcome of a read. It escaped if the opened file is the one outside.
fn read(opened: Result<File, Error>, outside: FileIdentity) -> Outcome {
    match opened {
        Err(_) => Outcome::Refused,
        Ok(file) if identity(&file) == outside => Outcome::Escaped,
        Ok(_) => Outcome::Inside,
    }
}

/// Returns the outcome of a write. It escaped if the content of the file outside changed. The content is then restored
/// for the next try.
fn write(world: &World, opened: Result<File, Error>, outside: &str) -> Outcome {
    let written = opened.and_then(|mut file| Ok(file.write_all(b"x")?));
    if world.content(outside) != SECRET {
        fs::write(world.path(outside), SECRET).unwrap();
        return Outcome::Escaped;
    }
    outcome(written)
}

fn outcome<T>(tried: Result<T, Error>) -> Outcome {
    if tried.is_ok() { Outcome::Inside } else { Outcome::Refused }
}

fn open_write_carelessly(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).open(path)
}

/// Creates a world in which `workspace/d/f` is a file, and `workspace/x` is a link to `outside/secret`.
fn file_and_link() -> World {
    let world = World::new();
    world.file("workspace/d/f", "inside");
    world.link(world.path("outside/secret"), "workspace/x");
    world
}

/// Creates a world in which `workspace/d/e/f` and `outside/e/f` are files, and `workspace/x` is a link to `outside`.
fn dir_and_link() -> World {
    let world = World::new();
    world.file("workspace/d/e/f", "inside");
    world.file("outside/e/f", SECRET);
    world.link(world.path("outside"), "workspace/x");
    world
}

#[test]
fn a_file_swapped_with_a_link_is_never_read_through_the_link() {
    let world = file_and_link();
    let (victim, outside) = (world.text("workspace/d/f"), identity_of(&world.path("outside/secret")));
    race(
        || exchange(&world, "workspace/d/f", "workspace/x"),
        |backend| read(careful(&world, backend, &victim).and_then(|path| Ok(path.open_read()?)), outside),
        || read(careless(&world, &victim, |path| File::open(path)), outside),
    );
}

#[test]
fn a_file_swapped_with_a_link_is_never_written_through_the_link() {
    let world = file_and_link();
    let victim = world.text("workspace/d/f");
    race(
        || exchange(&world, "workspace/d/f", "workspace/x"),
        |backend| {
            let opened = careful(&world, backend, &victim).and_then(|path| Ok(path.open_write()?));
            write(&world, opened, "outside/secret")
        },
        || write(&world, careless(&world, &victim, open_write_carelessly), "outside/secret"),
    );
}

#[test]
fn a_directory_swapped_with_a_link_is_never_read_through_the_link() {
    let world = dir_and_link();
    let (victim, outside) = (world.text("workspace/d/e/f"), identity_of(&world.path("outside/e/f")));
    race(
        || exchange(&world, "workspace/d", "workspace/x"),
        |backend| read(careful(&world, backend, &victim).and_then(|path| Ok(path.open_read()?)), outside),
        || read(careless(&world, &victim, |path| File::open(path)), outside),
    );
}

#[test]
fn a_directory_swapped_with_a_link_is_never_written_through_the_link() {
    let world = dir_and_link();
    let victim = world.text("workspace/d/e/f");
    race(
        || exchange(&world, "workspace/d", "workspace/x"),
        |backend| {
            let opened = careful(&world, backend, &victim).and_then(|path| Ok(path.open_write()?));
            write(&world, opened, "outside/e/f")
        },
        || write(&world, careless(&world, &victim, open_write_carelessly), "outside/e/f"),
    );
}

#[test]
fn opening_by_real_path_without_a_base_never_follows_a_link_that_was_put_there() {
    let world = dir_and_link();
    let (victim, outside) = (world.text("workspace/d/e/f"), identity_of(&world.path("outside/e/f")));
    race(
        || exchange(&world, "workspace/d", "workspace/x"),
        |backend| read(backend.open_read(&victim).map_err(Error::from), outside),
        || read(File::open(&victim).map_err(Error::from), outside),
    );
}

/// Returns a function that removes a created name from the directory that was `workspace/d/e` before the race.
fn inner_dir(world: &World) -> impl Fn(&str) {
    let dir = openat(CWD, world.path("workspace/d/e"), OFlags::PATH, Mode::empty()).unwrap();
    move |name| unlinkat(&dir, name, AtFlags::empty()).unwrap_or_default()
}

/// Returns the outcome of a creation. It escaped if the name exists outside. The name is then removed for the next try.
fn created(world: &World, opened: Result<File, Error>, outside: &str) -> Outcome {
    if world.exists(outside) {
        fs::remove_file(world.path(outside)).unwrap();
        return Outcome::Escaped;
    }
    outcome(opened)
}

#[test]
fn a_new_file_is_never_created_through_a_swapped_directory() {
    let world = dir_and_link();
    let victim = world.text("workspace/d/e/new");
    let remove_inside = inner_dir(&world);
    race(
        || exchange(&world, "workspace/d", "workspace/x"),
        |backend| {
            remove_inside("new");
            let opened = careful(&world, backend, &victim).and_then(|path| Ok(path.open_write()?));
            created(&world, opened, "outside/e/new")
        },
        || {
            remove_inside("new");
            created(&world, careless(&world, &victim, open_write_carelessly), "outside/e/new")
        },
    );
}

#[test]
fn a_new_file_is_never_created_through_a_planted_link() {
    let world = dir_and_link();
    let victim = world.text("workspace/d/e/new");
    race(
        || {
            let _ = symlink(world.path("outside/e/new"), world.path("workspace/d/e/new"));
            let _ = fs::remove_file(world.path("workspace/d/e/new"));
        },
        |backend| {
            let opened = careful(&world, backend, &victim).and_then(|path| Ok(path.open_write()?));
            created(&world, opened, "outside/e/new")
        },
        || created(&world, careless(&world, &victim, open_write_carelessly), "outside/e/new"),
    );
}

#[test]
fn going_up_from_a_directory_that_is_moved_away_never_arrives_outside() {
    let world = World::new();
    world.file("f", SECRET);
    let (victim, outside) = (world.text("workspace/a/b/../../f"), identity_of(&world.path("f")));
    race(
        || {
            fs::rename(world.path("workspace/a/b"), world.path("outside/b")).unwrap();
            fs::rename(world.path("outside/b"), world.path("workspace/a/b")).unwrap();
        },
        |backend| read(careful(&world, backend, &victim).and_then(|path| Ok(path.open_read()?)), outside),
        || {
            let opened = openat(CWD, world.path("workspace/a/b"), OFlags::PATH, Mode::empty())
                .and_then(|dir| openat(dir, "../../f", OFlags::RDONLY, Mode::empty()));
            read(opened.map(File::from).map_err(Error::from), outside)
        },
    );
}

#[test]
fn a_file_outside_that_is_linked_in_by_hard_link_is_never_written() {
    let world = World::new();
    let victim = world.text("workspace/f");
    let (name, outside) = (world.path("workspace/f"), world.path("outside/secret"));
    race(
        || {
            let _ = fs::remove_file(&name);
            fs::hard_link(&outside, &name).unwrap_or_default();
            let _ = fs::remove_file(&name);
            let _ = File::create_new(&name);
        },
        |backend| {
            let opened = careful(&world, backend, &victim).and_then(|path| Ok(path.open_write()?));
            write(&world, opened, "outside/secret")
        },
        // The opener checks the count of names only once, so the name can be removed in time.
        || write(&world, careless(&world, &victim, open_write_if_it_has_one_name), "outside/secret"),
    );
}

fn open_write_if_it_has_one_name(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    if file.metadata()?.nlink() != 1 {
        return Err(io::Error::other("hard link"));
    }
    file.set_len(0)?;
    Ok(file)
}

#[test]
fn modes_and_times_are_set_on_the_file_that_was_opened_and_on_no_other() {
    let world = file_and_link();
    let victim = world.text("workspace/d/f");
    let outside = || fs::metadata(world.path("outside/secret")).unwrap();
    let (mode, time) = (outside().mode(), outside().modified().unwrap());
    let judge = |tried: Result<(), Error>| {
        let secret = File::open(world.path("outside/secret")).unwrap();
        let is_changed = outside().mode() != mode || outside().modified().unwrap() != time;
        if is_changed {
            secret.set_permissions(fs::Permissions::from_mode(mode)).unwrap();
            secret.set_modified(time).unwrap();
            return Outcome::Escaped;
        }
        outcome(tried)
    };
    race(
        || exchange(&world, "workspace/d/f", "workspace/x"),
        |backend| {
            judge(careful(&world, backend, &victim).and_then(|path| {
                let file = path.open_read()?;
                file.set_permissions(fs::Permissions::from_mode(0o755))?;
                Ok(file.set_modified(SystemTime::UNIX_EPOCH)?)
            }))
        },
        || {
            judge(real(&victim).map_err(Error::from).and_then(|path| {
                if !real_workspace(&world).contains(path.path()) {
                    return Err("outside".into());
                }
                Ok(fs::set_permissions(path.path(), fs::Permissions::from_mode(0o755))?)
            }))
        },
    );
}

#[test]
fn missing_parents_are_never_created_through_a_link_put_in_their_place() {
    let world = World::new();
    world.dir("workspace/trash");
    let (parent, victim) = (world.text("workspace/n1/n2"), world.text("workspace/n1/n2/f"));
    let moved = AtomicU64::new(0);
    let judge = |tried: Result<(), Error>| {
        if world.exists("outside/n2") {
            fs::remove_dir_all(world.path("outside/n2")).unwrap();
            return Outcome::Escaped;
        }
        outcome(tried)
    };
    race(
        || {
            let trash = format!("workspace/trash/{}", moved.fetch_add(1, Ordering::Relaxed));
            let _ = fs::rename(world.path("workspace/n1"), world.path(&trash));
            let _ = symlink(world.path("outside"), world.path("workspace/n1"));
            let _ = fs::remove_file(world.path("workspace/n1"));
        },
        |backend| {
            judge(careful(&world, backend, &parent).and_then(|path| {
                path.place().create_dir_all()?;
                careful(&world, backend, &victim)?.open_write()?;
                Ok(())
            }))
        },
        || {
            judge(real(&parent).map_err(Error::from).and_then(|path| {
                if !real_workspace(&world).contains(path.path()) {
                    return Err("outside".into());
                }
                fs::create_dir_all(path.path())?;
                Ok(fs::write(path.path().as_path().join("f"), "x")?)
            }))
        },
    );
}

#[test]
fn a_swapped_directory_is_never_listed_through_the_link() {
    let world = dir_and_link();
    let victim = world.text("workspace/d");
    let shows_outside = |names: Vec<std::ffi::OsString>| {
        if names.iter().any(|name| name == OsStr::new("secret")) { Outcome::Escaped } else { Outcome::Inside }
    };
    race(
        || exchange(&world, "workspace/d", "workspace/x"),
        |backend| match careful(&world, backend, &victim).and_then(|path| Ok(path.place().list(100)?)) {
            Err(_) => Outcome::Refused,
            Ok(entries) => shows_outside(entries.into_iter().map(|entry| entry.name).collect()),
        },
        || match real(&victim) {
            Ok(path) if real_workspace(&world).contains(path.path()) => match fs::read_dir(path.path()) {
                Err(_) => Outcome::Refused,
                Ok(dir) => shows_outside(dir.map(|entry| entry.unwrap().file_name()).collect()),
            },
            _ => Outcome::Refused,
        },
    );
}

#[test]
fn a_replaced_file_is_never_one_outside() {
    let world = dir_and_link();
    let victim = world.text("workspace/d/e/f");
    let replace_carelessly = |path: &Path| {
        fs::write(path.with_extension("new"), "x")?;
        fs::rename(path.with_extension("new"), path)?;
        File::options().append(true).open(path)
    };
    let judge = |tried: Result<(), Error>| {
        // A careless opener may also have left its new file outside.
        let _ = fs::remove_file(world.path("outside/e/f.new"));
        write(&world, tried.and_then(|()| Ok(File::options().write(true).open("/dev/null")?)), "outside/e/f")
    };
    race(
        || exchange(&world, "workspace/d", "workspace/x"),
        |backend| judge(careful(&world, backend, &victim).and_then(|path| Ok(path.place().write(b"x")?))),
        || judge(careless(&world, &victim, replace_carelessly).map(drop)),
    );
    let left: Vec<_> = fs::read_dir(world.path("outside/e")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["f"], "nothing of ours was left outside");
}

#[test]
fn a_removed_file_is_never_one_outside() {
    let world = dir_and_link();
    let victim = world.text("workspace/d/e/f");
    let inner = openat(CWD, world.path("workspace/d/e"), OFlags::PATH, Mode::empty()).unwrap();
    let judge = |tried: Result<(), Error>| {
        openat(&inner, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR | Mode::WUSR).unwrap();
        if !world.exists("outside/e/f") {
            fs::write(world.path("outside/e/f"), SECRET).unwrap();
            return Outcome::Escaped;
        }
        outcome(tried)
    };
    race(
        || exchange(&world, "workspace/d", "workspace/x"),
        |backend| judge(careful(&world, backend, &victim).and_then(|path| Ok(path.place().remove_file()?))),
        || {
            judge(
                careless(&world, &victim, |path| {
                    fs::remove_file(path)?;
                    File::open("/dev/null")
                })
                .map(drop),
            )
        },
    );
}

#[test]
fn a_storm_of_renames_elsewhere_makes_no_opening_fail() {
    let world = World::new();
    world.dir("elsewhere/one");
    world.dir("elsewhere/other");
    let (plain, up) = (world.text("workspace/a/b/f"), world.text("workspace/a/b/../../a/f"));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                exchange(&world, "elsewhere/one", "elsewhere/other");
            }
        });
        let _stop = OnDrop(&is_over);
        for _ in 0..TRIES / 2 {
            for backend in BOTH {
                careful(&world, backend, &plain).unwrap().open_read().unwrap();
                careful(&world, backend, &up).unwrap().open_read().unwrap();
            }
        }
    });
}
