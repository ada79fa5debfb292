//! Replaces a file as a whole, and only if it is still the file that was read.

use std::{
    fs::{File, Metadata, OpenOptions, Permissions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

#[cfg(target_os = "linux")]
use rustix::fs::{CWD, RenameFlags};
use rustix::fs::{Gid, OFlags, Uid};

use super::{super::PolicyText, PersistError};
use crate::{
    fs::{handle, identity_of},
    model::FileIdentity,
};

/// The result of a replacement.
pub(super) enum Replaced {
    Done,
    /// The file is not the one that was read. It was not changed.
    ChangedMeanwhile,
}

/// The number of attempts to lock the directory, and the pause between two attempts.
const LOOKS: (usize, Duration) = (1000, Duration::from_millis(5));

/// Locks out other callers of this library that write this file, until the lock is dropped, so that they do not build
/// on lines that may be removed. On a file system without locks, their saves are detected like any other save. A
/// process that can read the directory can hold the lock, so the wait is limited.
pub(super) fn alone(old: &PolicyText) -> Result<Option<File>, PersistError> {
    let directory = old.ground.trail.real.parent().unwrap_or(Path::new("/"));
    let Ok(held) = File::open(directory) else { return Ok(None) };
    let (looks, pause) = LOOKS;
    for _ in 0..looks {
        match held.try_lock() {
            Ok(()) => return Ok(Some(held)),
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(pause),
        }
    }
    let what = format!("another program holds the lock of `{}`: try again", directory.display());
    Err(PersistError::disk(old, what))
}

/// Replaces the file that was read as `old` with `new`, at its real location, with its owner and mode.
pub(super) fn replace(old: &PolicyText, new: &[u8]) -> Result<Replaced, PersistError> {
    let failed = |tried: &str, why: &io::Error| PersistError::disk(old, format_args!("{tried} failed: {why}"));
    let Some(about) = writable(old)? else { return Ok(Replaced::ChangedMeanwhile) };
    let real = &old.ground.trail.real;
    let directory = real.parent().unwrap_or(Path::new("/"));
    let beside = beside(real);
    let written = write(&beside, new, &about);
    if let Err(why) = written {
        let _ = std::fs::remove_file(&beside);
        return Err(failed(&format!("writing a file beside it, in `{}`,", directory.display()), &why));
    }
    match exchange(&beside, real, old) {
        Ok(true) => {
            // The file is in its place by now. A power failure may undo that, so the error is reported; the file is
            // complete either way.
            File::open(directory)
                .and_then(|directory| directory.sync_all())
                .map_err(|why| failed("syncing it", &why))?;
            Ok(Replaced::Done)
        }
        Ok(false) => Ok(Replaced::ChangedMeanwhile),
        // The file beside it may be another process's save, so it is not removed.
        Err(why) => Err(failed(&format!("putting the file beside it, `{}`, in its place", beside.display()), &why)),
    }
}

/// Refuses a file whose mode makes it read-only.
pub(super) fn refuse_read_only(old: &PolicyText) -> Result<(), PersistError> {
    writable(old).map(drop)
}

/// Returns the metadata of the file that was read; none if it is gone or replaced by now.
fn writable(old: &PolicyText) -> Result<Option<Metadata>, PersistError> {
    let look = || {
        let held = File::from(handle(&old.ground.trail.real)?);
        Ok::<_, io::Error>((held.metadata()?, identity_of(&held)?))
    };
    let (about, identity) = match look() {
        Ok(seen) => seen,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(PersistError::disk(old, format_args!("looking at it failed: {why}"))),
    };
    if about.mode() & 0o200 == 0 {
        // The directory may be writable, but the owner removed the write permission on purpose.
        let what =
            format!("it is read-only (mode {:o}): `chmod u+w` it, or add the lines by hand", about.mode() & 0o777);
        return Err(PersistError::disk(old, what));
    }
    let same = old.ground.trail.identity == Some(identity);
    Ok(Some(about).filter(|_| same))
}

/// Returns an unused name beside `real`.
fn beside(real: &Path) -> PathBuf {
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    real.with_file_name(format!(".{name}.{}.new", uuid::Uuid::now_v7()))
}

fn write(path: &Path, content: &[u8], like: &Metadata) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed();
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags).open(path)?;
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        rustix::fs::fchown(&file, Some(Uid::from_raw(like.uid())), Some(Gid::from_raw(like.gid())))?;
    }
    file.set_permissions(Permissions::from_mode(like.mode() & 0o7777))?;
    file.write_all(content)?;
    file.sync_all()
}

