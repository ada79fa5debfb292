//! What stays as it is below a write root: sensitive names, whether they exist or not.
//!
//! What exists is mounted read-only over itself. For what does not exist, an empty directory is put in its place while
//! commands run, so that there is something to mount. It is removed when the last command that needed it has ended; one
//! that a crash left behind is recognised by its mode, and removed by the next command.

use std::{ffi::OsStr, fs::File, os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, flock, fstat, mkdirat, openat, openat2,
        statat, unlinkat,
    },
    io::Errno,
};

use super::{Profile, ProfileError, profile::Guard};
use crate::model::{SanitizedPath, SensitiveName, held_in_place};

/// How many entries below one root are looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// How many sensitive names below one root can be protected.
const MOST_NAMES: usize = 2_000;

/// The mode of a directory that only holds a place. Nobody makes one like that by chance.
const PLACE: Mode = Mode::SVTX.union(Mode::RUSR).union(Mode::XUSR);

/// What stays as it is, while this is held.
#[derive(Debug, Default)]
pub(super) struct Guards {
    pub(super) read_only: Vec<SanitizedPath>,
    /// Held for what happens when they are let go.
    _in_place: Vec<InPlace>,
}

impl Guards {
    pub(super) fn of(profile: &Profile) -> Result<Guards, ProfileError> {
        let mut guards = Guards::default();
        for missing in profile.absent.iter().filter(|path| profile.root_of(path).is_some()) {
            guards.put_in_place(missing)?;
        }
        let (there, missing) = profile.unwritten();
        guards.read_only.extend(there);
        missing.iter().try_for_each(|path| guards.put_in_place(path))?;
        if profile.guard == Guard::Sensitive {
            for root in profile.write.keys().filter(|root| root.as_path().is_dir()) {
                guards.find_below(root, profile)?;
            }
            for path in Guards::missing(profile) {
                guards.put_in_place(&path)?;
            }
        }
        guards.read_only.sort();
        guards.read_only.dedup();
        Ok(guards)
    }

    /// Every sensitive name below the write roots that exists now and that no right names.
    pub(super) fn existing(profile: &Profile) -> Result<Vec<SanitizedPath>, ProfileError> {
        let mut guards = Guards::default();
        profile.write.keys().try_for_each(|root| guards.find_below(root, profile))?;
        guards.read_only.sort();
        Ok(guards.read_only)
    }

    /// The names that programs obey and that do not exist now, directly below each write root.
    pub(super) fn missing(profile: &Profile) -> Vec<SanitizedPath> {
        let is_plain = |root: &&SanitizedPath| root.as_path().is_dir() && profile.sensitive_part(root).is_none();
        let roots = profile.write.keys().filter(|_| profile.guard == Guard::Sensitive).filter(is_plain);
        let added = profile.sensitive.iter().filter_map(SensitiveName::whole).map(str::to_owned);
        let names: Vec<String> = held_in_place().chain(added).collect();
        let named = roots.flat_map(|root| names.iter().map(move |name| format!("{root}/{name}")));
        let paths = named.filter_map(|path| path.parse::<SanitizedPath>().ok());
        paths.filter(|path| std::fs::symlink_metadata(path).is_err() && !profile.write.contains_key(path)).collect()
    }

