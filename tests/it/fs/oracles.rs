//! Random trees of directories, files and links, and random paths through them, against two other answers.
//!
//! The kernel: whatever it opens whose real place is inside, we open, and it is the same object; whatever we open, it
//! opens too. And cap-std, which confines by other means: whatever it opens, we open, and it is the same object.

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

/// Something in a tree; the numbers choose names and places.
#[derive(Clone, Debug)]
enum Thing {
    Dir(Vec<u8>),
    File(Vec<u8>),
    /// A link, and whether it begins at the root.
    Link(Vec<u8>, Vec<u8>, bool),
}

/// Few names, so that paths meet things; the last two are not names.
const STEPS: [&str; 7] = ["a", "b", "c", "workspace", "outside", "..", "."];

fn steps(of: std::ops::Range<u8>, length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(of, length)
}

fn text(steps: &[u8]) -> String {
    steps.iter().map(|step| STEPS[usize::from(*step)]).collect::<Vec<_>>().join("/")
}

fn thing() -> impl Strategy<Value = Thing> {
    let place = || steps(0..3, 1..4);
    prop_oneof![
        place().prop_map(Thing::Dir),
        place().prop_map(Thing::File),
        (place(), steps(0..7, 1..5), any::<bool>()).prop_map(|(at, to, absolute)| Thing::Link(at, to, absolute)),
    ]
}

/// How often what happened that the comparison is about.
#[derive(Debug, Default)]
struct Seen {
    inside: Cell<u32>,
    outside: Cell<u32>,
    by_cap: Cell<u32>,
}

#[test]
fn we_open_what_the_kernel_and_cap_std_open_and_only_below_the_base() {
    let tree = |size| prop::collection::vec(thing(), 1..size);
    let paths = prop::collection::vec((steps(0..7, 1..7), any::<bool>()), 1..20);
    let seen = Seen::default();
    TestRunner::new(Config { cases: 600, failure_persistence: None, ..Config::default() })
        .run(&(tree(10), tree(5), paths), |(inside, outside, paths)| {
            let world = World::empty();
            grow(&world, "workspace", &inside);
            grow(&world, "outside", &outside);
            paths.iter().try_for_each(|(steps, has_slash)| {
                compare(&world, &(text(steps) + if *has_slash { "/" } else { "" }), &seen)
            })
        })
        .unwrap();
    let enough = [&seen.inside, &seen.outside, &seen.by_cap].iter().all(|count| count.get() > 50);
    assert!(enough, "too few files were met for this to mean anything: {seen:?}");
}

/// Things that collide with earlier ones are left out, and so are things below a link: nothing grows through one,
/// for some lead out of the world.
fn grow(world: &World, root: &str, things: &[Thing]) {
    world.dir(root);
    let soil = Base::hold(&world.text(root)).unwrap();
    for thing in things {
        let (Thing::Dir(place) | Thing::File(place) | Thing::Link(place, ..)) = thing;
        let (above, name) = place.split_at(place.len() - 1);
        if soil.below(&text(above)).unwrap().create_dir_all().is_err() {
            continue;
        }
        let place = soil_path(world, root, above, name);
        let grown = match thing {
            Thing::Dir(_) => fs::create_dir(place),
            Thing::File(_) => File::create_new(place).map(drop),
            Thing::Link(_, to, true) => symlink(world.path(&text(to)), place),
            Thing::Link(_, to, false) => symlink(text(to), place),
        };
        grown.unwrap_or_default();
    }
}

/// A directory that was just found to be reached without a link, and a name in it that none of these calls follows.
fn soil_path(world: &World, root: &str, above: &[u8], name: &[u8]) -> PathBuf {
    world.path(root).join(text(above)).join(text(name))
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

/// Where the kernel says that an open file is.
fn real_place(file: &File) -> PathBuf {
    fs::read_link(Path::new("/proc/self/fd").join(OsStr::new(&file.as_raw_fd().to_string()))).unwrap()
}
