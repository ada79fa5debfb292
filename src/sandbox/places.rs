//! Placeholders at missing paths: empty nodes that a mount can cover.
//!
//! A placeholder is a socket node without a listener. Git neither lists nor removes such a node, and a process that
//! opens it gets an error at once. On a file system without socket nodes it is an empty directory. Each run writes
//! its paths into a lease, a locked file that no confined command sees. A placeholder is removed when no lease of a
//! living process names it, whichever process created it, and no living run of another user
//! ([`neighbours`](super::neighbours)). If a process is killed, its lock ends, and the next run removes its
//! placeholders.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::{
        fd::OwnedFd,
        unix::{
            ffi::{OsStrExt, OsStringExt},
            fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
        },
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, mkdirat, mknodat, openat, openat2, statat, unlinkat,
    },
    io::Errno,
    process::geteuid,
};

use super::neighbours::{self, Mark, digest};

/// The parent of the lease directories. Every sandbox with mounts has its own empty directory at this path.
const ABOVE: &str = "/dev/shm";

/// The lock file for changes of leases and placeholders.
const LOCK: &str = "lock";

/// The directory beside the leases with the cached content of roots.
pub(super) const SEEN: &str = "seen";

/// The mode of a placeholder directory. No other program creates this mode by chance.
const PLACE: Mode = Mode::SVTX.union(Mode::RUSR).union(Mode::XUSR);

/// The mode bits that are compared. A new directory may inherit the set-group-ID bit of its parent, so that bit is left
/// out.
const COMPARED: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO).union(Mode::SVTX).union(Mode::SUID);

/// The most attempts at a path that another process changes meanwhile.
const ATTEMPTS: usize = 16;

/// The result of placing a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// A placeholder is at the path, and stays as long as the lease.
    Held,
    /// Another object is at the path.
    There,
}

/// Returns the path of this user's lease directory.
pub(super) fn directory() -> PathBuf {
    Path::new(ABOVE).join(format!("bestow-{}", geteuid().as_raw()))
}

/// The placeholders of one run. Dropping this value releases them.
#[derive(Debug)]
pub(super) struct Places {
    directory: PathBuf,
    /// The lease file. It stays locked as long as the placeholders are needed.
    file: File,
    /// The mark for other users, until the run ends.
    mark: Option<Mark>,
    held: BTreeSet<PathBuf>,
}

/// The placeholders of one run, while more are added. The lock keeps other runs from adding or removing theirs
/// meanwhile.
#[derive(Debug)]
pub(super) struct Taking {
    // INVARIANT: these fields drop before `places`, which take the locks themselves.
    _lock: File,
    _of_all: Option<File>,
    places: Places,
}

impl Taking {
    /// Takes the lock, and removes the placeholders that killed runs have left.
    pub(super) fn begin() -> io::Result<Taking> {
        let directory = own_directory()?;
        let lock = locked(&directory)?;
        let of_all = neighbours::lock();
        sweep(&directory, of_all.is_some())?;
        let mut number = std::process::id().to_string();
        loop {
            let lease = directory.join(&number);
            let mut options = OpenOptions::new();
            match options.read(true).append(true).create_new(true).mode(0o600).open(&lease) {
                Ok(file) => {
                    file.lock()?;
                    let mark = Some(Mark::new(&number)?);
                    let places = Places { directory, file, mark, held: BTreeSet::new() };
                    return Ok(Taking { _lock: lock, _of_all: of_all, places });
                }
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => number.push('+'),
                Err(why) => return Err(why),
            }
        }
    }

    /// Puts a placeholder at `path`. The parent directory exists.
    pub(super) fn put(&mut self, path: &Path) -> Result<Put, Errno> {
        let (parent, name) = parent_of(path)?;
        for _ in 0..ATTEMPTS {
            match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if is_ours(&stat) => return self.note(path).map(|()| Put::Held),
                Ok(_) => return Ok(Put::There),
                Err(Errno::NOENT) => {}
                Err(why) => return Err(why),
            }
            // The lease names the path before the placeholder exists. A placeholder that no lease names would never be
            // removed.
            self.note(path)?;
            match make(&parent, name) {
                Ok(()) => return Ok(Put::Held),
                Err(Errno::EXIST) => {}
                Err(why) => return Err(why),
            }
        }
        Err(Errno::AGAIN)
    }

    /// Adds the placeholder of another run, or of a killed one, to this run. Returns true if there is a placeholder at
    /// `path`.
    pub(super) fn keep(&mut self, path: &Path) -> Result<bool, Errno> {
        let (parent, name) = match parent_of(path) {
            Err(Errno::NOENT | Errno::INVAL) => return Ok(false),
            answer => answer?,
        };
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if is_ours(&stat) => self.note(path).map(|()| true),
            Ok(_) | Err(Errno::NOENT) => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// Releases the lock, and returns the placeholders.
    pub(super) fn done(self) -> Places {
        self.places
    }

    fn note(&mut self, path: &Path) -> Result<(), Errno> {
        let Places { file, mark, held, .. } = &mut self.places;
        if held.contains(path) {
            return Ok(());
        }
        let noted = file.write_all(&line(path)).and_then(|()| mark.as_mut().map_or(Ok(()), |mark| mark.note(path)));
        noted.map_err(|why| Errno::from_io_error(&why).unwrap_or(Errno::IO))?;
        held.insert(path.to_owned());
        Ok(())
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // If the lock cannot be taken, the next run removes the placeholders.
        let Ok(_lock) = locked(&self.directory) else { return };
        let of_all = neighbours::lock();
        // An unlocked lease is that of a run that has ended.
        let _ = (self.mark.take(), self.file.unlock());
        let _ = sweep(&self.directory, of_all.is_some());
    }
}

