//! A lock that lets only one program run the tasks of a directory. Two programs that do not know each other would run
//! each task twice.

use std::{
    fs::{File, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::fs::OFlags;

use crate::model::SanitizedPath;

/// The lock file. A program that holds its lock runs the tasks beside it.
const LOCK: &str = "LOCK";

/// The mode of the lock file. A process that can open the file can lock it, and a command of an agent can read almost
/// every file. The file is therefore not readable.
const WRITE_ONLY: u32 = 0o200;

/// The lock of a directory. The loop and its handle share it, and either can release it.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectoryLock(Arc<Mutex<Option<Held>>>);

#[derive(Debug)]
struct Held {
    dir: SanitizedPath,
    /// The locked file.
    file: File,
}

impl Drop for Held {
    /// Unlocks the file. Closing it would not be enough while a child process that is just being started has a copy of
    /// the descriptor.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// The reason for which a directory is not locked.
#[derive(Debug)]
pub(super) enum NotAlone {
    /// Another program runs the tasks. Its process id is given if it could be read.
    Runs(Option<u32>),
    /// The lock file cannot be locked, so the answer is not known.
    Unknown(io::Error),
}

impl DirectoryLock {
    /// Locks `dir`, and releases any other directory.
    pub(super) fn hold(&self, dir: &SanitizedPath) -> Result<(), NotAlone> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|held| held.dir == *dir) {
            return Ok(());
        }
        let file = open(dir).map_err(NotAlone::Unknown)?;
        if let Some(held) = held.as_mut().filter(|held| is_same(&held.file, &file)) {
            // The directory is already locked under another name.
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
    options.write(true).create(true).truncate(false).mode(WRITE_ONLY);
    options.custom_flags(flags.bits().cast_signed());
    let file = options.open(dir.as_path().join(LOCK))?;
    if file.metadata()?.mode() & 0o777 != WRITE_ONLY {
        file.set_permissions(Permissions::from_mode(WRITE_ONLY))?;
    }
    Ok(file)
}

fn is_same(one: &File, other: &File) -> bool {
    let identity = |file: &File| file.metadata().map(|about| (about.dev(), about.ino())).ok();
    identity(one).is_some_and(|identity_of_one| Some(identity_of_one) == identity(other))
}

fn lock(file: &File) -> Result<(), NotAlone> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(NotAlone::Runs(holder(file))),
        Err(TryLockError::Error(why)) => Err(NotAlone::Unknown(why)),
    }
}

/// Returns the process that holds the lock, if the kernel shows it to this process.
fn holder(file: &File) -> Option<u32> {
    let about = file.metadata().ok()?;
    let (major, minor) = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
    let locked = format!("{major:02x}:{minor:02x}:{}", about.ino());
    // `1: FLOCK  ADVISORY  WRITE 17268 fe:00:10436678 0 EOF`
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, file, ..] = *words.as_slice() else { return None };
        pid.parse().ok().filter(|pid| file == locked && 0 < *pid)
    })
}