/// Replaces `real` with the file `beside`, if `real` still is the file that was read. The old file is then removed.
#[cfg(target_os = "linux")]
fn exchange(beside: &Path, real: &Path, old: &PolicyText) -> io::Result<bool> {
    exchange_by(|| rustix::fs::renameat_with(CWD, beside, CWD, real, RenameFlags::EXCHANGE), beside, real, old)
}

#[cfg(not(target_os = "linux"))]
fn exchange(beside: &Path, real: &Path, old: &PolicyText) -> io::Result<bool> {
    rename(beside, real, old)
}

/// Exchanges the two files in one step, and then checks the old one. If it is not the file that was read, they are
/// exchanged back. So no save of another process is lost, even if it came at the last moment.
#[cfg(target_os = "linux")]
fn exchange_by(
    mut swap: impl FnMut() -> rustix::io::Result<()>,
    beside: &Path,
    real: &Path,
    old: &PolicyText,
) -> io::Result<bool> {
    let ours = Named::at(beside)?;
    match swap() {
        Ok(()) => {}
        // This file system does not support the exchange.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => return rename(beside, real, old),
        Err(why) => {
            let _ = std::fs::remove_file(beside);
            return Err(why.into());
        }
    }
    let same = is_what_was_read(beside, old);
    if !same {
        give_back(swap, beside, ours)?;
    }
    std::fs::remove_file(beside)?;
    Ok(same)
}

/// Exchanges the file at `beside` back, and checks that the file that comes out is the one that was put in before,
/// first `put`. If it is not, another process saved in between, and that save is put back.
#[cfg(target_os = "linux")]
fn give_back(mut swap: impl FnMut() -> rustix::io::Result<()>, beside: &Path, mut put: Named) -> io::Result<()> {
    loop {
        let saved = Named::at(beside)?;
        swap()?;
        if Named::at(beside)?.identity == put.identity {
            return Ok(());
        }
        put = saved;
    }
}

/// The object that a name led to, held open, so that its inode number is not reused meanwhile.
#[cfg(target_os = "linux")]
struct Named {
    _held: rustix::fd::OwnedFd,
    identity: FileIdentity,
}

#[cfg(target_os = "linux")]
impl Named {
    fn at(path: &Path) -> io::Result<Named> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = rustix::fs::open(path, flags, rustix::fs::Mode::empty())?;
        let about = rustix::fs::fstat(&held)?;
        Ok(Named { _held: held, identity: FileIdentity::new(about.st_dev, about.st_ino) })
    }
}

/// Replaces the file where two names cannot be exchanged. A save between the check and the rename is not detected.
fn rename(beside: &Path, real: &Path, old: &PolicyText) -> io::Result<bool> {
    let same = is_what_was_read(real, old);
    if same { std::fs::rename(beside, real) } else { std::fs::remove_file(beside) }?;
    Ok(same)
}

/// Returns true if the file is the one that was read. A file that cannot be read is not.
fn is_what_was_read(path: &Path, old: &PolicyText) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits().cast_signed();
    let look = || -> io::Result<bool> {
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let identity = identity_of(&file)?;
        let mut bytes = Vec::new();
        let limit = u64::try_from(old.bytes.len()).unwrap_or(u64::MAX).saturating_add(1);
        file.take(limit).read_to_end(&mut bytes)?;
        let same = old.ground.trail.identity == Some(identity);
        Ok(same && bytes == old.bytes)
    };
    look().unwrap_or(false)
}

#[cfg(test)]
mod tests;