/// Creates the lease directory if it is missing, and checks that it belongs to this user alone.
pub(super) fn own_directory() -> io::Result<PathBuf> {
    let directory = directory();
    match fs::DirBuilder::new().mode(0o700).create(&directory) {
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(why),
        _ => {}
    }
    let found = fs::symlink_metadata(&directory)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        let why = format!("`{}` is not a directory of this user's own: remove it", directory.display());
        return Err(io::Error::other(why));
    }
    Ok(directory)
}

/// Takes the lock of this user's leases.
fn locked(directory: &Path) -> io::Result<File> {
    let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(directory.join(LOCK))?;
    lock.lock()?;
    Ok(lock)
}

/// Removes the placeholders of every lease without a living process. Placeholders that a living lease names stay, and
/// so do those that another user relies on. Their lease then stays for a later run. Nothing is removed if other users
/// could begin to rely on it meanwhile.
fn sweep(directory: &Path, is_alone: bool) -> io::Result<()> {
    let (mut living, mut ended) = (BTreeSet::new(), Vec::new());
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name() == LOCK || entry.file_name() == SEEN {
            continue;
        }
        let mut lease = File::open(entry.path())?;
        let is_gone = match lease.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(why)) => return Err(why),
        };
        let mut bytes = Vec::new();
        lease.read_to_end(&mut bytes)?;
        let paths = paths_in(&bytes);
        if is_gone {
            ended.push((entry.path(), paths.collect::<BTreeSet<_>>()));
        } else {
            living.extend(paths);
        }
    }
    if !is_alone || ended.is_empty() {
        return Ok(());
    }
    let others = neighbours::relied_on()?;
    let is_needed = |path: &PathBuf| !others.is_empty() && others.contains(&digest(path));
    let loose: BTreeSet<_> = ended.iter().flat_map(|(_, paths)| paths).collect();
    // Paths below another path come first.
    for path in loose.into_iter().rev().filter(|path| !living.contains(*path) && !is_needed(path)) {
        remove(path);
    }
    for (lease, _) in ended.iter().filter(|(_, paths)| !paths.iter().any(is_needed)) {
        fs::remove_file(lease)?;
    }
    Ok(())
}

/// Returns the entry of a lease for a path.
pub(super) fn line(path: &Path) -> Vec<u8> {
    [path.as_os_str().as_bytes(), b"\0"].concat()
}

/// Returns the paths in a lease.
pub(super) fn paths_in(bytes: &[u8]) -> impl Iterator<Item = PathBuf> + '_ {
    let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec())))
}

/// Removes a placeholder. If it has content by now, another program uses it, and it stays.
fn remove(path: &Path) {
    let Ok((parent, name)) = parent_of(path) else { return };
    let Ok(stat) = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
    if is_ours(&stat) {
        let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let _ = unlinkat(&parent, name, if is_dir { AtFlags::REMOVEDIR } else { AtFlags::empty() });
    }
}

fn make(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match mknodat(parent, name, FileType::Socket, Mode::empty(), 0) {
        // The file system does not support socket nodes.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::NOTSUP) => mkdirat(parent, name, PLACE),
        answer => answer,
    }
}

/// Returns true if the node is a placeholder. No other program creates such a node by chance.
pub(super) fn is_ours(stat: &Stat) -> bool {
    let mode = Mode::from_raw_mode(stat.st_mode) & COMPARED;
    let kind = FileType::from_raw_mode(stat.st_mode);
    let is_directory = kind == FileType::Directory && mode == PLACE;
    is_directory || (kind == FileType::Socket && mode.is_empty() && stat.st_size == 0)
}

/// Opens the parent directory without following links, and returns it with the last name of the path.
fn parent_of(path: &Path) -> Result<(OwnedFd, &OsStr), Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => Ok((openat(CWD, parent, flags | OFlags::NOFOLLOW, Mode::empty())?, name)),
        answer => Ok((answer?, name)),
    }
}
