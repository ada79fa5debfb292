//! The writing thread: it writes all waiting batches at once, syncs once, and then acknowledges them.

use std::{
    collections::VecDeque,
    io, mem,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
};

use super::{
    JournalError,
    files::{Files, NoFile, is_full, segment, write_all},
    hash_chain::Head,
    line,
    lock::Lock,
    queue::Queue,
    room::Room,
    snapshot::{self, Base, Covered},
};
use crate::{
    model::Escaped,
    ports::{Batch, DiskFile, StoreFault},
};

/// The state of the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    files: Files,
    lock: Lock,
    file: Box<dyn DiskFile>,
    /// The first event of the open segment.
    first: u64,
    /// The end of the finished segments.
    finished: Head,
    /// The number of synced bytes in the open segment.
    length: u64,
    room: Room,
    head: Head,
    limit: u64,
    /// True if there is no reserve, and the disk has not been seen to have room since.
    is_full: bool,
    /// The reason why writing has stopped for good.
    broken: Option<String>,
    /// The number of failures reported to the engine.
    failures: u64,
    /// The number of bytes in finished segments that no snapshot covers.
    loose: u64,
    snapshot: Snapshots,
}

/// The thread that makes snapshots, one at a time.
#[derive(Debug, Default)]
struct Snapshots {
    busy: Arc<AtomicBool>,
    /// The size of the last snapshot.
    size: Arc<AtomicU64>,
    /// The state at the last snapshot, if it is small.
    base: Arc<Mutex<Option<Base>>>,
    /// The steps since the last snapshot, if they are few and the state is small.
    batches: Vec<Arc<Batch>>,
    thread: Option<JoinHandle<()>>,
}

/// The largest snapshot whose state is kept for the next one.
const SMALL: u64 = 16 << 20;

impl Snapshots {
    /// Keeps the steps of a group for the next snapshot. `loose` is the size of the finished segments that wait for it.
    fn hear(&mut self, group: &[Arc<Batch>], loose: u64) {
        if SMALL < self.size.load(Ordering::Relaxed) || SMALL < loose {
            // Then the next snapshot reads its segments: these steps lead to nothing.
            self.batches = Vec::new();
        } else {
            self.batches.extend(group.iter().cloned());
        }
    }
}

impl Writer {
    pub(super) fn new(
        files: Files,
        lock: Lock,
        file: Box<dyn DiskFile>,
        first: u64,
        head: Head,
        limit: u64,
        covered: Covered,
    ) -> Result<Writer, JournalError> {
        let length = file.len().map_err(files.failed(&segment(first), "reading the size of"))?;
        // Without a reserve, nothing is given before the disk is seen to have room.
        let is_full = files.reserve().is_err();
        let snapshot = Snapshots { size: Arc::new(AtomicU64::new(covered.snapshot)), ..Snapshots::default() };
        let mut writer = Writer {
            files,
            lock,
            file,
            first,
            finished: covered.finished,
            length,
            room: Room::of(length, limit),
            head,
            limit,
            is_full,
            broken: None,
            failures: 0,
            loose: covered.loose,
            snapshot,
        };
        // If the disk is full, the reserve gives its space to the segment.
        if let Err(why) = writer.room.own_with_reserve(&mut *writer.file, length) {
            writer.give_up_reserve(&why);
            let _ = writer.room.own_with_reserve(&mut *writer.file, length);
        }
        if 0 < covered.loose {
            writer.take_snapshot_if_due();
        }
        Ok(writer)
    }

    /// Returns the end of the synced records.
    pub(super) fn head(&self) -> Head {
        self.head
    }

    /// Writes until the journal closes.
    pub(super) fn run(mut self, queue: &Queue) {
        while let Some(batches) = queue.next() {
            self.take(batches, queue);
        }
        if let Some(thread) = self.snapshot.thread.take() {
            let _ = thread.join();
        }
        if self.broken.is_none() {
            self.lock.let_go(self.head);
        }
    }

