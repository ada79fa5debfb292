//! The lock of a state directory. Its file says up to where the records were acknowledged: after each write, and after
//! an orderly end.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::{JournalError, files::Files, hash_chain::Head};
use crate::ports::DiskFile;

/// The lock file. Its lock marks the directory as in use.
const LOCK: &str = "LOCK";

/// The first word of the lock file after an orderly end. The end of the records follows it.
const CLOSED: &str = "closed";

/// The end of the last process that used a directory, as its lock file tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastEnd {
    /// The process ended in good order. Every record up to this one was acknowledged, and there was no other.
    At(Head),
    /// The process ended in good order. It was of a version that did not say where the records ended.
    Orderly,
    /// The process was killed or still runs. Every record up to this one was acknowledged. Others may follow.
    After(Head),
    /// The process was killed or still runs, and did not say anything of its records; or there was none.
    Unknown,
}

impl LastEnd {
    fn of(content: &[u8]) -> LastEnd {
        if content == b"closed\n" {
            return LastEnd::Orderly;
        }
        // A process that was killed between the two steps of `say` leaves the end of a longer text after its own.
        let mut lines = content.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n"));
        let mut next = || str::from_utf8(lines.next()??).ok();
        let Some(first) = next() else { return LastEnd::Unknown };
        match first.strip_prefix(CLOSED) {
            Some(end) => end.strip_prefix(' ').and_then(|end| end.parse().ok()).map_or(LastEnd::Unknown, LastEnd::At),
            None => next().and_then(|noted| noted.parse().ok()).map_or(LastEnd::Unknown, LastEnd::After),
        }
    }

    /// Returns true if no write was interrupted.
    pub(super) fn is_orderly(self) -> bool {
        matches!(self, LastEnd::At(_) | LastEnd::Orderly)
    }

    /// Returns the last record that is known to be acknowledged.
    pub(super) fn acknowledged(self) -> Option<Head> {
        match self {
            LastEnd::At(head) | LastEnd::After(head) => Some(head),
            LastEnd::Orderly | LastEnd::Unknown => None,
        }
    }
}

/// The acknowledged end that the last process noted, compared with the records.
#[derive(Debug)]
pub(super) struct Promised {
    end: Option<Head>,
    /// The event with the number of the end, if it is another one.
    other: Option<Head>,
}

impl Promised {
    /// Returns the promise of the last process.
    pub(super) fn by(last_end: LastEnd) -> Promised {
        Promised { end: last_end.acknowledged(), other: None }
    }

    /// Compares the promise with one event of the chain.
    pub(super) fn compare(&mut self, there: Head) {
        let differs = self.end.is_some_and(|end| end.sequence == there.sequence && end.hash != there.hash);
        self.other = self.other.or(differs.then_some(there));
    }

    /// Refuses records that end at `head`, if they do not contain the promised end.
    pub(super) fn is_kept(&self, files: &Files, head: Head) -> Result<(), JournalError> {
        let is_short = self.end.is_some_and(|end| head.sequence < end.sequence);
        match (self.end, self.other.or(is_short.then_some(head))) {
            (Some(promised), Some(found)) => {
                Err(JournalError::OtherEnd { directory: files.directory.clone(), promised, found })
            }
            _ => Ok(()),
        }
    }
}

/// The lock of a state directory. It ends with the process.
#[derive(Debug)]
pub(super) struct Lock {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    /// The directory itself, locked. Without it, a process that replaced the lock file could open the directory again.
    directory: Box<dyn DiskFile>,
    /// The place of the acknowledged head in the file, once this process holds the lock.
    place: Option<u64>,
}

impl Lock {
    /// Locks the directory for this process, and returns the end of its last process. The file stays as it is until
    /// [`Lock::hold`]: what it says of the end is needed again if the records turn out to be damaged.
    pub(super) fn take(files: &Files) -> Result<(Lock, LastEnd), JournalError> {
        let (path, failed) = (files.path(LOCK), files.failed(LOCK, "locking"));
        let directory = files.disk.lock_dir(&files.directory).map_err(&failed)?;
        let file = directory.is_some().then(|| files.disk.lock(&path)).transpose().map_err(&failed)?.flatten();
        let (Some(directory), Some(file)) = (directory, file) else {
            let holder = files.disk.read(&path).unwrap_or_default();
            let pid = str::from_utf8(&holder).ok().and_then(|text| text.lines().next()?.trim().parse().ok());
            return Err(JournalError::InUse { directory: files.directory.clone(), pid });
        };
        let last_end = LastEnd::of(&files.disk.read(&path).map_err(&failed)?);
        Ok((Lock { file, path, directory, place: None }, last_end))
    }

