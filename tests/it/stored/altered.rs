//! Tests of a state of several segments and snapshots in which one file was altered, cut, removed, swapped, repeated or
//! replaced by an older one: the fault is named, or the state is the acknowledged one.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use bestow::{
    Answer, Engine,
    grant::Scope,
    host::{AsWritten, ManualClock, Store as _, Stored},
    journal::{Journal, RealDisk, audit},
};

use super::{
    damage::{held, names},
    disk::FakeDisk,
    faults::{STATE, open_with},
};
use crate::support::{START, World, ask, id, settings, tag, why};

/// The end of the last process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Orderly,
    Killed,
}

/// The content of a state directory, of the directory at earlier moments, and the state that was acknowledged.
struct Place {
    disk: Arc<FakeDisk>,
    older: Vec<Arc<FakeDisk>>,
    expected: Vec<String>,
    /// The contents of the journal that are known to lead to that state.
    known: Mutex<Vec<Vec<Stored>>>,
}

/// The size of a history.
#[derive(Clone, Copy)]
struct Size {
    segment: u64,
    engines: usize,
    steps: usize,
}

const SMALL: Size = Size { segment: 900, engines: 4, steps: 1 };

async fn opened(state: &Path, size: Size) -> World {
    let clock = Arc::new(ManualClock::at(START));
    let journal = Journal::open_on(Arc::new(RealDisk), state, size.segment).unwrap();
    let engine = Engine::restore(Some(settings(|_| {})), clock.clone(), Arc::new(AsWritten), Arc::new(journal));
    World { engine: engine.await.unwrap(), clock }
}

/// Gives, revokes, asks and denies.
async fn live(world: &World, number: usize, size: Size) {
    if world.engine.agent(id("ann")).is_err() {
        world.worker("ann", &["@network"]).await;
    }
    let (you, ann) = (world.you(), world.engine.agent(id("ann")).unwrap());
    for step in 0..size.steps {
        you.give(ann.id(), tag(&format!("@write:/{number}/{step}")), Scope::Always, why()).await.unwrap();
        if step % 2 == 0 {
            let oldest = ann.grants().unwrap()[0].id;
            world.engine.revoke(oldest, None).await.unwrap();
        }
        if step % 4 == 3 {
            let denied = ann.request(ask(&format!("@read:/asked/{number}/{step}"))).await.unwrap();
            you.answer(denied.id(), Answer::deny().scope(Scope::Always)).await.unwrap();
        }
    }
}

/// Returns the files of a real directory on a disk in memory.
fn loaded(state: &Path) -> Arc<FakeDisk> {
    let disk = FakeDisk::new();
    for entry in fs::read_dir(state).unwrap() {
        let path = entry.unwrap().path();
        // A snapshot that is being written has another name a moment later.
        if let Ok(content) = fs::read(&path) {
            disk.write_file(path.file_name().unwrap().to_str().unwrap(), &content);
        }
    }
    disk
}

/// Returns a directory in which several engines lived. Before the last one, old segments were moved away if
/// `is_rotated`.
async fn built(size: Size, end: End, is_rotated: bool) -> Place {
    let directory = tempfile::tempdir().unwrap();
    let (state, archive) = (directory.path().join("state"), directory.path().join("archive"));
    let mut older = Vec::new();
    for number in 0..size.engines {
        let world = opened(&state, size).await;
        live(&world, number, size).await;
        older.push(loaded(&state));
        world.engine.shutdown().await;
        older.push(loaded(&state));
    }
    if is_rotated {
        audit::rotate(&state, &archive).unwrap().expect("there are old segments");
    }
    let world = opened(&state, size).await;
    live(&world, size.engines, size).await;
    let expected = held(&world);
    let killed = loaded(&state);
    world.engine.shutdown().await;
    let disk = if end == End::Killed { killed } else { loaded(&state) };
    let (segments, snapshots) = (names(&disk, "journal-").len(), names(&disk, "snapshot-").len());
    assert!(2 < segments && 1 < snapshots, "{segments} segments, {snapshots} snapshots");
    let known = Mutex::new(vec![history(&disk.copy()).unwrap()]);
    Place { disk, older, expected, known }
}

/// Returns what the journal on a disk gives to an engine.
fn history(disk: &Arc<FakeDisk>) -> Result<Vec<Stored>, String> {
    let journal = Journal::open_on(disk.clone(), STATE, 1 << 20).map_err(|why| why.to_string())?;
    let mut all = Vec::new();
    let take = &mut |stored| {
        all.push(stored);
        Ok(())
    };
    journal.load(take).unwrap();
    Ok(all)
}

/// Returns true for the files that say something about the records.
fn is_a_record(name: &str) -> bool {
    name != "RESERVE" && name != ".gitignore"
}

impl Place {
    fn files(&self) -> Vec<String> {
        names(&self.disk, "").into_iter().filter(|name| is_a_record(name)).collect()
    }

    /// Returns the disk with another content of one file.
    fn with(&self, name: &str, content: &[u8]) -> Arc<FakeDisk> {
        let copy = self.disk.copy();
        copy.write_file(name, content);
        copy
    }