    fn take(&mut self, batches: VecDeque<Arc<Batch>>, queue: &Queue) {
        // A batch that was decided on top of a failed one is void, and the engine knows that.
        let known = self.failures;
        let group: Vec<_> = batches.into_iter().filter(|batch| batch.failures == known).collect();
        self.write_or_fail(&group, queue);
    }

    fn has_room_again(&mut self) -> bool {
        let owned = self.room.own_with_reserve(&mut *self.file, self.length);
        self.is_full = owned.is_err() || self.files.reserve().is_err();
        !self.is_full
    }

    /// Makes sure that `bytes` more bytes have room. Steps that give permissions leave the reserve to those that take
    /// them away.
    fn make_room(&mut self, bytes: u64, only_takes: bool) -> Result<(), String> {
        if self.is_full && !only_takes && !self.has_room_again() {
            return Err("the disk is full".to_owned());
        }
        let end = self.length.saturating_add(bytes);
        let Err(why) = self.room.own_with_reserve(&mut *self.file, end) else { return Ok(()) };
        if only_takes {
            if let Err(why) = self.room.own(&mut *self.file, end) {
                self.give_up_reserve(&why);
                // If even that was not enough, the write fails.
                let _ = self.room.own(&mut *self.file, end);
            }
            return Ok(());
        }
        self.is_full |= is_full(&why);
        Err(if self.is_full { "the disk is full".to_owned() } else { format!("allocating space failed: {why}") })
    }

    /// Removes the reserve, if the disk is full.
    fn give_up_reserve(&mut self, why: &io::Error) {
        if is_full(why) {
            self.files.give_up_reserve();
            self.is_full = true;
        }
    }

    /// Writes a group. If that fails, the steps at its beginning that only take permissions away are written alone.
    /// They do not fail because of one that gives some.
    fn write_or_fail(&mut self, group: &[Arc<Batch>], queue: &Queue) {
        let Err(why) = self.write_and_tell(group, queue) else { return };
        let taking = group.get(..only_taking(group)).unwrap_or_default();
        if self.broken.is_none() && taking.len() < group.len() {
            // If this fails too, the whole group has failed.
            let _ = self.write_and_tell(taking, queue);
        }
        let why = self.broken.clone().unwrap_or(why);
        let fault = if self.broken.is_some() { StoreFault::Broken } else { StoreFault::Refused };
        self.fail(&why, fault, queue);
    }

    fn write_and_tell(&mut self, group: &[Arc<Batch>], queue: &Queue) -> Result<(), String> {
        let Some(last) = group.last().map(|batch| batch.last()) else { return Ok(()) };
        if let Some(why) = self.broken.clone() {
            return Err(why);
        }
        self.write(group)?;
        queue.synced_up_to(self.head);
        queue.stored(last);
        Ok(())
    }

    fn fail(&mut self, why: &str, fault: StoreFault, queue: &Queue) {
        self.failures += 1;
        let place = self.files.directory.to_string_lossy().into_owned();
        let way_out = match fault {
            StoreFault::Refused if self.is_full => "free some space; then the engine continues by itself",
            StoreFault::Refused => "the next change tries again; if it fails too, repair the disk",
            StoreFault::Broken => {
                "repair the disk, then restart; until then it is unknown if the last change is stored"
            }
        };
        queue.failed(&format!("`{}`: {why}: {way_out}", Escaped(&place)), fault);
    }

    /// Writes and syncs the whole group, or nothing of it. On an error, either the file is restored or writing stops
    /// for good.
    fn write(&mut self, group: &[Arc<Batch>]) -> Result<(), String> {
        if self.limit <= self.length {
            self.begin_segment()?;
        }
        let mut lines = Vec::new();
        let (mut head, start) = (self.head, group.first().map_or(0, |batch| batch.first));
        if start != head.sequence + 1 {
            return Err(self.break_off(format!("event {start} cannot follow event {}", head.sequence)));
        }
        for batch in group {
            let hash = line::write(&mut lines, batch, start, head.hash).map_err(|why| why.to_string())?;
            head = Head { sequence: batch.last(), hash };
        }
        self.refuse_if_removed()?;
        let bytes = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        self.make_room(bytes, group.iter().all(|batch| batch.only_takes))?;
        if let Err(why) = write_all(&mut *self.file, &lines) {
            return Err(self.undo(&why));
        }
        if let Err(why) = self.file.sync() {
            // The content of the disk is unknown now, and another sync would not reveal it. If the disk still can, it
            // forgets what nobody was told.
            let _ = self.file.truncate(self.length);
            return Err(self.break_off(format!("it is unknown which bytes reached the disk: {why}")));
        }
        self.refuse_if_removed()?;
        self.lock.note(head);
        self.head = head;
        self.snapshot.hear(group, self.loose);
        self.length += bytes;
        Ok(())
    }

