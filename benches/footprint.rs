//! Measures the allocations of a check, the memory of a million agents, and the delay that a constant writer causes a
//! reader:
//! `cargo bench -p bestow-benches --bench footprint`. Prints a table. It makes no assertions about time.
#![allow(missing_docs, reason = "a bench has no reader but its author and the next one")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a bench may stop, and looks at the clock"
)]

mod world;

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use allocation_counter::measure;
use bestow::{
    Agent, Engine, InitialGrants, Kind, Permission, Profile, Settings,
    grant::{PermissionRef, Reads},
    host::{AsWritten, SystemClock},
};
use world::{Dice, Query, World};

async fn engine(world: &World) -> (Engine, Vec<Agent>) {
    let mut settings = Settings::default();
    settings.max_changes_per_minute = u32::MAX;
    settings.reads = Reads::Granted;
    let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
    let mut agents = Vec::with_capacity(world.agents.len());
    for (number, (id, _)) in world.agents.iter().enumerate() {
        let profile = Profile::new(id.clone(), "you".parse().unwrap(), Kind::Subagent, "/srv".parse().unwrap());
        agents.push(engine.register(profile, InitialGrants::of(world.permissions(number))).await.unwrap());
    }
    (engine, agents)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    allocations(&runtime);
    tails(&runtime);
    weight(&runtime);
}

fn allocations(runtime: &tokio::runtime::Runtime) {
    let world = World::new(1_000, 32);
    let (_engine, agents) = runtime.block_on(engine(&world));
    let queries = world.queries(10_000);
    let counted = measure(|| {
        queries.iter().for_each(|query| {
            black_box(ask(&agents, query));
        })
    });
    println!("allocations in {} checks: {}", queries.len(), counted.count_total);
}

fn ask(agents: &[Agent], query: &Query) -> bool {
    agents[query.agent].check(PermissionRef::Path(query.access, &query.path)).is_held()
}

fn tails(runtime: &tokio::runtime::Runtime) {
    println!(
        "\none reader, nanoseconds a check (with about 40 of clock): alone, then beside a writer that never stops"
    );
    for (count, roots) in [(1_000, 32), (1_000, 256), (100_000, 32)] {
        let world = World::new(count, roots);
        let (_engine, agents) = runtime.block_on(engine(&world));
        let queries = world.queries(1 << 14);
        let alone = percentiles(&agents, &queries);
        let stop = Arc::new(AtomicBool::new(false));
        let writer = runtime.spawn(write(agents.clone(), Arc::clone(&stop)));
        let beside = percentiles(&agents, &queries);
        stop.store(true, Ordering::Relaxed);
        let written = runtime.block_on(writer).unwrap();
        println!(
            "{count:>7} x {roots:<4} p50 {:>6} -> {:<6} p99.9 {:>6} -> {:<6} \
             ({written} grants and revocations meanwhile)",
            alone.0, beside.0, alone.1, beside.1
        );
    }
}

async fn write(agents: Vec<Agent>, stop: Arc<AtomicBool>) -> u64 {
    let mut dice = Dice::new(3);
    let mut written = 0;
    while !stop.load(Ordering::Relaxed) {
        let (from, to) = (&agents[dice.below(agents.len())], &agents[dice.below(agents.len())]);
        if from.id() != to.id() {
            let held = from.grants().unwrap().first().unwrap().pinned.permission.clone();
            let given = from.grant(to.id(), held, "bench").await.unwrap();
            from.revoke(given[0], None).await.unwrap();
            written += 2;
        }
    }
    written
}

fn percentiles(agents: &[Agent], queries: &[Query]) -> (u64, u64) {
    let mut times: Vec<u64> = Vec::with_capacity(2_000_000);
    for query in queries.iter().cycle().take(2_000_000) {
        let started = Instant::now();
        black_box(ask(agents, query));
        times.push(started.elapsed().as_nanos() as u64);
    }
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 999 / 1000])
}

fn weight(runtime: &tokio::runtime::Runtime) {
    const AGENTS: usize = 1_000_000;
    println!("\nbytes per agent, {AGENTS} agents with 4 roots each");
    let world = World::new(1, 4);
    let roots = |number: usize| {
        world.agents[0].1.iter().map(move |(access, path)| {
            Permission::Path(*access, path.replacen("000000000", &format!("{number:09}"), 1).parse().unwrap())
        })
    };
    let texts: usize = world.agents[0].1.iter().map(|(_, path)| path.len()).sum::<usize>() + 24;
    let mut kept = None;
    let counted = measure(|| {
        kept = Some(runtime.block_on(async {
            let mut settings = Settings::default();
            settings.max_changes_per_minute = u32::MAX;
            settings.reads = Reads::Granted;
            let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
            for number in 0..AGENTS {
                let owner = "you".parse().unwrap();
                let profile = Profile::new(world::id(number), owner, Kind::Subagent, "/srv".parse().unwrap());
                engine.register(profile, InitialGrants::of(roots(number))).await.unwrap();
            }
            engine
        }));
    });
    println!("  the texts themselves (id and paths):       {texts}");
    println!("  everything, with provenance of each permission: {}", counted.bytes_current / AGENTS as i64);
    drop(kept);
}
