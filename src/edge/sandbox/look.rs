//! What lies below a write root and is obeyed by programs, or is a secret: every sensitive name that is there.
//!
//! What cannot be looked into is told, never passed over: only what is not there is nothing.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, fstatfs, openat, statat},
    io::Errno,
    time::{ClockId, clock_gettime},
};

use super::Profile;
use crate::model::{SanitizedPath, SensitiveName, makes_a_repository};

/// The state of the disk that one run has seen of directories, for the next one of the same engine: what a directory holds has
/// not changed if its change time has not, which nobody but the kernel sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered(Arc<Mutex<Memory>>);

type Memory = HashMap<PathBuf, (Known, Vec<SensitiveName>, Arc<Entries>)>;

/// A directory in the state in which it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

/// What is of interest among the entries of one directory.
#[derive(Clone, Debug, Default)]
struct Entries {
    count: usize,
    sensitive: Vec<(OsString, FileType)>,
    directories: Vec<OsString>,
    is_repository: bool,
}

/// A directory that was changed less than this before it was read may change again without its time telling.
const SETTLED: Duration = Duration::from_secs(2);

/// More directories than this are not remembered.
const MOST_REMEMBERED: usize = 200_000;

/// File systems of this machine's own, whose change times are the kernel's.
const LOCAL: [i64; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994];

/// How many entries below one root are looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// What lies below one write root.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Each sensitive name, and what it is.
    pub(super) sensitive: Vec<(PathBuf, FileType)>,
    /// Directories that git takes for repositories although they have another name, below the root.
    pub(super) repositories: Vec<PathBuf>,
    /// True if the root itself is such a directory.
    pub(super) is_repository: bool,
    /// Directories that could not be looked into.
    pub(super) closed: Vec<(PathBuf, Errno)>,
    /// True if there is more than is looked at.
    pub(super) is_too_much: bool,
}

/// Looks below `root`, links not followed. What lies in something sensitive is not looked at.
pub(super) fn look(root: &SanitizedPath, profile: &Profile, remembered: &Remembered) -> Looked {
    let mut looked = Looked::default();
    let mut seen = 0;
    let mut open = vec![root.as_path().to_owned()];
    while let Some(directory) = open.pop() {
        let entries = match remembered.entries(&directory, profile) {
            Ok(entries) => entries,
            // It was removed, or is something else by now, whose name says nothing.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if directory != root.as_path() => continue,
            Err(why) => {
                looked.closed.push((directory, why));
                continue;
            }
        };
        seen += entries.count;
        if seen > MOST_ENTRIES {
            looked.is_too_much = true;
            break;
        }
        if entries.is_repository && directory != root.as_path() {
            looked.repositories.push(directory);
            continue;
        }
        looked.is_repository |= entries.is_repository;
        looked.sensitive.extend(entries.sensitive.iter().map(|(name, kind)| (directory.join(name), *kind)));
        open.extend(entries.directories.iter().map(|name| directory.join(name)));
    }
    looked
}

impl Remembered {
    /// What is in a directory: remembered if it is the same, in the same state, for the same names.
    fn entries(&self, directory: &Path, profile: &Profile) -> Result<Arc<Entries>, Errno> {
        if let Ok(state) = statat(CWD, directory, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Known::of(&stat))
            && let Ok(memory) = self.0.lock()
            && let Some((known, names, entries)) = memory.get(directory)
            && (*known, names) == (state, &profile.sensitive)
        {
            return Ok(Arc::clone(entries));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = openat(CWD, directory, flags, Mode::empty())?;
        let state = fstat(&held)?;
        let is_settled = is_settled(&state) && LOCAL.contains(&fstatfs(&held)?.f_type);
        let entries = Arc::new(Entries::read(&held, directory, profile)?);
        // What changed while it was read is not what it is now.
        let is_same = || fstat(&held).is_ok_and(|now| Known::of(&now) == Known::of(&state));
        if let Ok(mut memory) = self.0.lock() {
            if is_settled && memory.len() < MOST_REMEMBERED && is_same() {
                let what = (Known::of(&state), profile.sensitive.clone(), Arc::clone(&entries));
                memory.insert(directory.to_owned(), what);
            } else {
                memory.remove(directory);
            }
        }
        Ok(entries)
    }
}

impl Known {
    fn of(stat: &Stat) -> Known {
        Known { device: stat.st_dev, inode: stat.st_ino, changed: changed(stat) }
    }
}

fn changed(stat: &Stat) -> (i64, i64) {
    (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0))
}

/// True if it was last changed long enough ago for another change to have another time.
fn is_settled(stat: &Stat) -> bool {
    let now = clock_gettime(ClockId::Realtime);
    let (seconds, nanoseconds) = changed(stat);
    let since = (now.tv_sec - seconds).saturating_mul(1_000_000_000) + (now.tv_nsec - nanoseconds);
    u128::try_from(since).is_ok_and(|since| since >= SETTLED.as_nanos())
}

impl Entries {
    fn read(held: &OwnedFd, directory: &Path, profile: &Profile) -> Result<Entries, Errno> {
        let above = directory.file_name().unwrap_or_default().to_string_lossy();
        let depth = directory.components().count().saturating_sub(1);
        let (mut found, mut of_repository) = (Entries::default(), Vec::new());
        for entry in Dir::read_from(held)? {
            let entry = entry?;
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            found.count += 1;
            let name = String::from_utf8_lossy(bytes);
            let is_sensitive = profile.is_sensitive_name(&name, &above, depth);
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                kind = match statat(held, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(why) => return Err(why),
                };
            }
            if makes_a_repository(&name) {
                of_repository.push(name.into_owned());
            }
            let own = || OsStr::from_bytes(bytes).to_owned();
            if is_sensitive {
                found.sensitive.push((own(), kind));
            } else if kind == FileType::Directory {
                found.directories.push(own());
            }
        }
        let has = |wanted: &str| of_repository.iter().any(|name| name == wanted);
        found.is_repository = has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
