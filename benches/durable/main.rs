//! Measures the cost of persisting events, beside raw syncs of the same disk and beside SQLite, in one run:
//! `cargo bench -p bestow-benches --bench durable`.
#![allow(missing_docs, reason = "a bench is its own document")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a bench may stop, and looks at the clock"
)]

mod group_commit;
mod large;

use std::{
    fs::File,
    io::Write,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bestow::{
    Engine, InitialGrants, Kind, Permission, Profile, Settings,
    decision::Check,
    grant::{PermissionRef, Reads},
    host::{AsWritten, SystemClock},
    journal::{Journal, RealDisk, SEGMENT},
};

const TIME: Duration = Duration::from_secs(3);

fn settings() -> Settings {
    let mut settings = Settings::default();
    // The bench measures one step, not the limit of facts and changes per family.
    (settings.max_facts_per_minute, settings.max_changes_per_minute) = (u32::MAX, u32::MAX);
    settings.reads = Reads::Granted;
    settings.max_grants = 1 << 24;
    settings
}

async fn engine(directory: &Path, segment: u64) -> Engine {
    let journal = Journal::open_on(Arc::new(RealDisk), directory, segment).unwrap();
    let (clock, paths) = (Arc::new(SystemClock::new()), Arc::new(AsWritten));
    Engine::restore(Some(settings()), clock, paths, Arc::new(journal)).await.unwrap()
}

fn write(path: &str) -> Permission {
    Permission::write(path.parse().unwrap())
}

/// Returns the steps per second of `count` writers. Each writer grants and revokes in turn, and waits for each
/// acknowledgement.
async fn writers(engine: &Engine, prefix: &str, count: usize, time: Duration) -> f64 {
    let owner: bestow::user::OwnerId = "you".parse().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut tasks = Vec::new();
    for number in 0..count {
        let profile = Profile::new(
            format!("w{prefix}{count}-{number}").parse().unwrap(),
            "you".parse().unwrap(),
            Kind::Cron,
            "/".parse().unwrap(),
        );
        let agent = engine.register(profile, InitialGrants::nothing()).await.unwrap();
        let (you, stop) = (engine.approver(&owner, "ann", "bench"), Arc::clone(&stop));
        let wanted = write(&format!("/srv/work/project/{number}"));
        tasks.push(tokio::spawn(async move {
            let mut steps = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                let given = you.give(agent.id(), wanted.clone(), bestow::grant::Scope::Always, "bench").await.unwrap();
                you.revoke(given[0], None).await.unwrap();
                steps += 2;
            }
            steps
        }));
    }
    let started = Instant::now();
    tokio::time::sleep(time).await;
    stop.store(true, Ordering::Relaxed);
    let mut steps = 0;
    for task in tasks {
        steps += task.await.unwrap();
    }
    steps as f64 / started.elapsed().as_secs_f64()
}

