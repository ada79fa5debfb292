//! Directories as they were read, and whether they still are what they were.
//!
//! What a directory holds has not changed if its change time has not, which nobody but the kernel sets. So a directory is
//! asked for its state and not read again; what lies below it is asked too, since that changes no directory above.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
    time::Duration,
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat, fstat, fstatfs, openat, openat2, statat},
    io::Errno,
    time::{ClockId, clock_gettime},
};

use crate::{edge::sandbox::Profile, model::makes_a_repository};

/// The place of the root in a tree.
pub(super) const ROOT: usize = 0;

/// The place of every directory that there is no room for. It is never known.
pub(super) const CROWD: usize = 1;

/// More directories than this are not remembered.
pub(super) const MOST_REMEMBERED: usize = 200_000;

/// A directory that was changed less than this before it was read may change again without its time telling.
const SETTLED: Duration = Duration::from_secs(2);

/// File systems of this machine's own, whose change times are the kernel's: ext, XFS, Btrfs, tmpfs.
pub(super) const LOCAL: [i64; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994];

/// How much of a directory is read at once.
const AT_ONCE: usize = 32 << 10;

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

    /// True if it was last changed long enough ago for another change to have another time.
    fn is_settled(&self) -> bool {
        let now = clock_gettime(ClockId::Realtime);
        let (seconds, nanoseconds) = self.changed;
        let since = (now.tv_sec - seconds).saturating_mul(1_000_000_000) + (now.tv_nsec - nanoseconds);
        u128::try_from(since).is_ok_and(|since| since >= SETTLED.as_nanos())
    }
}

/// What is of interest among the entries of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) count: usize,
    pub(super) is_repository: bool,
    pub(super) sensitive: Vec<(OsString, FileType)>,
    /// Each with its place in the tree.
    pub(super) directories: Vec<(OsString, usize)>,
}

/// A directory, and the state in which it was read, if it may be in it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) known: Option<Known>,
    pub(super) entries: Entries,
}

/// The directories below one root.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// True if something is known that was not known before.
    pub(super) has_news: bool,
    /// Whether the file systems that were asked keep the times of changes themselves.
    local: HashMap<u64, bool>,
    buffer: Vec<MaybeUninit<u8>>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::of(vec![Node::default(), Node::default()])
    }
}

impl Tree {
    /// A tree of these, of which the first is the root, and the second nobody's.
    pub(super) fn of(nodes: Vec<Node>) -> Tree {
        Tree { nodes, has_news: false, local: HashMap::new(), buffer: Vec::new() }
    }

    pub(super) fn entries(&self, at: usize) -> &Entries {
        // INVARIANT: there is a node at each place that a directory has.
        self.nodes.get(at).map_or(&NOTHING.entries, |node| &node.entries)
    }

    pub(super) fn known(&self, at: usize) -> Option<Known> {
        // A directory with some below it that there was no room for is read each time.
        let is_whole = |node: &&Node| node.entries.directories.iter().all(|(_, child)| *child != CROWD);
        self.nodes.get(at).filter(is_whole)?.known
    }

    #[cfg(test)]
    pub(super) fn set_known(&mut self, at: usize, state: Known) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.known = Some(state);
        }
    }

    /// A directory that is known, and has none below it.
    pub(super) fn leaf(&self, at: usize) -> Option<(Known, &Entries)> {
        let node = self.nodes.get(at).filter(|node| node.entries.directories.is_empty())?;
        Some((node.known?, &node.entries))
    }

    /// Reads a directory, if it is not as it is known; and holds it.
    pub(super) fn visit(&mut self, at: usize, directory: &Path, profile: &Profile) -> Result<OwnedFd, Errno> {
        let held = opened(directory)?;
        let state = Known::of(&fstat(&held)?);
        if self.known(at) == Some(state) {
            return Ok(held);
        }
        let is_settled = state.is_settled() && self.is_local(&held, state.device)?;
        let mut entries = self.read(&held, directory, profile)?;
        // What changed while it was read is not what it is now.
        let is_same = is_settled && fstat(&held).is_ok_and(|now| Known::of(&now) == state);
        // The root changes with every command, for which places are held in it.
        let known = (is_same && at != CROWD && at != ROOT).then_some(state);
        self.place(at, &mut entries);
        self.has_news |= known.is_some();
        if let Some(node) = self.nodes.get_mut(at) {
            *node = Node { known, entries };
        }
        Ok(held)
    }

    /// Gives every directory among `entries` its place: the one that it had.
    fn place(&mut self, at: usize, entries: &mut Entries) {
        let before = self.nodes.get_mut(at).map(|node| std::mem::take(&mut node.entries.directories));
        let mut before: HashMap<OsString, usize> = before.unwrap_or_default().into_iter().collect();
        for (name, place) in &mut entries.directories {
            *place = before.remove(name).unwrap_or(CROWD);
            if *place == CROWD && self.nodes.len() < MOST_REMEMBERED {
                *place = self.nodes.len();
                self.nodes.push(Node::default());
            }
        }
    }

    fn is_local(&mut self, held: &OwnedFd, device: u64) -> Result<bool, Errno> {
        if let Some(is_local) = self.local.get(&device) {
            return Ok(*is_local);
        }
        let is_local = LOCAL.contains(&fstatfs(held)?.f_type);
        self.local.insert(device, is_local);
        Ok(is_local)
    }

    fn read(&mut self, held: &OwnedFd, directory: &Path, profile: &Profile) -> Result<Entries, Errno> {
        self.buffer.resize(AT_ONCE, MaybeUninit::uninit());
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
            let is_sensitive = profile.is_sensitive_name(&name, &above, depth);
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
            if is_sensitive {
                found.sensitive.push((own(), kind));
            } else if kind == FileType::Directory {
                found.directories.push((own(), CROWD));
            }
        }
        let has = |wanted: &str| of_repository.iter().any(|name| name == wanted);
        found.is_repository = has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
        Ok(found)
    }
}

static NOTHING: Node = Node {
    known: None,
    entries: Entries { count: 0, is_repository: false, sensitive: Vec::new(), directories: Vec::new() },
};

/// A directory, to be read, in which no link leads elsewhere.
fn opened(directory: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, directory, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS) => openat(CWD, directory, flags, Mode::empty()),
        answer => answer,
    }
}
