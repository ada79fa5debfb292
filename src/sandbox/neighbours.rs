//! The runs of other users in the same directories.
//!
//! The leases of a user are closed to other users. Each run therefore also has a mark: a file that every user can read,
//! with digests of its paths. Only its owner can remove it, and its owner holds it locked while the run lives. A
//! placeholder stays as long as a living mark of another user names it. A lock for all users keeps one user from
//! removing a placeholder at the moment in which another one begins to rely on it.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use crate::sha256::Sha256;
use nix::poll::{PollTimeout, poll};
use rustix::{fs::OFlags, process::geteuid};

/// The directory of the marks. Everybody can write there, and nobody can remove what another user has.
const DIRECTORY: &str = "/dev/shm";

/// The start of the name of a mark.
const MARK: &str = "bestow-mark-";

/// The name of the lock for all users.
const LOCK: &str = "bestow-lock";

/// The attempts at the lock, and the time between two of them in milliseconds. A user who holds the lock for longer
/// keeps others only from removing placeholders.
const ATTEMPTS: usize = 200;
const PAUSE: u16 = 5;

/// The length of a digest, in bytes.
const DIGEST: usize = 16;

/// The most bytes that are read of a mark.
const LONGEST: u64 = 64 << 20;

/// The digest of a path, as it is in a mark.
pub(super) type Digest = [u8; DIGEST];

pub(super) fn digest(path: &Path) -> Digest {
    let mut digest = [0; DIGEST];
    digest.iter_mut().zip(Sha256::hash(path.as_os_str().as_bytes())).for_each(|(to, from)| *to = from);
    digest
}

/// The mark of one run. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Mark {
    path: PathBuf,
    file: File,
}

impl Mark {
    /// Creates the mark of the run whose lease has this name.
    pub(super) fn new(lease: &str) -> io::Result<Mark> {
        let path = Path::new(DIRECTORY).join(format!("{MARK}{}-{lease}", geteuid().as_raw()));
        // A killed run of this user may have left it.
        let _ = fs::remove_file(&path);
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        // The mode of a new file depends on the mask of the process.
        file.set_permissions(fs::Permissions::from_mode(0o644))?;
        Ok(Mark { path, file })
    }

    pub(super) fn note(&mut self, path: &Path) -> io::Result<()> {
        self.file.write_all(&digest(path))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Opens a file of another user, which may be anything.
fn opened(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Takes the lock for all users, or returns `None` if another process does not release it.
pub(super) fn lock() -> Option<File> {
    let path = Path::new(DIRECTORY).join(LOCK);
    let open = || opened(&path);
    let file = open().or_else(|_| {
        let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        made.and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o644)).map(|()| file)).or_else(|_| open())
    });
    let file = file.ok()?;
    for _ in 0..ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Some(file),
            // Nothing tells when a lock is released, so this only lets time pass.
            Err(TryLockError::WouldBlock) => drop(poll(&mut [], PollTimeout::from(PAUSE))),
            Err(TryLockError::Error(_)) => return None,
        }
    }
    None
}

/// Returns the digests of all paths that living runs of other users rely on.
pub(super) fn relied_on() -> io::Result<BTreeSet<Digest>> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(DIRECTORY)? {
        let entry = entry?;
        if !entry.file_name().as_bytes().starts_with(MARK.as_bytes()) {
            continue;
        }
        let found = match entry.metadata() {
            Ok(found) if found.is_file() && found.uid() != geteuid().as_raw() => found,
            // The mark of this user, no mark, or one that was just removed.
            _ => continue,
        };
        let Ok(mut mark) = opened(&entry.path()).map(|file| file.take(LONGEST)) else { continue };
        // Its owner holds it as the only one while the run lives.
        let is_living = matches!(mark.get_ref().try_lock_shared(), Err(TryLockError::WouldBlock));
        if is_living && mark.get_ref().metadata().is_ok_and(|now| now.ino() == found.ino()) {
            let mut bytes = Vec::new();
            mark.read_to_end(&mut bytes)?;
            all.extend(bytes.chunks_exact(DIGEST).filter_map(|digest| Digest::try_from(digest).ok()));
        }
    }
    Ok(all)
}