/// Returns the number of synced appends per second, each of a record's size: the limit of the disk for one writer.
fn raw(directory: &Path) -> f64 {
    let mut file = File::create(directory.join("raw")).unwrap();
    let record = [b'.'; 420];
    let (started, mut count) = (Instant::now(), 0);
    while started.elapsed() < TIME {
        file.write_all(&record).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

/// Opens a new SQLite database that syncs every transaction, with a table for the log and one for the held permissions.
fn opened_sqlite(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; \
             CREATE TABLE log(seq INTEGER PRIMARY KEY, record TEXT); \
             CREATE TABLE held(grant_id INTEGER PRIMARY KEY, agent TEXT, tag TEXT); \
             CREATE INDEX by_agent ON held(agent);",
        )
        .unwrap();
    connection
}

/// Measures the work of one writer of the engine in SQLite: a log record, and a change of the held permissions.
/// `together` steps share a transaction, as if the caller batched the steps of independent writers.
fn sqlite(directory: &Path, together: u32) -> f64 {
    let connection = opened_sqlite(&directory.join(format!("{together}.sqlite")));
    let record = ".".repeat(420);
    let connection = Mutex::new(connection);
    let (started, mut count) = (Instant::now(), 0_u32);
    while started.elapsed() < TIME {
        let mut connection = connection.lock().unwrap();
        let transaction = connection.transaction().unwrap();
        for step in 0..together {
            transaction.prepare_cached("INSERT INTO log(record) VALUES (?1)").unwrap().execute([&record]).unwrap();
            if (count + step).is_multiple_of(2) {
                transaction
                    .prepare_cached("INSERT INTO held VALUES (?1, 'w1', '@write:/srv/work/project/1')")
                    .unwrap()
                    .execute([count + step])
                    .unwrap();
            } else {
                transaction
                    .prepare_cached("DELETE FROM held WHERE grant_id = ?1")
                    .unwrap()
                    .execute([count + step - 1])
                    .unwrap();
            }
        }
        transaction.commit().unwrap();
        count += together;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

/// Measures `sqlite` with one transaction per step, as independent writers have. Each of `count` threads waits for its
/// own.
fn sqlite_apart(directory: &Path, count: u32) -> f64 {
    let connection = opened_sqlite(&directory.join(format!("apart-{count}.sqlite")));
    let (connection, record, started) = (Mutex::new(connection), ".".repeat(420), Instant::now());
    let writer = |number: u32| {
        let mut steps = 0_u32;
        while started.elapsed() < TIME {
            let mut connection = connection.lock().unwrap();
            let transaction = connection.transaction().unwrap();
            transaction.prepare_cached("INSERT INTO log(record) VALUES (?1)").unwrap().execute([&record]).unwrap();
            let held = if steps.is_multiple_of(2) {
                "INSERT INTO held VALUES (?1, 'w1', '@write:/srv/work/project/1')"
            } else {
                "DELETE FROM held WHERE grant_id = ?1"
            };
            transaction.prepare_cached(held).unwrap().execute([number]).unwrap();
            transaction.commit().unwrap();
            steps += 1;
        }
        steps
    };
    let steps: u32 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || writer(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    f64::from(steps) / started.elapsed().as_secs_f64()
}

/// Prints the microseconds of reading and of writing a small file by a permanent permission: in memory, then with a
/// journal.
async fn uses(directory: &Path, engine: &Engine) {
    let place = directory.join("files");
    std::fs::create_dir(&place).unwrap();
    let path = place.join("a").to_str().unwrap().to_owned();
    std::fs::write(&path, "x").unwrap();
    let memory = Engine::new(settings()).unwrap();
    for (name, engine) in [("in memory", &memory), ("with a journal", engine)] {
        let profile = Profile::new("user".parse().unwrap(), "you".parse().unwrap(), Kind::Cron, "/".parse().unwrap());
        let agent = engine.register(profile, InitialGrants::of([write(place.to_str().unwrap())])).await.unwrap();
        let started = Instant::now();
        for _ in 0..2_000 {
            agent.fs().read(&path).await.unwrap();
        }
        let read = started.elapsed().as_micros() / 2_000;
        let started = Instant::now();
        for _ in 0..500 {
            agent.fs().write(&path, "y").await.unwrap();
        }
        println!("a use of a file, {name}: read {read} us, write {} us", started.elapsed().as_micros() / 500);
    }
}

/// Returns the nanoseconds of a check: the median and the 99.9th percentile.
fn checks(engine: &Engine) -> (u128, u128) {
    let agent = engine.agent("reader").unwrap();
    let mut all: Vec<_> = (0..200_000)
        .map(|_| {
            let started = Instant::now();
            assert_eq!(agent.check(PermissionRef::write("/srv/a/b")), Check::Held);
            started.elapsed().as_nanos()
        })
        .collect();
    all.sort_unstable();
    (all[all.len() / 2], all[all.len() / 1000 * 999])
}

async fn writing(directory: &Path) {
    let engine = engine(&directory.join("state"), SEGMENT).await;
    let profile = Profile::new("reader".parse().unwrap(), "you".parse().unwrap(), Kind::Cron, "/".parse().unwrap());
    engine.register(profile, InitialGrants::of([write("/srv")])).await.unwrap();
    let disk = raw(directory);
    println!("one append and fdatasync after the other: {disk:.0}/s");
    println!(
        "{:>8} {:>11} {:>16} {:>14} {:>19} {:>15}",
        "writers", "bestow, /s", "bestow/raw sync", "SQLite, /s", "SQLite together, /s", "bestow/SQLite"
    );
    for count in [1, 16, 256] {
        let number = u32::try_from(count).unwrap();
        let ours = writers(&engine, "", count, TIME).await;
        let (apart, together) = (sqlite_apart(directory, number), sqlite(directory, number));
        let (of_disk, of_sqlite) = (ours / disk, ours / apart);
        println!("{count:>8} {ours:>11.0} {of_disk:>16.2} {apart:>14.0} {together:>19.0} {of_sqlite:>15.2}");
    }
    let alone = checks(&engine);
    let reader = engine.clone();
    let beside = tokio::task::spawn_blocking(move || checks(&reader));
    let (_, beside) = tokio::join!(writers(&engine, "", 17, TIME), beside);
    let beside = beside.unwrap();
    println!(
        "a check, p50 and p99.9: alone {} and {} ns, beside 17 writers {} and {} ns",
        alone.0, alone.1, beside.0, beside.1
    );
    uses(directory, &engine).await;
    engine.shutdown().await;
}

/// Measures the start of an engine after so many events, with a few thousand live grants.
async fn starting(directory: &Path) {
    for steps in [10_000_u32, 100_000, 1_000_000] {
        let state = directory.join(format!("start-{steps}"));
        let live = engine(&state, SEGMENT).await;
        let profile = Profile::new("ann".parse().unwrap(), "you".parse().unwrap(), Kind::Cron, "/".parse().unwrap());
        live.register(profile, InitialGrants::nothing()).await.unwrap();
        let you = live.approver("you", "ann", "bench");
        let mut tasks = Vec::new();
        for part in 0..200 {
            let you = you.clone();
            tasks.push(tokio::spawn(async move {
                let ann: bestow::AgentId = "ann".parse().unwrap();
                for step in 0..steps / 400 {
                    let wanted = write(&format!("/srv/{part}/{step}"));
                    let given = you.give(&ann, wanted, bestow::grant::Scope::Always, "bench").await.unwrap();
                    if step >= 10 {
                        you.revoke(given[0], None).await.unwrap();
                    }
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        let grants = live.grants().unwrap().len();
        drop(you);
        live.shutdown().await;
        let started = Instant::now();
        let again = engine(&state, SEGMENT).await;
        let took = started.elapsed();
        assert_eq!(again.grants().unwrap().len(), grants);
        println!("start after about {steps} events, {grants} grants: {} ms", took.as_millis());
        again.shutdown().await;
    }
}

/// The parts of the bench. Words on the command line choose some of them.
const PARTS: [&str; 4] = ["writing", "starting", "group-commit", "large"];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(directory) = std::env::var_os(large::CHILD) {
        return runtime.block_on(large::start(Path::new(&directory)));
    }
    if let Some(directory) = std::env::var_os(large::VERIFIED) {
        return large::verify(Path::new(&directory));
    }
    let chosen: Vec<_> = std::env::args().skip(1).filter(|word| PARTS.contains(&&**word)).collect();
    let is_wanted = |part: &str| chosen.is_empty() || chosen.iter().any(|word| word == part);
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    if is_wanted("writing") {
        runtime.block_on(writing(directory.path()));
    }
    if is_wanted("starting") {
        runtime.block_on(starting(directory.path()));
    }
    if is_wanted("group-commit") {
        runtime.block_on(group_commit::measure(directory.path()));
    }
    if is_wanted("large") {
        large::measure(directory.path(), &runtime);
    }
}
