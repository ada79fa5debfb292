//! Tests of a full disk: a separate process on a small disk that an attacker, or a log, fills up.

use std::{
    env, fs,
    io::{self, Write as _},
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use bestow::{
    Engine, Error, Event,
    decision::Check,
    event::Subscription,
    grant::{PermissionRef, Scope},
    host::{AsWritten, SystemClock},
    journal::{Disk, DiskFile, Journal, RealDisk, audit},
};

use crate::support::{check, id, owner, profile, settings, tag, why};

/// A variable that is set in the process on the small disk: the directory of that disk.
const CHILD: &str = "BESTOW_TEST_FULL";
const NAME: &str = "stored::full::on_a_disk_that_is_really_full_a_file_takes_and_gives_nothing_until_there_is_room";

/// A timeout that is long enough for any machine. Only a failing test waits for it.
const GUARD: Duration = Duration::from_secs(60);

fn save(directory: &Path, permissions: &str, rules: &str) {
    let text = format!(
        "[engine]\nmax_grants = 100000\n\n[agents.ann]\nkind = \"cron\"\nowner = \"you\"\nworking_dir = \
         \"/\"\npermissions = [{permissions}]\n{rules}"
    );
    let new = directory.join("new");
    fs::write(&new, text).unwrap();
    fs::set_permissions(&new, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::rename(new, directory.join("agents.toml")).unwrap();
}

async fn next(events: &mut Subscription, kind: &str) -> Event {
    loop {
        let next = tokio::time::timeout(GUARD, events.next()).await.expect("nothing was told");
        match next {
            Ok(recorded) if recorded.event.kind() == kind => return recorded.event,
            Ok(_) | Err(bestow::event::NoEvent::Missed(_)) => {}
            Err(ended) => panic!("{ended:?}"),
        }
    }
}

async fn live(small: &Path) {
    let (state, policy) = (small.join("state"), env::temp_dir());
    let policy = tempfile::tempdir_in(policy).unwrap();
    save(policy.path(), "\"@network\", \"@events\"", "");
    let engine = Engine::open_durable(policy.path().join("agents.toml"), &state).await.unwrap();
    let mut events = engine.subscribe();
    let ann = engine.agent(id("ann")).unwrap();
    let you = engine.approver(owner("you"), "ann", "test");
    let kept = you.give(&id("ann"), tag("@write:/kept"), Scope::Always, why()).await.unwrap();
    // An attacker fills the disk to the last byte.
    let mut filler = fs::File::create(small.join("filler")).unwrap();
    while std::io::Write::write(&mut filler, &[b'.'; 4096]).is_ok_and(|count| count > 0) {}
    drop(filler);
    let mut given = 0;
    let refused = loop {
        match you.give(&id("ann"), tag(&format!("@write:/given/{given}")), Scope::Always, why()).await {
            Ok(_) => given += 1,
            Err(why) => break why,
        }
    };
    assert!(matches!(&refused, Error::Store(why) if why.to_string().contains("free some space")), "{refused}");
    you.revoke(kept[0], None).await.unwrap();
    assert_eq!(
        ann.check(PermissionRef::write("/kept")),
        Check::NotHeld,
        "what is taken away is stored from the reserve"
    );

    let deny = "[[agents.ann.rules]]\nverdict = \"deny\"\noperation = \"command.execute\"\n";
    save(policy.path(), "\"@events\", \"@write:/new\"", deny);
    let Event::ConfigRejected { why } = next(&mut events, "config.rejected").await else { panic!("another event") };
    assert!(why.contains("its restrictions took effect, and the rest follows"), "{why}");
    assert_eq!((check(&ann, "@network"), check(&ann, "@events")), (Check::NotHeld, Check::Held));
    assert_eq!(ann.check(PermissionRef::write("/new")), Check::NotHeld);
    let command = bestow::Action::command("ls");
    assert_eq!(ann.verdict(&command).unwrap(), bestow::decision::Verdict::Deny);

    fs::remove_file(small.join("filler")).unwrap();
    next(&mut events, "config.reloaded").await;
    assert_eq!(
        ann.check(PermissionRef::write("/new")),
        Check::Held,
        "with room the rest follows, though nobody saves again"
    );
    engine.shutdown().await;
    drop((ann, you, engine));
    audit::verify(&state, None).unwrap();
    let again = Engine::durable(bestow::Settings::default(), &state).await.unwrap();
    let ann = again.agent(id("ann")).unwrap();
    let kept = (0..given).all(|number| ann.check(PermissionRef::write(&format!("/given/{number}"))) == Check::Held);
    assert!(kept, "everything that was acknowledged is there");
    assert_eq!((ann.check(PermissionRef::write("/kept")), check(&ann, "@network")), (Check::NotHeld, Check::NotHeld));
    println!("came to its end");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_disk_that_is_really_full_a_file_takes_and_gives_nothing_until_there_is_room() {
    if let Ok(small) = env::var(CHILD) {
        return live(Path::new(&small)).await;
    }
    on_a_small_disk(NAME);
}

/// Runs the test `name` in a process on a small disk.
fn on_a_small_disk(name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let small = directory.path().to_str().unwrap();
    let output = Command::new("bwrap")
        .args(["--dev-bind", "/", "/", "--size", "8388608", "--tmpfs", small, "--"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, small)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("came to its end"), "{said}");
}

/// The disk of this machine, as if it could not give space to a file ahead of time.
#[derive(Debug)]
struct WithoutAllocation;

#[derive(Debug)]
struct FileWithoutAllocation(Box<dyn DiskFile>);

impl Disk for WithoutAllocation {
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
        Ok(Box::new(FileWithoutAllocation(RealDisk.append(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_dir(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        RealDisk.lock(path)
    }

    fn lock_dir(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        RealDisk.lock_dir(path)
    }
}

impl DiskFile for FileWithoutAllocation {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.overwrite(at, bytes)
    }

    fn allocate(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.0.truncate(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        self.0.is_at(path)
    }
}

async fn live_without_allocation(small: &Path) {
    let state = small.join("state");
    let journal = Journal::open_on(Arc::new(WithoutAllocation), &state, 1 << 20).unwrap();
    let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(AsWritten));
    let engine = Engine::restore(Some(settings(|_| {})), clock, paths, Arc::new(journal)).await.unwrap();
    let mut events = engine.subscribe();
    engine.register(profile("ann", "you", bestow::Kind::Cron), bestow::InitialGrants::nothing()).await.unwrap();
    let you = engine.approver("you", "ann", "test");
    let mut held = Vec::new();
    for number in 0..200 {
        let wanted = tag(&format!("@write:/{number}"));
        held.extend(you.give(&id("ann"), wanted, Scope::Always, why()).await.unwrap());
    }
    let neighbour = Neighbour::begins(small);
    // The last block of the file may have room for a few steps.
    let (mut unstored, mut revoked) = (0, 0);
    while unstored < 3 {
        unstored += usize::from(you.revoke(held.remove(0), None).await.is_err());
        revoked += 1;
    }
    let given = you.give(&id("ann"), tag("@network"), Scope::Always, why()).await;
    assert!(given.is_err(), "{given:?}");
    neighbour.ends();
    for _ in 0..revoked {
        next(&mut events, "grant.revoked").await;
    }
    let given = you.give(&id("ann"), tag("@network"), Scope::Always, why()).await.unwrap();
    held.extend(given);
    engine.shutdown().await;
    drop((you, engine));
    audit::verify(&state, None).unwrap();
    let engine = opened(&state).await;
    let found: Vec<_> = engine.grants().unwrap().iter().map(|grant| grant.id).collect();
    assert_eq!(found, held);
    println!("came to its end");
}

/// An engine that ends for good after two failures in a row stores nothing more, although there is room again.
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_on_a_real_disk_that_was_full_goes_on_by_itself() {
    if let Ok(small) = env::var(CHILD) {
        return live_without_allocation(Path::new(&small)).await;
    }
    on_a_small_disk("stored::full::an_engine_on_a_real_disk_that_was_full_goes_on_by_itself");
}

/// Another process that fills the disk, and takes every byte that is freed, until it is stopped.
struct Neighbour {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Neighbour {
    /// Returns when the disk is full.
    fn begins(small: &Path) -> Neighbour {
        let (stop, (full, is_full)) = (Arc::new(AtomicBool::new(false)), mpsc::channel());
        let (path, stopped) = (small.join("filler"), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let mut filler = fs::File::create(&path).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                if filler.write(&[b'.'; 4096]).is_err() {
                    let _ = full.send(());
                    thread::yield_now();
                }
            }
            fs::remove_file(path).unwrap();
        });
        is_full.recv_timeout(GUARD).unwrap();
        Neighbour { stop, thread }
    }

    fn ends(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// The size of the segments, so that some of them end while the disk is full.
const SEGMENT: u64 = 20_000;

async fn opened(state: &Path) -> Engine {
    let journal = Journal::open_on(Arc::new(RealDisk), state, SEGMENT).unwrap();
    let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(AsWritten));
    Engine::restore(Some(settings(|_| {})), clock, paths, Arc::new(journal)).await.unwrap()
}

async fn live_beside_a_neighbour(small: &Path) {
    let state = small.join("state");
    let mut engine = opened(&state).await;
    let ann = profile("ann", "you", bestow::Kind::Cron);
    engine.register(ann, bestow::InitialGrants::nothing()).await.unwrap();
    let mut held = std::collections::BTreeSet::new();
    for round in 0..5 {
        let you = engine.approver("you", "ann", "test");
        for number in 0..50 {
            let wanted = format!("@write:/{round}/{number}");
            you.give(&id("ann"), tag(&wanted), Scope::Always, why()).await.unwrap();
            held.insert(wanted);
        }
        let neighbour = Neighbour::begins(small);
        for grant in engine.grants().unwrap().into_iter().step_by(2) {
            you.revoke(grant.id, None).await.unwrap();
            held.remove(&grant.pinned.permission.to_string());
        }
        for number in 0.. {
            let wanted = format!("@read:/{round}/{number}");
            match you.give(&id("ann"), tag(&wanted), Scope::Always, why()).await {
                Ok(_) => assert!(held.insert(wanted)),
                Err(why) => {
                    assert!(why.to_string().contains("free some space"), "{why}");
                    break;
                }
            }
        }
        if round % 2 == 1 {
            // It starts on the full disk, too.
            engine.shutdown().await;
            drop((you, engine));
            engine = opened(&state).await;
            let oldest = engine.grants().unwrap().swap_remove(0);
            engine.revoke(oldest.id, None).await.unwrap();
            held.remove(&oldest.pinned.permission.to_string());
        }
        neighbour.ends();
        let found: std::collections::BTreeSet<_> =
            engine.grants().unwrap().iter().map(|grant| grant.pinned.permission.to_string()).collect();
        assert_eq!(found, held, "round {round}");
    }
    engine.shutdown().await;
    drop(engine);
    audit::verify(&state, None).unwrap();
    let engine = opened(&state).await;
    assert_eq!(engine.grants().unwrap().len(), held.len());
    println!("came to its end");
}

/// A naive journal removes a file to make room for a revocation, and the other process takes that room.
#[tokio::test(flavor = "multi_thread")]
async fn another_process_that_takes_all_room_brings_nothing_back() {
    if let Ok(small) = env::var(CHILD) {
        return live_beside_a_neighbour(Path::new(&small)).await;
    }
    on_a_small_disk("stored::full::another_process_that_takes_all_room_brings_nothing_back");
}
