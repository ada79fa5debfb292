//! Concurrent writers on a disk whose sync takes a millisecond: bestow beside a bare group commit of the same bytes.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bestow::{
    Engine,
    host::{AsWritten, SystemClock},
    journal::{Disk, DiskFile, Journal, RealDisk, SEGMENT},
};
use tokio::sync::oneshot;

/// The time of a sync.
const SYNC: Duration = Duration::from_millis(1);

/// The callers that are measured.
const CALLERS: [usize; 4] = [1, 8, 64, 512];

/// The rounds of each number of callers. Both sides take turns, and the best round of each counts.
const ROUNDS: usize = 3;

/// The real disk, with a sync that only takes time. The directory is thrown away anyway.
#[derive(Debug)]
struct SlowDisk;

#[derive(Debug)]
struct SlowFile(Box<dyn DiskFile>);

impl Disk for SlowDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn refuse_others(&self, path: &Path) -> io::Result<()> {
        RealDisk.refuse_others(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealDisk.read(path)
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(SlowFile(RealDisk.append(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        std::thread::sleep(SYNC);
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        RealDisk.lock(path)
    }

    fn lock_dir(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        RealDisk.lock_dir(path)
    }
}

impl DiskFile for SlowFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.overwrite(at, bytes)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.0.truncate(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        std::thread::sleep(SYNC);
        Ok(())
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        self.0.is_at(path)
    }
}

/// A thread that writes what waits, syncs once, and acknowledges: the least that a durable engine can do.
#[derive(Default)]
struct Bare {
    waiting: Mutex<Vec<(Vec<u8>, oneshot::Sender<()>)>>,
    bell: Condvar,
    ending: AtomicBool,
}

impl Bare {
    fn write(&self, mut file: File) {
        loop {
            let mut waiting = self.waiting.lock().unwrap();
            while waiting.is_empty() {
                if self.ending.load(Ordering::Relaxed) {
                    return;
                }
                waiting = self.bell.wait_timeout(waiting, Duration::from_millis(50)).unwrap().0;
            }
            let group = std::mem::take(&mut *waiting);
            drop(waiting);
            let all = group.iter().map(|(bytes, _)| &**bytes).collect::<Vec<_>>().concat();
            file.write_all(&all).unwrap();
            std::thread::sleep(SYNC);
            for (_, told) in group {
                // A caller that is gone needs no answer.
                let _ = told.send(());
            }
        }
    }

    async fn commit(&self, bytes: Vec<u8>) {
        let (told, stored) = oneshot::channel();
        self.waiting.lock().unwrap().push((bytes, told));
        self.bell.notify_one();
        stored.await.unwrap();
    }
}

/// Returns the steps per second of `count` callers that wait for a bare group commit of records of `size` bytes.
async fn bare(directory: &Path, count: usize, size: usize, time: Duration) -> f64 {
    let path = directory.join(format!("bare-{count}"));
    let (bare, stop) = (Arc::new(Bare::default()), Arc::new(AtomicBool::new(false)));
    let (writer, file) = (Arc::clone(&bare), File::create(&path).unwrap());
    let thread = std::thread::spawn(move || writer.write(file));
    let callers = (0..count).map(|_| {
        let (bare, stop) = (Arc::clone(&bare), Arc::clone(&stop));
        tokio::spawn(async move {
            let mut steps = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                bare.commit(vec![b'.'; size]).await;
                steps += 1;
            }
            steps
        })
    });
    let callers: Vec<_> = callers.collect();
    let started = Instant::now();
    tokio::time::sleep(time).await;
    stop.store(true, Ordering::Relaxed);
    let mut steps = 0;
    for caller in callers {
        steps += caller.await.unwrap();
    }
    let rate = steps as f64 / started.elapsed().as_secs_f64();
    bare.ending.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    fs::remove_file(path).unwrap();
    rate
}

/// Returns the number of bytes and of events in the journal.
fn stored(directory: &Path, engine: &Engine) -> (u64, u64) {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let segments = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("journal-"));
    (segments.map(|entry| entry.metadata().unwrap().len()).sum(), engine.last_sequence().unwrap())
}

/// Prints the steps per second of both, and their ratio.
pub(crate) async fn measure(directory: &Path) {
    let time = super::TIME;
    println!("with a simulated sync of 1 ms, the best of {ROUNDS} rounds of {} s:", time.as_secs());
    println!("{:>8} {:>14} {:>14} {:>12} {:>8}", "callers", "bare, /s", "bestow, /s", "bytes/step", "ratio");
    for count in CALLERS {
        let state = directory.join(format!("group-{count}"));
        let journal = Journal::open_on(Arc::new(SlowDisk), &state, SEGMENT).unwrap();
        let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(AsWritten));
        let engine = Engine::restore(Some(super::settings()), clock, paths, Arc::new(journal)).await.unwrap();
        let (mut best, mut ours, mut size) = (0.0_f64, 0.0_f64, 0);
        for round in 0..ROUNDS {
            let before = stored(&state, &engine);
            ours = ours.max(super::writers(&engine, &format!("{round}-"), count, time).await);
            let after = stored(&state, &engine);
            size = (after.0 - before.0) / (after.1 - before.1).max(1);
            best = best.max(bare(directory, count, usize::try_from(size).unwrap(), time).await);
        }
        println!("{count:>8} {best:>14.0} {ours:>14.0} {size:>12} {:>8.2}", ours / best);
        engine.shutdown().await;
        fs::remove_dir_all(state).unwrap();
    }
}
