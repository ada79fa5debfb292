//! A disk in memory that fails on demand, and loses unsynced data in a power cut.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use bestow::journal::{Disk, DiskFile};

/// A fault of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The disk is full, and half of the data is written.
    Full,
    /// The disk fails once.
    Once,
    /// Half of the data is written, and the rest with the next call.
    Short,
    /// From here on no data reaches the disk: the process is gone, or the power.
    Power,
}

/// A counted call. Only calls that change the disk are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Write,
    Sync,
    Allocate,
    Other,
}

#[derive(Debug, Default)]
pub(crate) struct FakeDisk(Arc<Mutex<Content>>);

#[derive(Clone, Debug, Default)]
struct Content {
    files: BTreeMap<PathBuf, usize>,
    /// The names that exist after a power cut.
    names: BTreeMap<PathBuf, usize>,
    nodes: Vec<Node>,
    calls: Vec<Call>,
    faults: BTreeMap<usize, Fault>,
    /// The kind of calls that fail from now on: only the next one, or all of them.
    failing: Option<(Call, Fault, bool)>,
    is_off: bool,
    /// The number of bytes that fit, if it is limited.
    room: Option<usize>,
    /// The call before which another process begins to fill the disk. From then on it takes all room at once, also the
    /// room that is freed.
    filled_from: Option<usize>,
    /// True if no file can own space ahead of time.
    allocates_nothing: bool,
    /// The names of the files that were read as a whole.
    whole_reads: Vec<String>,
    locked: bool,
    directory_locked: bool,
    /// True if the directory was renamed or removed.
    is_moved: bool,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// Shared by all copies of the disk until it changes.
    seen: Arc<Vec<u8>>,
    synced: Arc<Vec<u8>>,
    /// The number of bytes whose space belongs to the file.
    allocated: usize,
    /// The ranges that were visible when a sync failed. The disk treats them as written, but they are not.
    forgotten: Vec<std::ops::Range<usize>>,
}

/// The smallest part of the space that a file has or has not.
const BLOCK: usize = 512;

impl Node {
    fn used(&self) -> usize {
        self.seen.len().max(self.allocated).next_multiple_of(BLOCK)
    }
}

impl FakeDisk {
    pub(crate) fn new() -> Arc<FakeDisk> {
        Arc::default()
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap()
    }

    /// Makes the call with this number, from 0, fail with `fault`.
    pub(crate) fn fail(&self, call: usize, fault: Fault) {
        self.lock().faults.insert(call, fault);
    }

    /// Makes the next call of this kind fail.
    pub(crate) fn fail_next(&self, kind: Call, fault: Fault) {
        self.lock().failing = Some((kind, fault, false));
    }

    /// Makes every call of this kind fail, until [`FakeDisk::forgive`].
    pub(crate) fn fail_all(&self, kind: Call, fault: Fault) {
        self.lock().failing = Some((kind, fault, true));
    }

    /// Lets no later call fail.
    pub(crate) fn forgive(&self) {
        let mut content = self.lock();
        content.faults.clear();
        content.failing = None;
    }

    /// Forgets which files were read as a whole.
    pub(crate) fn forget_whole_reads(&self) {
        self.lock().whole_reads.clear();
    }

    /// Returns the names of the files that were read as a whole since then.
    pub(crate) fn whole_reads(&self) -> Vec<String> {
        self.lock().whole_reads.clone()
    }

    /// Returns the calls until now.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// Limits the total size to this many bytes from now on.
    pub(crate) fn room(&self, bytes: Option<usize>) {
        self.lock().room = bytes;
    }

    pub(crate) fn used(&self) -> usize {
        self.lock().used()
    }

    /// Lets another process fill the disk before the call with this number, and keep it full.
    pub(crate) fn fill_before(&self, call: usize) {
        self.lock().filled_from = Some(call);
    }

    /// Lets the other process free its space.
    pub(crate) fn empty(&self) {
        self.lock().filled_from = None;
    }

    /// Returns true if another process has filled the disk.
    pub(crate) fn is_filled(&self) -> bool {
        self.lock().is_filled()
    }

    /// Makes the disk one that cannot give space to a file ahead of time.
    pub(crate) fn allocate_nothing(&self) {
        self.lock().allocates_nothing = true;
    }

