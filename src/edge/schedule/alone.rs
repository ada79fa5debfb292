//! One program at a time runs the tasks of a directory: two that do not know of each other would run each task twice.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::fs::OFlags;

use crate::model::SanitizedPath;

/// Whose lock means that the tasks beside it are run. It says by which process.
const LOCK: &str = "LOCK";

/// The directory that is held, by the loop and by its handle: whichever lets go of it first.
#[derive(Clone, Debug, Default)]
pub(super) struct Alone(Arc<Mutex<Option<Held>>>);

#[derive(Debug)]
struct Held {
    dir: SanitizedPath,
    /// The lock goes with it.
    file: File,
}

/// Why a directory is not held.
#[derive(Debug)]
pub(super) enum NotAlone {
    /// Another program runs the tasks, this process if it could be read.
    Runs(Option<u32>),
    /// Nobody knows, since nothing can be locked there.
    Unknown(io::Error),
}

impl Alone {
    /// Holds `dir` from now on, and nothing else.
    pub(super) fn hold(&self, dir: &SanitizedPath) -> Result<(), NotAlone> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|held| held.dir == *dir) {
            return Ok(());
        }
        let file = open(dir).map_err(NotAlone::Unknown)?;
        if let Some(held) = held.as_mut().filter(|held| is_same(&held.file, &file)) {
            // By another name.
            held.dir = dir.clone();
            return Ok(());
        }
        *held = None;
        lock(&file)?;
        *held = Some(Held { dir: dir.clone(), file });
        Ok(())
    }

    pub(super) fn let_go(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn open(dir: &SanitizedPath) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(flags.bits().cast_signed());
    options.open(dir.as_path().join(LOCK))
}

fn is_same(one: &File, other: &File) -> bool {
    let identity = |file: &File| file.metadata().map(|about| (about.dev(), about.ino())).ok();
    identity(one).is_some_and(|identity_of_one| Some(identity_of_one) == identity(other))
}

fn lock(mut file: &File) -> Result<(), NotAlone> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(NotAlone::Runs(holder(file))),
        Err(TryLockError::Error(why)) => return Err(NotAlone::Unknown(why)),
    }
    // For people; that it is locked is known without.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(())
}

fn holder(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
