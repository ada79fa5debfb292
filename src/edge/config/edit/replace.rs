//! A file takes the place of another one: as a whole, and only of the one that was read.

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

use super::{super::PolicyText, KeepError};
use crate::{fs::identity_of, model::FileIdentity};

/// What became of it.
pub(super) enum Replaced {
    Done,
    /// The file is another one than the one that was read; nothing was changed.
    ChangedMeanwhile,
}

/// How often it is looked whether another program still writes the same file, and how long between two looks.
const LOOKS: (usize, Duration) = (1000, Duration::from_millis(5));

/// Keeps others who write this file this way out until it is dropped, so that nobody builds on what is taken back. Where a
/// file system knows no locks, they are told from somebody else's saves as anybody is. Whoever can read the directory can
/// hold the lock, so that it is not waited for without end.
pub(super) fn alone(old: &PolicyText) -> Result<Option<File>, KeepError> {
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
    Err(KeepError::disk(old, what))
}

/// Puts `new` in the place of the file that was read as `old`, where it really is, with its owner and mode.
pub(super) fn replace(old: &PolicyText, new: &[u8]) -> Result<Replaced, KeepError> {
    let failed = |tried: &str, why: &io::Error| KeepError::disk(old, format_args!("{tried} failed: {why}"));
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
            // It is in its place by now; what a power cut may undo is told, and the file is whole either way.
            File::open(directory)
                .and_then(|directory| directory.sync_all())
                .map_err(|why| failed("syncing it", &why))?;
            Ok(Replaced::Done)
        }
        Ok(false) => Ok(Replaced::ChangedMeanwhile),
        // What is beside it may be what somebody else saved, so that nothing is removed.
        Err(why) => Err(failed(&format!("putting the file beside it, `{}`, in its place", beside.display()), &why)),
    }
}

/// Says that the file is not meant to be written, if its mode says so.
pub(super) fn refuse_read_only(old: &PolicyText) -> Result<(), KeepError> {
    writable(old).map(drop)
}

/// What is known of the file that was read; none if it is gone by now.
fn writable(old: &PolicyText) -> Result<Option<Metadata>, KeepError> {
    let about = match std::fs::symlink_metadata(&old.ground.trail.real) {
        Ok(about) => about,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(KeepError::disk(old, format_args!("looking at it failed: {why}"))),
    };
    if about.mode() & 0o200 == 0 {
        // Its directory could be written, but whoever took the right to write it away meant something by it.
        let what =
            format!("it is read-only (mode {:o}): `chmod u+w` it, or add the lines by hand", about.mode() & 0o777);
        return Err(KeepError::disk(old, what));
    }
    let same = old.ground.trail.identity == Some(identity_of(&about));
    Ok(Some(about).filter(|_| same))
}

/// A name beside `real` that nobody uses.
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

/// Puts `beside` in the place of `real`, if that still is what was read; then what was there is gone.
#[cfg(target_os = "linux")]
fn exchange(beside: &Path, real: &Path, old: &PolicyText) -> io::Result<bool> {
    exchange_by(|| rustix::fs::renameat_with(CWD, beside, CWD, real, RenameFlags::EXCHANGE), beside, real, old)
}

#[cfg(not(target_os = "linux"))]
fn exchange(beside: &Path, real: &Path, old: &PolicyText) -> io::Result<bool> {
    rename(beside, real, old)
}

/// The two change places in one step, and what comes out is looked at: if it is not what was read, it goes back. So nobody's
/// save is lost, however short before it came.
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
        // A file system without it.
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

/// Puts what lies `beside` back, and sees that what comes out is what went in before, which is `put` at first. If it is not,
/// somebody saved in between, and that is what goes back.
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

/// Whatever a name led to, held open, so that nothing else gets its number meanwhile.
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

/// The same where two names cannot change places: somebody who saves between the look and the step is not seen.
fn rename(beside: &Path, real: &Path, old: &PolicyText) -> io::Result<bool> {
    let same = is_what_was_read(real, old);
    if same { std::fs::rename(beside, real) } else { std::fs::remove_file(beside) }?;
    Ok(same)
}

/// Whether it is; what cannot be looked at is not.
fn is_what_was_read(path: &Path, old: &PolicyText) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits().cast_signed();
    let look = || -> io::Result<bool> {
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let about = file.metadata()?;
        let mut bytes = Vec::new();
        let limit = u64::try_from(old.bytes.len()).unwrap_or(u64::MAX).saturating_add(1);
        file.take(limit).read_to_end(&mut bytes)?;
        let same = old.ground.trail.identity == Some(identity_of(&about));
        Ok(same && bytes == old.bytes)
    };
    look().unwrap_or(false)
}

#[cfg(test)]
mod tests;