    pub(crate) fn read_file(&self, name: &str) -> Vec<u8> {
        let content = self.lock();
        content.nodes[content.files[Path::new("/state").join(name).as_path()]].seen.to_vec()
    }

    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) {
        let mut content = self.lock();
        let path = Path::new("/state").join(name);
        let seen = Arc::new(bytes.to_vec());
        content.nodes.push(Node { synced: Arc::clone(&seen), seen, ..Node::default() });
        let node = content.nodes.len() - 1;
        content.files.insert(path.clone(), node);
        content.names.insert(path, node);
    }

    /// Renames or removes the directory, with everything in it.
    pub(crate) fn move_directory(&self) {
        self.lock().is_moved = true;
    }

    /// Gives a file another name, as another process does.
    pub(crate) fn rename_file(&self, name: &str, to: &str) {
        let [from, to] = [name, to].map(|name| Path::new("/state").join(name));
        let mut content = self.lock();
        let content = &mut *content;
        for names in [&mut content.files, &mut content.names] {
            if let Some(node) = names.remove(&from) {
                names.insert(to.clone(), node);
            }
        }
    }

    pub(crate) fn remove_file(&self, name: &str) {
        let path = Path::new("/state").join(name);
        let mut content = self.lock();
        content.files.remove(&path);
        content.names.remove(&path);
    }

    /// Returns the disk as another process finds it: with all written data.
    pub(crate) fn copy(&self) -> Arc<FakeDisk> {
        let mut content = self.lock().clone();
        content.faults.clear();
        content.failing = None;
        content.calls.clear();
        (content.room, content.filled_from) = (None, None);
        (content.is_off, content.locked, content.directory_locked) = (false, false, false);
        Arc::new(FakeDisk(Arc::new(Mutex::new(content))))
    }

    /// Returns the disk after a power cut: the synced names, the synced data of each file, and a random selection of
    /// the other sectors, by `chance`.
    pub(crate) fn after_power_cut(&self, chance: &mut impl FnMut() -> bool) -> Arc<FakeDisk> {
        const SECTOR: usize = 64;
        let copy = self.copy();
        let mut content = copy.lock();
        // A name that was not synced may exist or not.
        let mut names = content.names.clone();
        for (path, node) in &content.files {
            if names.get(path) != Some(node) && chance() {
                names.insert(path.clone(), *node);
            }
        }
        let now: Vec<_> = names.keys().filter(|path| !content.files.contains_key(*path)).cloned().collect();
        for path in now {
            if chance() {
                names.remove(&path);
            }
        }
        for node in &mut content.nodes {
            let mut left = node.synced.to_vec();
            if node.seen.len() >= left.len() && node.seen.starts_with(&left) {
                let more = node.seen[left.len()..].to_vec();
                let keep = more.chunks(SECTOR).map(|_| chance()).collect::<Vec<_>>();
                let length =
                    keep.iter().rposition(|kept| *kept).map_or(0, |last| ((last + 1) * SECTOR).min(more.len()));
                for (sector, kept) in more[..length].chunks(SECTOR).zip(keep) {
                    left.extend(if kept { sector.to_vec() } else { vec![0; sector.len()] });
                }
            } else if chance() {
                left = node.seen.to_vec();
            }
            let left = Arc::new(left);
            (node.seen, node.synced, node.allocated) = (Arc::clone(&left), left, 0);
            node.forgotten.clear();
        }
        content.files = names.clone();
        content.names = names;
        drop(content);
        copy
    }
}

impl Content {
    fn used(&self) -> usize {
        self.files.values().map(|node| self.nodes[*node].used()).sum()
    }

    fn is_filled(&self) -> bool {
        self.filled_from.is_some_and(|call| call < self.calls.len())
    }

    fn room_left(&self) -> usize {
        if self.is_filled() { 0 } else { self.room.map_or(usize::MAX, |room| room.saturating_sub(self.used())) }
    }

    /// Returns the number of bytes to which a file can grow.
    fn end_of_room(&self, node: usize) -> usize {
        self.nodes[node].used().saturating_add(self.room_left())
    }

    /// Counts a call, and returns its fault.
    fn called(&mut self, call: Call) -> io::Result<Option<Fault>> {
        if self.is_off {
            return Err(io::Error::other("there is no power"));
        }
        let number = self.calls.len();
        self.calls.push(call);
        let of_kind = self.failing.filter(|(kind, ..)| *kind == call);
        self.failing = self.failing.filter(|(_, _, all)| *all || of_kind.is_none());
        match self.faults.get(&number).copied().or(of_kind.map(|(_, fault, _)| fault)) {
            Some(Fault::Power) => {
                self.is_off = true;
                Err(io::Error::other("there is no power"))
            }
            Some(Fault::Once) => Err(io::Error::other("the disk fails")),
            Some(Fault::Full) if call != Call::Write => Err(io::ErrorKind::StorageFull.into()),
            other => Ok(other),
        }
    }
}

#[derive(Debug)]
struct FakeFile {
    content: Arc<Mutex<Content>>,
    node: usize,
    is_lock: bool,
}

impl Drop for FakeFile {
    fn drop(&mut self) {
        if self.is_lock {
            self.content.lock().unwrap().locked = false;
        }
    }
}

/// The lock of the directory.
#[derive(Debug)]
struct FakeDirectory(Arc<Mutex<Content>>);

impl Drop for FakeDirectory {
    fn drop(&mut self) {
        self.0.lock().unwrap().directory_locked = false;
    }
}

