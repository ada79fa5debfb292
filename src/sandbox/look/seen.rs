//! The directories as they were read, and a check if they have changed since.
//!
//! The content of a directory has not changed if its change time has not, because only the kernel sets that time. The
//! search then checks the state of the directory and does not read it again. It also checks the directories below,
//! because their changes do not touch the ones above.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat, fstat, fstatfs, lstat, openat, openat2,
        statat,
    },
    io::Errno,
    time::{ClockId, clock_gettime},
};

use super::names::{Names, Why};
use crate::model::makes_a_repository;

/// The index of the root in a tree.
pub(super) const ROOT: usize = 0;

/// The index of all directories that have no node of their own, because the tree is full. Its state is never known.
pub(super) const CROWD: usize = 1;

/// The most directories that a tree remembers.
pub(super) const MOST_REMEMBERED: usize = 200_000;

/// The age at which a change counts as settled. A directory that was read sooner after its change may change again
/// within one step of its change time.
const SETTLED: Duration = Duration::from_secs(2);

/// Local file systems whose change times come from the kernel: ext, XFS, Btrfs, tmpfs.
pub(super) const LOCAL: [i64; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994];

/// The fewest directories that are examined on several threads.
const FEWEST_OF_THREADS: usize = 64;

/// The directories that a thread takes at once.
const OF_A_TURN: usize = 8;

/// The most threads that examine directories.
const MOST_THREADS: usize = 8;

/// The threads beside the first one.
static THREADS_BESIDE: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(2, usize::from).min(MOST_THREADS) - 1);

/// The size of the buffer for directory entries, in bytes.
const BUFFER: usize = 32 << 10;

/// The state of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) changed: (i64, i64),
}

impl Known {
    pub(super) fn of(stat: &Stat) -> Known {
        let nanoseconds = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
        Known { device: stat.st_dev, inode: stat.st_ino, changed: (stat.st_ctime, nanoseconds) }
    }

    /// Returns true if the last change is old enough: a further change would get another time.
    fn is_settled(&self) -> bool {
        let now = clock_gettime(ClockId::Realtime);
        let (seconds, nanoseconds) = self.changed;
        let since = (now.tv_sec - seconds).saturating_mul(1_000_000_000) + (now.tv_nsec - nanoseconds);
        u128::try_from(since).is_ok_and(|since| since >= SETTLED.as_nanos())
    }
}

/// The relevant entries of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) count: usize,
    pub(super) is_repository: bool,
    /// The names that the search looks for.
    pub(super) found: Vec<Found>,
    /// The directories in which the search continues.
    pub(super) directories: Vec<Below>,
}

/// A name that the search looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: OsString,
    pub(super) kind: FileType,
    pub(super) why: Why,
}

/// A directory in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Below {
    pub(super) name: OsString,
    /// The index in the tree.
    pub(super) at: usize,
    /// True if the directory cannot be written as a whole, so that only hidden names matter in it.
    pub(super) is_kept: bool,
}

/// A directory with its entries. `known` is the state in which it was read, if a later search can rely on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) known: Option<Known>,
    pub(super) entries: Entries,
}

/// A directory that is to be searched.
pub(super) struct Open {
    pub(super) path: PathBuf,
    /// The index in the tree.
    pub(super) at: usize,
    pub(super) depth: usize,
    /// True if the directory cannot be written, so that only hidden names matter in it.
    pub(super) is_kept: bool,
    /// The index of the part of the root to which the directory belongs.
    pub(super) part: usize,
}

/// The directories below one root.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// True if the tree has learned a state that was not known before.
    pub(super) has_news: bool,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::of(vec![Node::default(), Node::default()])
    }
}

impl Tree {
    /// Creates a tree from nodes. The first node is the root, and the second one stands for directories without a node
    /// of their own.
    pub(super) fn of(nodes: Vec<Node>) -> Tree {
        Tree { nodes, has_news: false }
    }

    pub(super) fn entries(&self, at: usize) -> &Entries {
        // INVARIANT: every index of a directory has a node.
        self.nodes.get(at).map_or(&NOTHING.entries, |node| &node.entries)
    }

    pub(super) fn known(&self, at: usize) -> Option<Known> {
        // The directory is read each time if one of its directories has no node of its own.
        let is_whole = |node: &&Node| node.entries.directories.iter().all(|below| below.at != CROWD);
        self.nodes.get(at).filter(is_whole)?.known
    }

