//! Compares random paths through random trees of directories, files and links with two other answers.
//!
//! The kernel: every object that it opens inside, `resolve` opens too, and it is the identical object. Every object
//! that `resolve` opens, the kernel opens too. cap-std, which confines by other means: every object that it opens,
//! `resolve` opens, and it is the identical object.

use std::{
    cell::Cell,
    ffi::OsStr,
    fs::{self, File},
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, symlink},
    },
    path::{Path, PathBuf},
};

use bestow::fs::{Base, FileError};
use cap_std::{ambient_authority, fs::Dir};
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseResult, TestRunner},
};

use super::{BOTH, world::World};

/// An object in a tree, with its place.
#[derive(Clone, Debug)]
enum Thing {
    Dir(String),
    File(String),
    /// A link, with a flag that is true if its target begins at the root of the test's world.
    Link(String, String, bool),
}

impl Thing {
    fn place(&self) -> &String {
        let (Thing::Dir(place) | Thing::File(place) | Thing::Link(place, ..)) = self;
        place
    }
}

/// Generates few names, so that paths meet objects.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c"])
}

/// Generates the place of an object.
fn place() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

/// Generates a path with detours, which leads out of the tree about half of the time.
fn way() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec!["", "", "", "..", "../..", "../outside", "../workspace", "../../outside"]);
    let step = prop_oneof![6 => name(), 2 => Just(".."), 1 => Just("."), 1 => Just("")];
    (start, prop::collection::vec(step, 1..5)).prop_map(|(start, steps)| match start {
        "" => steps.join("/").trim_start_matches('/').to_owned(),
        start => format!("{start}/{}", steps.join("/")),
    })
}

fn thing() -> impl Strategy<Value = Thing> {
    let below_root = (prop::sample::select(vec!["workspace", "outside"]), place());
    let absolute = below_root.prop_map(|(root, place)| format!("{root}/{place}"));
    let empty_is_here = |way: String| if way.is_empty() { ".".to_owned() } else { way };
    prop_oneof![
        1 => place().prop_map(Thing::Dir),
        3 => place().prop_map(Thing::File),
        2 => (place(), way()).prop_map(move |(at, to)| Thing::Link(at, empty_is_here(to), false)),
        1 => (place(), absolute).prop_map(|(at, to)| Thing::Link(at, to, true)),
    ]
}

/// The number of results of each kind, to prove that the comparison met enough of them.
#[derive(Debug, Default)]
struct Seen {
    inside: Cell<u32>,
    outside: Cell<u32>,
    by_cap: Cell<u32>,
}

#[test]
fn we_open_what_the_kernel_and_cap_std_open_and_only_below_the_base() {
    let tree = || prop::collection::vec(thing(), 5..20);
    let ways = prop::collection::vec(way(), 20..40);
    let seen = Seen::default();
    let trees = (tree(), tree(), ways);
    // One round may meet few files by chance. The rounds continue until the comparison has met enough.
    for _ in 0..20 {
        TestRunner::new(Config { cases: crate::support::cases(300), failure_persistence: None, ..Config::default() })
            .run(&trees, |(inside, outside, ways)| {
                let world = World::empty();
                grow(&world, "workspace", &inside);
                grow(&world, "outside", &outside);
                let straight = inside.iter().chain(&outside).map(Thing::place);
                straight.chain(&ways).try_for_each(|way| compare(&world, way, &seen))
            })
            .unwrap();
        if [&seen.inside, &seen.outside, &seen.by_cap].iter().all(|count| count.get() > 50) {
            return;
        }
    }
    panic!("too few files were met for this to mean anything: {seen:?}");
}

/// Creates the objects. Objects that collide with earlier ones are left out. So are objects below a link, because some
/// links lead out of the world.
fn grow(world: &World, root: &str, things: &[Thing]) {
    world.dir(root);
    let soil = Base::hold(&world.text(root)).unwrap();
    for thing in things {
        let place = thing.place();
        let above = place.rsplit_once('/').map_or("", |(above, _)| above);
        if soil.below(above).unwrap().create_dir_all().is_err() {
            continue;
        }
        // No call below follows a link that has this name.
        let place = world.path(root).join(place);
        let grown = match thing {
            Thing::Dir(_) => fs::create_dir(place),
            Thing::File(_) => File::create_new(place).map(drop),
            Thing::Link(_, to, true) => symlink(world.path(to), place),
            Thing::Link(_, to, false) => symlink(to, place),
        };
        grown.unwrap_or_default();
    }
}

fn compare(world: &World, path: &str, seen: &Seen) -> TestCaseResult {
    let absolute = format!("{}/{path}", world.workspace());
    let by_kernel = File::open(&absolute).ok().filter(|file| file.metadata().unwrap().is_file());
    let is_inside = by_kernel.as_ref().is_some_and(|file| real_place(file).starts_with(world.path("workspace")));
    let dir = Dir::open_ambient_dir(world.workspace(), ambient_authority()).unwrap();
    let by_cap = dir.open(path).ok().map(|file| file.into_std()).filter(|file| file.metadata().unwrap().is_file());
    count(&seen.inside, is_inside);
    count(&seen.outside, by_kernel.is_some() && !is_inside);
    count(&seen.by_cap, by_cap.is_some());
    for backend in BOTH {
        let resolved = backend.resolve(&[world.workspace()], &absolute);
        let opened = resolved.as_ref().ok().and_then(|path| path.open_read().ok());
        prop_assert_eq!(opened.is_some(), is_inside, "{} over {:?}: {:?}", path, backend, resolved);
        if let (Some(ours), Some(theirs)) = (&opened, &by_kernel) {
            prop_assert_eq!(inode(ours), inode(theirs), "{} over {:?}", path, backend);
        }
        if let Some(theirs) = &by_cap {
            prop_assert_eq!(opened.as_ref().map(inode), Some(inode(theirs)), "{} over {:?}", path, backend);
        }
        if let (Ok(resolved), Some(opened)) = (&resolved, &opened) {
            prop_assert_eq!(resolved.path().as_path(), real_place(opened));
        }
        if let (Ok(resolved), None) = (&resolved, &opened) {
            let refused = resolved.open_read();
            prop_assert!(!matches!(refused, Err(FileError::Link(_))), "a resolved path has no links: {:?}", refused);
        }
    }
    Ok(())
}

fn count(cell: &Cell<u32>, happened: bool) {
    cell.set(cell.get() + u32::from(happened));
}

fn inode(file: &File) -> (u64, u64) {
    let meta = file.metadata().unwrap();
    (meta.dev(), meta.ino())
}

/// Returns the path of an open file according to the kernel.
fn real_place(file: &File) -> PathBuf {
    fs::read_link(Path::new("/proc/self/fd").join(OsStr::new(&file.as_raw_fd().to_string()))).unwrap()
}