    /// Names this process as the owner of the directory, before it changes anything in it. What the last process
    /// acknowledged stays noted.
    pub(super) fn hold(&mut self, files: &Files, last_end: LastEnd) -> Result<(), JournalError> {
        let mut text = format!("{}\n", std::process::id());
        self.place = u64::try_from(text.len()).ok();
        text.extend(last_end.acknowledged().map(noted));
        files.with_reserve(|| say(&mut *self.file, &text)).map_err(files.failed(LOCK, "locking"))
    }

    /// Notes that every record up to `head` is acknowledged. Then the next process finds out if one of them is missing,
    /// also if this one is killed. Only records that were synced are noted, so the note itself needs no sync. Without
    /// it, the earlier note is still true.
    pub(super) fn note(&mut self, head: Head) {
        let Some(place) = self.place else { return };
        let _ = self.file.overwrite(place, noted(head).as_bytes());
    }

    /// Returns true if the directory still has this lock. Another process could take a lock in its place.
    pub(super) fn is_in_force(&self) -> io::Result<bool> {
        let directory = self.path.parent().map_or(Ok(true), |directory| self.directory.is_at(directory))?;
        Ok(directory && self.file.is_at(&self.path)?)
    }

    /// Records the orderly end of the records at `head`. If this fails, the next opening only takes a little longer.
    pub(super) fn let_go(mut self, head: Head) {
        let _ = say(&mut *self.file, &format!("{CLOSED} {head}\n"));
    }
}

/// Returns true if the directory has the lock file.
pub(super) fn is_there(files: &Files) -> Result<bool, JournalError> {
    match files.disk.read(&files.path(LOCK)) {
        Ok(_) => Ok(true),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(why) => Err(files.failed(LOCK, "reading")(why)),
    }
}

/// Returns the error for records up to `head` whose lock file is missing.
pub(super) fn missing(files: &Files, head: Head) -> JournalError {
    let what = format!("the file `{LOCK}`, so nothing says if its newest records are there");
    JournalError::Missing { directory: files.directory.clone(), what, next: Some(head.sequence + 1) }
}

/// Returns the end of the last process, without a lock. Another process may begin to use the directory at any time.
pub(super) fn last_end(files: &Files) -> Result<LastEnd, JournalError> {
    match files.disk.read(&files.path(LOCK)) {
        Ok(content) => Ok(LastEnd::of(&content)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(LastEnd::Unknown),
        Err(why) => Err(files.failed(LOCK, "reading")(why)),
    }
}

/// Waits until no process uses `directory`. It blocks the thread, and takes no lock for the caller: another process may
/// use the directory again at once.
///
/// # Errors
///
/// [`JournalError::Disk`] if the lock cannot be awaited.
pub fn wait_until_free(directory: impl AsRef<Path>) -> Result<(), JournalError> {
    let path = directory.as_ref().join(LOCK);
    let waited = File::open(&path).and_then(|file| file.lock_shared().and_then(|()| file.unlock()));
    waited.map_err(|why| JournalError::disk(&path, "waiting for the lock of", &why))
}

/// Returns the line of an acknowledged head. Its length never changes, so no part of an earlier one stays.
fn noted(head: Head) -> String {
    format!("{:020}:{}\n", head.sequence, head.hash)
}

/// Replaces the content. At no moment the file is empty, and it needs no more room than before: on a disk that another
/// process fills up, the acknowledged head stays known.
fn say(file: &mut dyn DiskFile, what: &str) -> io::Result<()> {
    file.overwrite(0, what.as_bytes())?;
    file.truncate(u64::try_from(what.len()).unwrap_or_default())?;
    file.sync()
}