    #[cfg(test)]
    pub(super) fn set_known(&mut self, at: usize, state: Known) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.known = Some(state);
        }
    }

    /// Examines directories, on several threads if they are many. The result for each directory is its new content, or
    /// `None` if it has not changed since it was read.
    pub(super) fn examine(&self, all: &[Open], names: &Names<'_>) -> Vec<Result<Option<Node>, Errno>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut reader, mut done) = (Reader::default(), Vec::new());
            loop {
                let from = next.fetch_add(OF_A_TURN, Ordering::Relaxed);
                let Some(part) = all.get(from..all.len().min(from + OF_A_TURN)).filter(|part| !part.is_empty()) else {
                    return done;
                };
                let examined = part.iter().map(|open| self.examine_one(open.at, &open.path, names, &mut reader));
                done.extend((from..).zip(examined));
            }
        };
        let beside = if all.len() < FEWEST_OF_THREADS { 0 } else { *THREADS_BESIDE };
        // A directory whose thread failed counts as one that cannot be read.
        let mut told: Vec<_> = all.iter().map(|_| Err(Errno::IO)).collect();
        let done = thread::scope(|scope| {
            // Without a further thread, this one examines all directories.
            let beside: Vec<_> =
                (0..beside).filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
            let own = work();
            beside.into_iter().filter_map(|thread| thread.join().ok()).flatten().chain(own).collect::<Vec<_>>()
        });
        for (at, examined) in done {
            if let Some(told) = told.get_mut(at) {
                *told = examined;
            }
        }
        told
    }

    fn examine_one(
        &self,
        at: usize,
        directory: &Path,
        names: &Names<'_>,
        reader: &mut Reader,
    ) -> Result<Option<Node>, Errno> {
        let known = self.known(at);
        if known.is_some_and(|known| lstat(directory).is_ok_and(|stat| Known::of(&stat) == known)) {
            return Ok(None);
        }
        let held = opened(directory)?;
        let state = Known::of(&fstat(&held)?);
        if known == Some(state) {
            return Ok(None);
        }
        let is_settled = state.is_settled() && reader.is_local(&held, state.device)?;
        let entries = reader.read(&held, directory, names)?;
        // A directory that changed during the read may have other entries now.
        let is_same = is_settled && fstat(&held).is_ok_and(|now| Known::of(&now) == state);
        // Every command changes the root, because placeholders are created in it.
        let known = (is_same && at != CROWD && at != ROOT).then_some(state);
        Ok(Some(Node { known, entries }))
    }

    /// Takes the new content of a directory, if there is one.
    pub(super) fn take(&mut self, at: usize, node: Option<Node>) {
        let Some(mut node) = node else { return };
        self.place(at, &mut node.entries);
        self.has_news |= node.known.is_some();
        if let Some(there) = self.nodes.get_mut(at) {
            *there = node;
        }
    }

    /// Gives each directory among `entries` its index: the earlier one, or a new one.
    fn place(&mut self, at: usize, entries: &mut Entries) {
        let before = self.nodes.get_mut(at).map(|node| std::mem::take(&mut node.entries.directories));
        let before = before.unwrap_or_default().into_iter().map(|below| (below.name, below.at));
        let mut before: HashMap<OsString, usize> = before.collect();
        for Below { name, at, .. } in &mut entries.directories {
            *at = before.remove(name).unwrap_or(CROWD);
            if *at == CROWD && self.nodes.len() < MOST_REMEMBERED {
                *at = self.nodes.len();
                self.nodes.push(Node::default());
            }
        }
    }
}

/// A reader of directories, one for each thread.
#[derive(Default)]
struct Reader {
    /// For each device seen so far: true if its file system keeps change times itself.
    local: HashMap<u64, bool>,
    buffer: Vec<MaybeUninit<u8>>,
}

impl Reader {
    fn is_local(&mut self, held: &OwnedFd, device: u64) -> Result<bool, Errno> {
        if let Some(is_local) = self.local.get(&device) {
            return Ok(*is_local);
        }
        let is_local = LOCAL.contains(&fstatfs(held)?.f_type);
        self.local.insert(device, is_local);
        Ok(is_local)
    }

    fn read(&mut self, held: &OwnedFd, directory: &Path, names: &Names<'_>) -> Result<Entries, Errno> {
        self.buffer.resize(BUFFER, MaybeUninit::uninit());
        let above = directory.file_name().unwrap_or_default().to_string_lossy();
        let depth = directory.components().count().saturating_sub(1);
        let (mut found, mut of_repository) = (Entries::default(), Vec::new());
        let mut all = RawDir::new(held, &mut self.buffer);
        while let Some(entry) = all.next() {
            let entry = entry?;
            let bytes = entry.file_name().to_bytes();
            if matches!(bytes, b"." | b"..") {
                continue;
            }
            found.count += 1;
            let name = String::from_utf8_lossy(bytes);
            let why = names.why(directory, OsStr::from_bytes(bytes), &name, &above, depth);
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
            if !why.is_none() {
                found.found.push(Found { name: own(), kind, why });
            }
            if kind == FileType::Directory && !why.has(Why::HIDDEN) && (why.is_none() || names.hides()) {
                found.directories.push(Below { name: own(), at: CROWD, is_kept: !why.is_none() });
            }
        }
        let has = |wanted: &str| of_repository.iter().any(|name| name == wanted);
        found.is_repository = has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
        Ok(found)
    }
}

static NOTHING: Node = Node {
    known: None,
    entries: Entries { count: 0, is_repository: false, found: Vec::new(), directories: Vec::new() },
};

/// Opens a directory for reading. No link in its path is followed.
fn opened(directory: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, directory, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => openat(CWD, directory, flags, Mode::empty()),
        answer => answer,
    }
}
