//! The lock of a state directory. After an orderly end, its file says where the records ended.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::{
    JournalError,
    files::{Files, write_all},
    hash_chain::Head,
};
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
    /// The process was killed or still runs, or there was none.
    Unknown,
}

impl LastEnd {
    fn of(content: &[u8]) -> LastEnd {
        let told = str::from_utf8(content).ok().and_then(|text| text.strip_suffix('\n')?.strip_prefix(CLOSED));
        match told {
            Some("") => LastEnd::Orderly,
            Some(end) => end.strip_prefix(' ').and_then(|end| end.parse().ok()).map_or(LastEnd::Unknown, LastEnd::At),
            None => LastEnd::Unknown,
        }
    }

    /// Returns true if no write was interrupted.
    pub(super) fn is_orderly(self) -> bool {
        self != LastEnd::Unknown
    }
}

/// The end that the last process promised, compared with the records.
#[derive(Debug)]
pub(super) struct Promised {
    end: Option<Head>,
    /// The event with the number of the end, if it is another one.
    other: Option<Head>,
}

impl Promised {
    /// Returns the promise of an orderly end. Every other end promises nothing.
    pub(super) fn by(last_end: LastEnd) -> Promised {
        let end = match last_end {
            LastEnd::At(head) => Some(head),
            LastEnd::Orderly | LastEnd::Unknown => None,
        };
        Promised { end, other: None }
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
}

impl Lock {
    /// Locks the directory for this process, and returns the end of its last process. The file stays as it is until
    /// [`Lock::hold`]: what it says of the end is needed again if the records turn out to be damaged.
    pub(super) fn take(files: &Files) -> Result<(Lock, LastEnd), JournalError> {
        let (path, failed) = (files.path(LOCK), files.failed(LOCK, "locking"));
        let Some(file) = files.disk.lock(&path).map_err(&failed)? else {
            let holder = files.disk.read(&path).unwrap_or_default();
            let pid = str::from_utf8(&holder).ok().and_then(|text| text.trim().parse().ok());
            return Err(JournalError::InUse { directory: files.directory.clone(), pid });
        };
        let last_end = LastEnd::of(&files.disk.read(&path).map_err(&failed)?);
        Ok((Lock { file, path }, last_end))
    }

    /// Names this process as the owner of the directory, before it changes anything in it.
    pub(super) fn hold(&mut self, files: &Files) -> Result<(), JournalError> {
        let pid = format!("{}\n", std::process::id());
        files.with_reserve(|| say(&mut *self.file, &pid)).map_err(files.failed(LOCK, "locking"))
    }

    /// Returns true if the directory still has this lock. Another process could take a lock in its place.
    pub(super) fn is_in_force(&self) -> io::Result<bool> {
        self.file.is_at(&self.path)
    }

    /// Records the orderly end of the records at `head`. If this fails, the next opening only takes a little longer.
    pub(super) fn let_go(mut self, head: Head) {
        let _ = say(&mut *self.file, &format!("{CLOSED} {head}\n"));
    }
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
    let waited = File::open(&path).and_then(|file| file.lock_shared());
    waited.map_err(|why| JournalError::disk(&path, "waiting for the lock of", &why))
}

fn say(file: &mut dyn DiskFile, what: &str) -> io::Result<()> {
    file.truncate(0)?;
    write_all(file, what.as_bytes())?;
    file.sync()
}