    /// Stops writing for good. Returns the reason.
    fn break_off(&mut self, why: String) -> String {
        self.broken = Some(why.clone());
        why
    }

    /// Stops writing if another process removed, moved or replaced the files. No later engine would find what was
    /// written to them.
    fn refuse_if_removed(&mut self) -> Result<(), String> {
        let path = self.files.path(&segment(self.first));
        match self.file.is_at(&path).and_then(|is_there| Ok(is_there && self.lock.is_in_force()?)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.break_off("its files were removed or moved while the engine used them".to_owned())),
            Err(why) => Err(self.break_off(format!("it is unknown if its files are still there: {why}"))),
        }
    }

    /// Removes a partial write, so that no later line is appended to it.
    fn undo(&mut self, why: &io::Error) -> String {
        let undone = self.file.truncate(self.length).and_then(|()| self.file.sync());
        if let Err(worse) = undone {
            return self.break_off(format!("writing failed ({why}), and undoing it failed too: {worse}"));
        }
        self.room.truncated(self.length);
        self.give_up_reserve(why);
        format!("writing failed: {why}")
    }

    /// Begins a new segment. If the disk has no room for it, the old segment goes on.
    fn begin_segment(&mut self) -> Result<(), String> {
        let first = self.head.sequence + 1;
        let file = match self.files.begin(&segment(first)) {
            Ok(file) => file,
            Err(NoFile::NotCreated(_)) => return Ok(()),
            Err(NoFile::Unknown(why)) => {
                return Err(self.break_off(format!("it is unknown if a new file reached the disk: {why}")));
            }
        };
        // The finished segment needs no more room. If this fails, it only keeps space that nobody uses.
        let _ = self.file.truncate(self.length);
        self.loose = self.loose.saturating_add(self.length);
        self.finished = self.head;
        (self.file, self.room) = (file, Room::of(0, self.limit));
        (self.first, self.length) = (first, 0);
        self.take_snapshot_if_due();
        Ok(())
    }

    /// Starts a snapshot if the finished segments that no snapshot covers are at least half as large as the last one.
    fn take_snapshot_if_due(&mut self) {
        if self.snapshot.size.load(Ordering::Relaxed) / 2 <= self.loose {
            self.take_snapshot();
        }
    }

    /// Starts a snapshot of the finished segments, unless one is in progress. If it fails, the journal is still
    /// complete, and the next snapshot tries again.
    fn take_snapshot(&mut self) {
        if self.snapshot.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        self.loose = 0;
        let (files, end, batches) = (self.files.clone(), self.finished, mem::take(&mut self.snapshot.batches));
        let (busy, size) = (Arc::clone(&self.snapshot.busy), Arc::clone(&self.snapshot.size));
        let base = Arc::clone(&self.snapshot.base);
        let take = move || {
            let mut base = base.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(Some((bytes, next))) = snapshot::compact(&files, end, base.take(), &batches) {
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                size.store(bytes, Ordering::Relaxed);
                *base = (bytes <= SMALL).then_some(next);
            }
            busy.store(false, Ordering::Release);
        };
        self.snapshot.thread = thread::Builder::new().name("bestow-snapshot".to_owned()).spawn(take).ok();
    }
}

/// Returns the number of steps at the beginning of a group that give no permission.
fn only_taking(group: &[Arc<Batch>]) -> usize {
    group.iter().take_while(|batch| batch.only_takes).count()
}