impl DiskFile for FakeDirectory {
    fn len(&self) -> io::Result<u64> {
        Err(io::ErrorKind::IsADirectory.into())
    }

    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::IsADirectory.into())
    }

    fn overwrite(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::IsADirectory.into())
    }

    fn allocate(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::IsADirectory.into())
    }

    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::IsADirectory.into())
    }

    fn sync(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::IsADirectory.into())
    }

    /// Returns false if the directory was replaced.
    fn is_at(&self, _: &Path) -> io::Result<bool> {
        Ok(!self.0.lock().unwrap().is_moved)
    }
}

impl DiskFile for FakeFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.content.lock().unwrap().nodes[self.node].seen.len() as u64)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut content = self.content.lock().unwrap();
        let fault = content.called(Call::Write)?;
        let room = content.end_of_room(self.node).saturating_sub(content.nodes[self.node].seen.len());
        let half = matches!(fault, Some(Fault::Full | Fault::Short));
        let count = if half { bytes.len().div_ceil(2) } else { bytes.len() }.min(room);
        Arc::make_mut(&mut content.nodes[self.node].seen).extend(&bytes[..count]);
        if count == 0 || fault == Some(Fault::Full) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(count)
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        content.called(Call::Other)?;
        let (at, end) = (at as usize, at as usize + bytes.len());
        if content.end_of_room(self.node) < end {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let node = &mut content.nodes[self.node];
        let seen = Arc::make_mut(&mut node.seen);
        seen.resize(seen.len().max(end), 0);
        seen[at..end].copy_from_slice(bytes);
        node.forgotten.retain(|range| range.start < at || end < range.end);
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        if content.allocates_nothing {
            return Err(io::ErrorKind::Unsupported.into());
        }
        content.called(Call::Allocate)?;
        if content.end_of_room(self.node) < bytes as usize {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let node = &mut content.nodes[self.node];
        node.allocated = node.allocated.max(bytes as usize);
        Ok(())
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        content.called(Call::Other)?;
        let node = &mut content.nodes[self.node];
        Arc::make_mut(&mut node.seen).truncate(bytes as usize);
        node.allocated = node.allocated.min(bytes as usize);
        node.forgotten.retain(|range| range.end <= bytes as usize);
        Ok(())
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        Ok(self.content.lock().unwrap().files.get(path) == Some(&self.node))
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        let called = content.called(Call::Sync);
        let is_off = content.is_off;
        let node = &mut content.nodes[self.node];
        match called {
            Ok(_) => {
                node.synced = Arc::clone(&node.seen);
                for range in &node.forgotten {
                    Arc::make_mut(&mut node.synced)[range.clone()].fill(0);
                }
                Ok(())
            }
            Err(why) => {
                // Linux does not retry a failed write-back either.
                if !is_off && node.synced.len() < node.seen.len() {
                    node.forgotten.push(node.synced.len()..node.seen.len());
                }
                Err(why)
            }
        }
    }
}

impl Disk for FakeDisk {
    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn refuse_others(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let names = self.lock().files.keys().filter(|file| file.parent() == Some(path)).cloned().collect::<Vec<_>>();
        Ok(names.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut content = self.lock();
        content.whole_reads.push(path.file_name().unwrap().to_string_lossy().into_owned());
        let node = content.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(content.nodes[*node].seen.to_vec())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        let content = self.lock();
        let node = content.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(content.nodes[*node].seen.to_vec())))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut content = self.lock();
        content.called(Call::Other)?;
        if !content.files.contains_key(path) && content.room_left() == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let node = content.files.get(path).copied().unwrap_or_else(|| {
            content.nodes.push(Node::default());
            content.nodes.len() - 1
        });
        content.files.insert(path.to_owned(), node);
        drop(content);
        Ok(Box::new(FakeFile { content: Arc::clone(&self.0), node, is_lock: false }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut content = self.lock();
        content.called(Call::Other)?;
        let node = content.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        content.files.insert(to.to_owned(), node);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut content = self.lock();
        content.called(Call::Other)?;
        content.files.remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut content = self.lock();
        content.called(Call::Sync)?;
        let here: Vec<_> = content
            .files
            .iter()
            .filter(|(file, _)| file.parent() == Some(path))
            .map(|(file, node)| (file.clone(), *node))
            .collect();
        content.names.retain(|file, _| file.parent() != Some(path));
        content.names.extend(here);
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        if std::mem::replace(&mut FakeDisk::lock(self).locked, true) {
            return Ok(None);
        }
        let mut content = FakeDisk::lock(self);
        let node = content.files.get(path).copied().unwrap_or_else(|| {
            content.nodes.push(Node::default());
            content.nodes.len() - 1
        });
        content.files.insert(path.to_owned(), node);
        content.names.insert(path.to_owned(), node);
        drop(content);
        Ok(Some(Box::new(FakeFile { content: Arc::clone(&self.0), node, is_lock: true })))
    }

    fn lock_dir(&self, _: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        if std::mem::replace(&mut FakeDisk::lock(self).directory_locked, true) {
            return Ok(None);
        }
        Ok(Some(Box::new(FakeDirectory(Arc::clone(&self.0)))))
    }
}
