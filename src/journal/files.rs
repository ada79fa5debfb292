//! The files of a state directory.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::JournalError;
use crate::ports::{Disk, DiskFile};

/// A file that is removed when the disk is full, so that restrictions can still be stored.
const RESERVE: &str = "RESERVE";

/// The size of the reserve. A journal owns as much space after its end, if the disk can do that.
pub(super) const RESERVED: u64 = 1 << 20;

/// The suffix of a file that is being written. Such a file does not count before it is complete and renamed.
const UNFINISHED: &str = ".new";

/// The file with the path of the policy file that the engine follows. It does not exist if the engine follows none.
pub(super) const FOLLOWS: &str = "FOLLOWS";

/// The file that keeps the directory out of git. It names itself, too.
const IGNORED_BY_GIT: &str = ".gitignore";

/// A state directory on some disk.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) directory: PathBuf,
}

/// The reason why a new file cannot be used.
#[derive(Debug)]
pub(super) enum NoFile {
    /// The file does not exist.
    NotCreated(io::Error),
    /// It is unknown if the file exists after a power cut.
    Unknown(io::Error),
}

impl NoFile {
    /// Returns the error of the disk.
    pub(super) fn why(self) -> io::Error {
        match self {
            NoFile::NotCreated(why) | NoFile::Unknown(why) => why,
        }
    }
}

/// Returns true if the disk has no room, or the user may use no more of it.
pub(super) fn is_full(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero)
}

/// The existing segments and snapshots, oldest first.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The numbers of the first events of the segments.
    pub(super) segments: Vec<u64>,
    /// The numbers of the last events in the snapshots.
    pub(super) snapshots: Vec<u64>,
    unfinished: Vec<String>,
    is_ignored_by_git: bool,
    /// True if there are files that an archive of records does not have.
    pub(super) has_other_files: bool,
}

impl Listing {
    /// Returns true if there are no records and no snapshots.
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.snapshots.is_empty()
    }

    /// Refuses a directory without the segment after its newest snapshot. That segment was begun before the snapshot
    /// was made.
    pub(super) fn refuse_lost_end(&self, files: &Files) -> Result<(), JournalError> {
        let Some(next) = self.snapshots.last().map(|newest| newest + 1) else { return Ok(()) };
        if self.segments.contains(&next) {
            return Ok(());
        }
        let (directory, name) = (files.directory.clone(), segment(next));
        let what = format!("the records from event {next} on, in `{name}`");
        Err(JournalError::Missing { directory, what, next: Some(next) })
    }
}

pub(super) fn segment(first: u64) -> String {
    format!("journal-{first:020}.jsonl")
}

pub(super) fn snapshot(sequence: u64) -> String {
    format!("snapshot-{sequence:020}.json")
}

/// Returns true for the names of files that a journal writes as a whole. Other programs keep files in the directory,
/// too: the server its credentials, and a ready file.
fn is_of_journal(name: &str) -> bool {
    name == FOLLOWS
        || number(name, "journal-", ".jsonl").or_else(|| number(name, "snapshot-", ".json")).is_some()
        || (name.starts_with("cut-") && name.ends_with(".jsonl"))
}

fn number(name: &str, before: &str, after: &str) -> Option<u64> {
    name.strip_prefix(before)?.strip_suffix(after).filter(|digits| digits.len() == 20)?.parse().ok()
}

/// Returns `cut-7.jsonl`, `cut-7-2.jsonl`, and so on without end.
fn names_like(name: &str) -> impl Iterator<Item = String> + '_ {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, "jsonl"));
    std::iter::once(name.to_owned()).chain((2_u64..).map(move |count| format!("{stem}-{count}.{end}")))
}