    /// Asserts that an engine does not start on `disk`, or holds exactly what was acknowledged. If it does not start,
    /// `bestow audit verify` finds a fault, too.
    async fn is_named_or_holds(&self, disk: &Arc<FakeDisk>, what: &str) {
        if !self.starts_as_acknowledged(disk, what).await {
            assert!(audit::verify_on(disk.clone(), STATE, None).is_err(), "{what}");
        }
    }

    /// Asserts that an engine that starts on `disk` holds exactly what was acknowledged. Returns false if it does not
    /// start.
    async fn starts_as_acknowledged(&self, disk: &Arc<FakeDisk>, what: &str) -> bool {
        match history(&disk.copy()) {
            // Equal events lead to equal states.
            Ok(history) if self.known.lock().unwrap().contains(&history) => {}
            Ok(history) => {
                // The engine may replace an altered snapshot.
                let world = open_with(&disk.copy(), 1 << 20).await.unwrap();
                assert_eq!(held(&world), self.expected, "{what}");
                world.engine.shutdown().await;
                self.known.lock().unwrap().push(history);
            }
            Err(why) => {
                assert!(why.contains(STATE), "{what}: {why}");
                return false;
            }
        }
        true
    }

    /// Flips a bit of byte `place`, and cuts the file there.
    async fn is_altered_and_cut_at(&self, name: &str, content: &[u8], place: usize) {
        let mut altered = content.to_vec();
        altered[place] ^= 1 << (place % 8);
        let altered = self.with(name, &altered);
        self.starts_as_acknowledged(&altered, &format!("byte {place} of {name}")).await;
        let is_found = audit::verify_on(altered, STATE, None).is_err();
        // An unfinished snapshot does not count.
        assert!(is_found || name == "LOCK" || name.ends_with(".new"), "nobody finds byte {place} of {name}");
        let cut = self.with(name, &content[..place]);
        self.starts_as_acknowledged(&cut, &format!("{name} is cut at {place}")).await;
    }

    /// Swaps, repeats and removes whole files.
    async fn files_are_exchanged(&self) {
        for name in self.files() {
            let (content, removed) = (self.disk.read_file(&name), self.disk.copy());
            removed.remove_file(&name);
            self.is_named_or_holds(&removed, &format!("{name} is removed")).await;
            for other in self.files().iter().filter(|other| **other != name) {
                let repeated = self.with(other, &content);
                self.is_named_or_holds(&repeated, &format!("{other} has the content of {name}")).await;
                let swapped = self.with(other, &content);
                swapped.write_file(&name, &self.disk.read_file(other));
                self.is_named_or_holds(&swapped, &format!("{name} and {other} are swapped")).await;
            }
        }
    }

    /// Puts back each file of each earlier moment.
    async fn files_are_older(&self) {
        for (moment, older) in self.older.iter().enumerate() {
            for name in names(older, "").into_iter().filter(|name| is_a_record(name)) {
                let content = older.read_file(&name);
                let context = format!("{name} is the one of moment {moment}");
                self.is_named_or_holds(&self.with(&name, &content), &context).await;
            }
        }
    }
}

/// Alters and cuts each file at every `step`th byte from `first` on, and exchanges whole files.
async fn every_file(end: End, is_rotated: bool, first: usize, step: usize) {
    let place = built(SMALL, end, is_rotated).await;
    audit::verify_on(place.disk.copy(), STATE, None).unwrap();
    if first == 0 {
        place.files_are_exchanged().await;
        place.files_are_older().await;
    }
    for name in place.files() {
        let content = place.disk.read_file(&name);
        for byte in (first..content.len()).step_by(step) {
            place.is_altered_and_cut_at(&name, &content, byte).await;
        }
    }
}

#[tokio::test]
async fn every_file_and_every_even_byte_after_an_orderly_end() {
    every_file(End::Orderly, false, 0, 2).await;
}

#[tokio::test]
async fn every_odd_byte_after_an_orderly_end() {
    every_file(End::Orderly, false, 1, 2).await;
}

#[tokio::test]
async fn every_file_after_a_kill() {
    every_file(End::Killed, false, 0, 11).await;
}

#[tokio::test]
async fn every_file_after_a_rotation_and_an_orderly_end() {
    every_file(End::Orderly, true, 0, 11).await;
}

#[tokio::test]
async fn every_file_after_a_rotation_and_a_kill() {
    every_file(End::Killed, true, 0, 7).await;
}

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Larger histories, and bytes that become any other byte, several at once.
#[tokio::test]
async fn larger_states_whose_bytes_become_any_other() {
    let mut random = Random(19);
    for history in 0..4 {
        let size =
            Size { segment: 1_500 + random.below(6_000) as u64, engines: 3 + history, steps: 8 + random.below(8) };
        let end = if random.below(2) == 0 { End::Orderly } else { End::Killed };
        let place = built(size, end, history % 2 == 1).await;
        for case in 0..60 {
            let files = place.files();
            let name = &files[random.below(files.len())];
            let mut content = place.disk.read_file(name);
            let (first, count) = (random.below(content.len()), 1 + random.below(5));
            for byte in content.iter_mut().skip(first).take(count) {
                *byte = random.below(256) as u8;
            }
            if random.below(4) == 0 {
                content.truncate(first + count);
            }
            let context = format!("history {history}, case {case}: {count} bytes from {first} of {name}");
            place.is_named_or_holds(&place.with(name, &content), &context).await;
        }
        place.files_are_older().await;
    }
}