    /// Every sensitive name below `root` that exists and that no right names.
    fn find_below(&mut self, root: &SanitizedPath, profile: &Profile) -> Result<(), ProfileError> {
        let too_many = |limit| ProfileError::TooMany(root.clone(), limit);
        let (mut directories, mut seen) = (vec![root.as_path().to_owned()], 0);
        while let Some(directory) = directories.pop() {
            // What this user cannot list, its commands cannot reach either.
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST_ENTRIES {
                    return Err(too_many(MOST_ENTRIES));
                }
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                let text = path.to_str().and_then(|path| path.parse::<SanitizedPath>().ok());
                let sensitive = text.filter(|path| profile.sensitive_part(path) == Some(path.as_str()));
                match sensitive {
                    Some(path) if profile.write.contains_key(&path) => {}
                    Some(path) if kind.is_symlink() => return Err(ProfileError::SensitiveLink(path)),
                    Some(path) => {
                        self.read_only.push(path.clone());
                        if let Some(place) = InPlace::left_behind(&path) {
                            self._in_place.push(place);
                        }
                        if self.read_only.len() > MOST_NAMES {
                            return Err(too_many(MOST_NAMES));
                        }
                    }
                    None if kind.is_dir() => directories.push(path),
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// An empty directory where there is nothing, at the first part of `path` that is missing.
    fn put_in_place(&mut self, path: &SanitizedPath) -> Result<(), ProfileError> {
        let Some(missing) = first_missing(path) else { return Ok(()) };
        match InPlace::make(&missing) {
            Ok(place) => {
                self.read_only.push(missing);
                self._in_place.push(place);
                Ok(())
            }
            // Where this user may create nothing, neither may its commands.
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(()),
            Err(why) => Err(ProfileError::NotThere(missing, format!("nothing can be put in its place: {why}"))),
        }
    }
}

/// The first part of `path` that is not there, if one is not.
pub(super) fn first_missing(path: &SanitizedPath) -> Option<SanitizedPath> {
    let ancestors: Vec<&Path> = path.as_path().ancestors().collect();
    let missing = ancestors.iter().rev().find(|part| std::fs::symlink_metadata(part).is_err())?;
    missing.to_str()?.parse().ok()
}

/// A directory that only holds a place, and is removed with the last that holds it.
#[derive(Debug)]
struct InPlace {
    parent: OwnedFd,
    name: String,
    /// Locked, shared, for as long as a command may need it.
    held: File,
}

impl InPlace {
    fn make(path: &SanitizedPath) -> Result<InPlace, Errno> {
        let (parent, name) = parent_of(path)?;
        for _ in 0..16 {
            match mkdirat(&parent, name, PLACE) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(why) => return Err(why),
            }
            match InPlace::hold(parent.try_clone().map_err(|_| Errno::MFILE)?, name) {
                // Somebody let it go between our two looks.
                Err(Errno::NOENT) => {}
                answer => return answer,
            }
        }
        Err(Errno::AGAIN)
    }

    /// One that somebody else holds, or nobody any more.
    fn left_behind(path: &SanitizedPath) -> Option<InPlace> {
        let (parent, name) = parent_of(path).ok()?;
        let stat = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        (is_dir && Mode::from_raw_mode(stat.st_mode) == PLACE).then(|| InPlace::hold(parent, name).ok())?
    }

    fn hold(parent: OwnedFd, name: &str) -> Result<InPlace, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = File::from(openat(&parent, name, flags, Mode::empty())?);
        flock(&held, FlockOperation::LockShared)?;
        let place = InPlace { parent, name: name.to_owned(), held };
        if place.is_still_there() { Ok(place) } else { Err(Errno::NOENT) }
    }

    fn is_still_there(&self) -> bool {
        let (Ok(held), Ok(there)) =
            (fstat(&self.held), statat(&self.parent, OsStr::new(&self.name), AtFlags::SYMLINK_NOFOLLOW))
        else {
            return false;
        };
        (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino)
    }
}

impl Drop for InPlace {
    fn drop(&mut self) {
        let is_last = flock(&self.held, FlockOperation::NonBlockingLockExclusive).is_ok();
        let is_ours = fstat(&self.held).is_ok_and(|stat| Mode::from_raw_mode(stat.st_mode) == PLACE);
        if is_last && is_ours && self.is_still_there() {
            // Only an empty one goes; if it has content, somebody made it theirs.
            let _ = unlinkat(&self.parent, OsStr::new(&self.name), AtFlags::REMOVEDIR);
        }
    }
}

/// The directory of a path without links, and the name in it.
fn parent_of(path: &SanitizedPath) -> Result<(OwnedFd, &str), Errno> {
    let (parent, name) = path.as_str().rsplit_once('/').ok_or(Errno::INVAL)?;
    let parent = if parent.is_empty() { "/" } else { parent };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => Ok((openat(CWD, parent, flags | OFlags::NOFOLLOW, Mode::empty())?, name)),
        answer => Ok((answer?, name)),
    }
}