impl Files {
    /// Opens `directory`. Only its owner may be able to write it, and the owner must be the current user or root.
    pub(super) fn at(disk: Arc<dyn Disk>, directory: &Path) -> Result<Files, JournalError> {
        let refused = |why| JournalError::disk(directory, "using as a state directory", &why);
        disk.refuse_others(directory).map_err(refused)?;
        Ok(Files { disk, directory: directory.to_owned() })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(super) fn failed(&self, name: &str, tried: &str) -> impl Fn(io::Error) -> JournalError + use<> {
        let (path, tried) = (self.path(name), tried.to_owned());
        move |why| JournalError::disk(&path, &tried, &why)
    }

    pub(super) fn list(&self) -> Result<Listing, JournalError> {
        let mut listing = Listing::default();
        for name in self.names()? {
            let (segment, snapshot) = (number(&name, "journal-", ".jsonl"), number(&name, "snapshot-", ".json"));
            listing.segments.extend(segment);
            listing.snapshots.extend(snapshot);
            listing.is_ignored_by_git |= name == IGNORED_BY_GIT;
            if name.strip_suffix(UNFINISHED).is_some_and(is_of_journal) {
                listing.unfinished.push(name);
            } else {
                listing.has_other_files |= segment.or(snapshot).is_none();
            }
        }
        listing.segments.sort_unstable();
        listing.snapshots.sort_unstable();
        Ok(listing)
    }

    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, JournalError> {
        self.disk.read(&self.path(name)).map_err(self.failed(name, "reading"))
    }

    /// Replaces the file `name` by one with this content. After a crash, either the old or the new file is there as a
    /// whole.
    pub(super) fn write_whole(&self, name: &str, content: &[u8]) -> Result<(), JournalError> {
        self.replace(name, content).map_err(self.failed(name, "writing"))
    }

    /// Writes a whole file that a recovery needs. On a full disk, the reserve makes room for it.
    pub(super) fn recover(&self, name: &str, content: &[u8]) -> Result<(), JournalError> {
        self.with_reserve(|| self.replace(name, content)).map_err(self.failed(name, "writing"))
    }

    /// Writes `content`, the beginning of the file `name`, once more, and removes the rest. A disk that failed may have
    /// stored less of it than it shows. If a second file does not fit, the bytes are replaced by themselves.
    pub(super) fn rewrite(&self, name: &str, content: &[u8]) -> Result<(), JournalError> {
        let done = match self.replace(name, content) {
            Err(why) if is_full(&why) => self.with_reserve(|| self.rewrite_in_place(name, content)),
            done => done,
        };
        done.map_err(self.failed(name, "writing"))
    }

    fn rewrite_in_place(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut file = self.disk.append(&self.path(name))?;
        file.overwrite(0, content)?;
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if length < file.len()? {
            file.truncate(length)?;
        }
        file.sync()
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let unfinished = self.path(&format!("{name}{UNFINISHED}"));
        let written = self.write(&unfinished, content);
        if let Err(why) = written.and_then(|()| self.disk.rename(&unfinished, &self.path(name))) {
            // Without this, it would take up space on a full disk. The next start removes it as well.
            let _ = self.disk.remove(&unfinished);
            return Err(why);
        }
        self.disk.sync_dir(&self.directory)
    }

    /// Stores `content` in a new file called `name`, or `name` with a number if that is taken. Returns the name. A file
    /// that already has this content is reused.
    pub(super) fn write_aside(&self, name: &str, content: &[u8]) -> Result<String, JournalError> {
        let taken = self.names()?;
        for free in names_like(name) {
            if !taken.contains(&free) {
                self.recover(&free, content)?;
                return Ok(free);
            }
            // An earlier attempt was killed after writing this file. It counts as written.
            if self.read(&free)? == content {
                return Ok(free);
            }
        }
        Ok(name.to_owned())
    }

    /// Renames a file to `aside`, or to `aside` with a number if that is taken.
    pub(super) fn rename_aside(&self, name: &str, aside: &str) -> Result<(), JournalError> {
        let taken = self.names()?;
        let Some(free) = names_like(aside).find(|free| !taken.contains(free)) else { return Ok(()) };
        let renamed = self.disk.rename(&self.path(name), &self.path(&free));
        renamed.and_then(|()| self.disk.sync_dir(&self.directory)).map_err(self.failed(name, "setting aside"))
    }

    fn names(&self) -> Result<Vec<String>, JournalError> {
        let names = self.disk.list(&self.directory);
        names.map_err(|why| JournalError::disk(&self.directory, "reading", &why))
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = self.disk.append(path)?;
        file.truncate(0)?;
        write_all(&mut *file, content)?;
        file.sync()
    }

    /// Keeps the directory out of git: it has secrets, and records of what agents did.
    pub(super) fn hide_from_git(&self, listing: &Listing) {
        if !listing.is_ignored_by_git {
            // The records do not depend on it, and the next start tries again.
            let _ = self.write(&self.path(IGNORED_BY_GIT), b"*\n");
        }
    }

    /// Removes unfinished files of a journal whose process ended. They never counted.
    pub(super) fn clean(&self, listing: &Listing) -> Result<(), JournalError> {
        let mut names = listing.unfinished.iter();
        names.try_for_each(|name| self.disk.remove(&self.path(name)).map_err(self.failed(name, "removing")))
    }

    /// Creates a new file that owns [`RESERVED`] bytes, if the disk can do that. Makes it durable against a power cut.
    pub(super) fn begin(&self, name: &str) -> Result<Box<dyn DiskFile>, NoFile> {
        let path = self.path(name);
        let mut file = self.disk.append(&path).map_err(NoFile::NotCreated)?;
        let owned = file.truncate(0).and_then(|()| match file.allocate(RESERVED) {
            Err(why) if why.kind() == io::ErrorKind::Unsupported => Ok(()),
            done => done,
        });
        if let Err(why) = owned {
            return Err(match self.disk.remove(&path) {
                Ok(()) => NoFile::NotCreated(why),
                Err(_) => NoFile::Unknown(why),
            });
        }
        file.sync().and_then(|()| self.disk.sync_dir(&self.directory)).map_err(NoFile::Unknown)?;
        Ok(file)
    }

    /// Does `work`. If the disk is full, the reserve makes room, and the work is tried once more.
    pub(super) fn with_reserve<T>(&self, mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        match work() {
            Err(why) if is_full(&why) => {
                self.give_up_reserve();
                work()
            }
            done => done,
        }
    }

    /// Creates the reserve, or fills it up to 1 MiB.
    pub(super) fn reserve(&self) -> io::Result<()> {
        let mut file = self.disk.append(&self.path(RESERVE))?;
        let missing = RESERVED.saturating_sub(file.len()?);
        if missing == 0 {
            return Ok(());
        }
        // Zeros would not do: some file systems store them without using space.
        let more = vec![b'.'; usize::try_from(missing).unwrap_or_default()];
        let done = write_all(&mut *file, &more).and_then(|()| file.sync());
        drop(file);
        if let Err(why) = done {
            self.give_up_reserve();
            return Err(why);
        }
        self.disk.sync_dir(&self.directory)
    }

    /// Removes the reserve to make room. This fails only if there is no reserve, and then there is nothing to remove.
    pub(super) fn give_up_reserve(&self) {
        let _ = self.disk.remove(&self.path(RESERVE)).and_then(|()| self.disk.sync_dir(&self.directory));
    }
}

pub(super) fn write_all(file: &mut dyn DiskFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(())
}
