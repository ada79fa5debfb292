//! Places that are held where there is nothing: an empty node, so that there is something to mount over.
//!
//! A missing directory's place is held by an empty directory, any other by the node of a socket at which nobody listens:
//! git lists neither, and whoever opens the node hears an error at once. Each run writes the places that it needs into a
//! lease, a locked file that no confined command sees. A node goes when no lease of somebody alive names it any more,
//! whichever process made it; the lock of a process that was killed is gone with it, and the next run removes what it left.

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

/// The directory above those of the leases. Every sandbox with mounts has an empty one of its own in its place.
const ABOVE: &str = "/dev/shm";

/// The file that is locked while leases and nodes are changed.
const LOCK: &str = "lock";

/// The directory beside the leases in which is remembered what roots hold.
pub(super) const SEEN: &str = "seen";

/// The mode of a directory that only holds a place. Nobody makes one like that by chance.
const PLACE: Mode = Mode::SVTX.union(Mode::RUSR).union(Mode::XUSR);

/// The bits that are compared. A directory may get the group bit of the one above it.
const COMPARED: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO).union(Mode::SVTX).union(Mode::SUID);

/// How often a node is looked at again because somebody changed it meanwhile.
const ATTEMPTS: usize = 16;

/// The kind of a node that holds a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Directory,
    /// Anything but a directory.
    Socket,
}

/// What came of holding a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// A node of ours is there, and stays as long as the lease.
    Held,
    /// Something of somebody's own is there.
    There,
}

/// The directory of this user's leases.
pub(super) fn directory() -> PathBuf {
    Path::new(ABOVE).join(format!("bestow-{}", geteuid().as_raw()))
}

/// The places of one run. They are let go when this is dropped.
#[derive(Debug)]
pub(super) struct Places {
    directory: PathBuf,
    lease: PathBuf,
    /// Locked for as long as the places are needed.
    file: File,
    held: BTreeSet<PathBuf>,
}

/// The places of one run while more are taken. Nobody else takes or lets go any meanwhile.
#[derive(Debug)]
pub(super) struct Taking {
    // INVARIANT: dropped before the places, which lock it themselves.
    _lock: File,
    places: Places,
}

impl Taking {
    /// Begins to take places, and removes what runs that were killed have left.
    pub(super) fn begin() -> io::Result<Taking> {
        let directory = own_directory()?;
        let lock = locked(&directory)?;
        sweep(&directory, BTreeSet::new())?;
        let mut number = std::process::id().to_string();
        loop {
            let lease = directory.join(&number);
            let mut options = OpenOptions::new();
            match options.read(true).append(true).create_new(true).mode(0o600).open(&lease) {
                Ok(file) => {
                    file.lock()?;
                    return Ok(Taking {
                        _lock: lock,
                        places: Places { directory, lease, file, held: BTreeSet::new() },
                    });
                }
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => number.push('+'),
                Err(why) => return Err(why),
            }
        }
    }

    /// Holds the place of `path`, whose directory exists.
    pub(super) fn put(&mut self, path: &Path, node: Node) -> Result<Put, Errno> {
        let (parent, name) = parent_of(path)?;
        for _ in 0..ATTEMPTS {
            match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if is_ours(&stat) => return self.note(path).map(|()| Put::Held),
                Ok(_) => return Ok(Put::There),
                Err(Errno::NOENT) => {}
                Err(why) => return Err(why),
            }
            // Before it is made: what a lease does not name, nobody removes.
            self.note(path)?;
            match make(&parent, name, node) {
                Ok(()) => return Ok(Put::Held),
                Err(Errno::EXIST) => {}
                Err(why) => return Err(why),
            }
        }
        Err(Errno::AGAIN)
    }

    /// Holds what is at `path` if it only holds a place, for another run or one that was killed; says whether it does.
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

    /// The places, when all are taken.
    pub(super) fn done(self) -> Places {
        self.places
    }

    fn note(&mut self, path: &Path) -> Result<(), Errno> {
        let Places { file, held, .. } = &mut self.places;
        if held.contains(path) {
            return Ok(());
        }
        let line = [path.as_os_str().as_bytes(), b"\0"].concat();
        file.write_all(&line).map_err(|why| Errno::from_io_error(&why).unwrap_or(Errno::IO))?;
        held.insert(path.to_owned());
        Ok(())
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // Where nobody can be kept from changing leases, the next run does it.
        let Ok(_lock) = locked(&self.directory) else { return };
        let _ = (fs::remove_file(&self.lease), self.file.unlock());
        let _ = sweep(&self.directory, std::mem::take(&mut self.held));
    }
}

/// The same, there, and certainly this user's alone.
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

/// The lock of this user's leases.
fn locked(directory: &Path) -> io::Result<File> {
    let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(directory.join(LOCK))?;
    lock.lock()?;
    Ok(lock)
}

/// Removes the nodes of `loose` and of every lease whose holder is gone, but for those that a living one names.
fn sweep(directory: &Path, mut loose: BTreeSet<PathBuf>) -> io::Result<()> {
    let mut living = BTreeSet::new();
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
        let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let paths = paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec())));
        if is_gone {
            loose.extend(paths);
            fs::remove_file(entry.path())?;
        } else {
            living.extend(paths);
        }
    }
    // What lies below another one first.
    for path in loose.iter().rev().filter(|path| !living.contains(*path)) {
        remove(path);
    }
    Ok(())
}

/// Removes a node that only holds a place. If it has content by now, somebody made it theirs.
fn remove(path: &Path) {
    let Ok((parent, name)) = parent_of(path) else { return };
    let Ok(stat) = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
    if is_ours(&stat) {
        let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let _ = unlinkat(&parent, name, if is_dir { AtFlags::REMOVEDIR } else { AtFlags::empty() });
    }
}

fn make(parent: &OwnedFd, name: &OsStr, node: Node) -> Result<(), Errno> {
    let made = match node {
        Node::Directory => Err(Errno::NOSYS),
        Node::Socket => mknodat(parent, name, FileType::Socket, Mode::empty(), 0),
    };
    match made {
        // A file system without such nodes.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::NOTSUP) => mkdirat(parent, name, PLACE),
        answer => answer,
    }
}

/// True if it is a node that only holds a place: nobody makes one like that by chance.
pub(super) fn is_ours(stat: &Stat) -> bool {
    let mode = Mode::from_raw_mode(stat.st_mode) & COMPARED;
    let kind = FileType::from_raw_mode(stat.st_mode);
    let is_directory = kind == FileType::Directory && mode == PLACE;
    is_directory || (kind == FileType::Socket && mode.is_empty() && stat.st_size == 0)
}

/// The directory of a path without links, and the name in it.
fn parent_of(path: &Path) -> Result<(OwnedFd, &OsStr), Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => Ok((openat(CWD, parent, flags | OFlags::NOFOLLOW, Mode::empty())?, name)),
        answer => Ok((answer?, name)),
    }
}
