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
    is_off: bool,
    /// The number of bytes that fit, if it is limited.
    room: Option<usize>,
    locked: bool,
    directory_locked: bool,
    /// True if the directory was renamed or removed.
    is_moved: bool,
}

#[derive(Clone, Debug, Default)]
struct Node {
    seen: Vec<u8>,
    synced: Vec<u8>,
    /// The ranges that were visible when a sync failed. The disk treats them as written, but they are not.
    forgotten: Vec<std::ops::Range<usize>>,
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

    /// Returns the calls until now.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// Limits the total size to this many bytes from now on.
    pub(crate) fn room(&self, bytes: Option<usize>) {
        self.lock().room = bytes;
    }

    pub(crate) fn used(&self) -> usize {
        let content = self.lock();
        content.files.values().map(|node| content.nodes[*node].seen.len()).sum()
    }

    pub(crate) fn read_file(&self, name: &str) -> Vec<u8> {
        let content = self.lock();
        content.nodes[content.files[Path::new("/state").join(name).as_path()]].seen.clone()
    }

    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) {
        let mut content = self.lock();
        let path = Path::new("/state").join(name);
        content.nodes.push(Node { seen: bytes.to_vec(), synced: bytes.to_vec(), forgotten: Vec::new() });
        let node = content.nodes.len() - 1;
        content.files.insert(path.clone(), node);
        content.names.insert(path, node);
    }

    /// Renames or removes the directory, with everything in it.
    pub(crate) fn move_directory(&self) {
        self.lock().is_moved = true;
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
        content.calls.clear();
        content.room = None;
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
            let mut left = node.synced.clone();
            if node.seen.len() >= left.len() && node.seen.starts_with(&left) {
                let more = node.seen[left.len()..].to_vec();
                let keep = more.chunks(SECTOR).map(|_| chance()).collect::<Vec<_>>();
                let length =
                    keep.iter().rposition(|kept| *kept).map_or(0, |last| ((last + 1) * SECTOR).min(more.len()));
                for (sector, kept) in more[..length].chunks(SECTOR).zip(keep) {
                    left.extend(if kept { sector.to_vec() } else { vec![0; sector.len()] });
                }
            } else if chance() {
                left = node.seen.clone();
            }
            (node.seen, node.synced) = (left.clone(), left);
            node.forgotten.clear();
        }
        content.files = names.clone();
        content.names = names;
        drop(content);
        copy
    }
}

impl Content {
    fn room_left(&self) -> usize {
        let used: usize = self.files.values().map(|node| self.nodes[*node].seen.len()).sum();
        self.room.map_or(usize::MAX, |room| room.saturating_sub(used))
    }

    /// Counts a call, and returns its fault.
    fn called(&mut self, call: Call) -> io::Result<Option<Fault>> {
        if self.is_off {
            return Err(io::Error::other("there is no power"));
        }
        let number = self.calls.len();
        self.calls.push(call);
        match self.faults.get(&number).copied() {
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
        let room = content.room_left();
        let fault = content.called(Call::Write)?;
        let half = matches!(fault, Some(Fault::Full | Fault::Short));
        let count = if half { bytes.len().div_ceil(2) } else { bytes.len() }.min(room);
        content.nodes[self.node].seen.extend(&bytes[..count]);
        if count == 0 || fault == Some(Fault::Full) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(count)
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        content.called(Call::Other)?;
        let seen = &mut content.nodes[self.node].seen;
        let (at, end) = (at as usize, at as usize + bytes.len());
        seen.resize(seen.len().max(end), 0);
        seen[at..end].copy_from_slice(bytes);
        Ok(())
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        content.called(Call::Other)?;
        let node = &mut content.nodes[self.node];
        node.seen.truncate(bytes as usize);
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
                node.synced = node.seen.clone();
                node.forgotten.iter().for_each(|range| node.synced[range.clone()].fill(0));
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
        let content = self.lock();
        let node = content.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(content.nodes[*node].seen.clone())
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
