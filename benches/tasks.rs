//! Measures the cost of ten thousand scheduled tasks: `cargo bench -p bestow-benches --bench tasks`.
#![allow(missing_docs, reason = "criterion's macros make functions without documentation")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a bench may stop, and looks at the clock"
)]

use std::{
    fs,
    hint::black_box,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bestow::{
    Engine, InitialGrants, Kind, Permission, Profile, Settings,
    event::{CatchUp, Timestamp},
    host::{DiskPaths, ManualClock},
    policy::TaskSettings,
    schedule::{CronExpression, Plan, Scheduler, TaskRun, Tasks, TimeZone, Timing},
};
use criterion::{BatchSize, Criterion, criterion_group};
use tokio::sync::mpsc;

const TASKS: u32 = 10_000;

fn start() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn berlin() -> TimeZone {
    "Europe/Berlin".parse().unwrap()
}

/// Plans each task once a day, spread over the minutes of the day.
fn plan() -> Plan<u32> {
    let mut plan = Plan::new(CatchUp::One, Duration::ZERO);
    for task in 0..TASKS {
        let expression: CronExpression = format!("{} {} * * *", task % 60, task / 60 % 24).parse().unwrap();
        plan.set(task, Timing::At(expression, berlin()), None, start());
    }
    plan
}

fn ticks(criterion: &mut Criterion) {
    let (expression, zone): (CronExpression, _) = ("30 2 * * *".parse().unwrap(), berlin());
    criterion.bench_function("the next moment of one schedule", |bencher| {
        bencher.iter(|| black_box(&expression).next(start(), &zone));
    });
    criterion.bench_function("10,000 tasks: plan them all", |bencher| bencher.iter(plan));
    let idle = plan();
    criterion.bench_function("10,000 tasks: a tick with nothing due", |bencher| {
        let mut plan = idle.clone();
        plan.tick(start().after(Duration::from_secs(60)));
        bencher.iter(|| plan.tick(black_box(start())));
    });
    criterion.bench_function("10,000 tasks: a tick with seven due", |bencher| {
        let due = start().after(Duration::from_secs(60));
        bencher.iter_batched_ref(|| idle.clone(), |plan| plan.tick(black_box(due)), BatchSize::LargeInput);
    });
    criterion.bench_function("10,000 tasks: a tick with all due", |bencher| {
        let due = start().after(Duration::from_secs(24 * 60 * 60));
        bencher.iter_batched_ref(|| idle.clone(), |plan| plan.tick(black_box(due)), BatchSize::LargeInput);
    });
}

criterion_group!(benches, ticks);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(files());
    benches();
    Criterion::default().configure_from_args().final_summary();
}

/// Measures a complete run once, and prints a table: files on disk, an agent for each task, and a host that finishes at
/// once.
async fn files() {
    let place = tempfile::tempdir().unwrap();
    let dir = fs::canonicalize(place.path()).unwrap();
    write(&dir);
    let clock = Arc::new(ManualClock::at(start()));
    let mut settings = Settings::default();
    settings.max_children = 2 * TASKS;
    let engine = Engine::on(settings, clock.clone(), Arc::new(DiskPaths)).unwrap();
    let at = dir.to_str().unwrap().parse().unwrap();
    let profile = Profile::new("nightly".parse().unwrap(), "you".parse().unwrap(), Kind::Cron, at);
    engine.register(profile, InitialGrants::of([Permission::Network])).await.unwrap();
    let (told, mut runs) = mpsc::unbounded_channel();
    let runner = move |run: TaskRun| {
        let sent = told.send(run.due);
        async move { sent.map_err(|why| why.to_string()) }
    };
    let mut tasks = TaskSettings::in_dir(dir.join("tasks").to_str().unwrap().parse().unwrap());
    // Only the schedule limits the number of tasks that run at once.
    tasks.max_running = TASKS;
    let before = resident();
    let now = Instant::now();
    let tasks = Scheduler::new(runner).with_settings(tasks).start(&engine).await.unwrap();
    println!("10,000 task files: start {:?}, {} kB resident", now.elapsed(), resident() - before);
    looks(&tasks, "none of them ever ran").await;
    minute(&clock, &mut runs, &tasks, "for the first time").await;
    clock.advance(Duration::from_secs(24 * 60 * 60 - 20 * 60));
    let now = Instant::now();
    for _ in 0..TASKS - 20 * DUE {
        runs.recv().await.unwrap();
    }
    println!(
        "10,000 task files: the rest of them due at once {:?}, {} kB resident",
        now.elapsed(),
        resident() - before
    );
    minute(&clock, &mut runs, &tasks, "again, each with an agent of its own").await;
    looks(&tasks, "each with an agent of its own").await;
}

async fn minute(clock: &ManualClock, runs: &mut mpsc::UnboundedReceiver<Timestamp>, tasks: &Tasks, what: &str) {
    let mut all = Vec::new();
    for _ in 0..20 {
        let now = Instant::now();
        clock.advance(Duration::from_secs(60));
        for _ in 0..DUE {
            runs.recv().await.unwrap();
        }
        // An answered `list` proves that the loop is free again.
        tasks.list().await;
        all.push(now.elapsed());
    }
    all.sort();
    println!("10,000 task files: a minute with {DUE} of them due, {what}: {:?}", all.get(10).unwrap());
}

/// The number of tasks that are due in each minute of the day.
const DUE: u32 = TASKS / (24 * 60);

fn write(dir: &Path) {
    for task in 0..TASKS {
        let own = dir.join(format!("tasks/cron/task-{task}"));
        fs::create_dir_all(&own).unwrap();
        // The last few tasks run in the last minute of the day. Otherwise some minutes would have one task more.
        let (minute, hour) = if task < DUE * 24 * 60 { (task % 60, task / 60 % 24) } else { (59, 23) };
        let text = format!("---\nschedule: \"{minute} {hour} * * *\"\n---\nDo number {task}.\n");
        fs::write(own.join("TASK.md"), text).unwrap();
        for path in [own.clone(), own.join("TASK.md")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
}

async fn looks(tasks: &Tasks, what: &str) {
    let now = Instant::now();
    for _ in 0..10 {
        tasks.look().await;
    }
    println!("10,000 task files: look at all of them when one changed, {what}: {:?}", now.elapsed() / 10);
}

fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}
