//! Measures a permission check of the engine beside hand-written limits and a naive one, in one run:
//! `cargo bench -p bestow-benches --bench check`.
#![allow(missing_docs, reason = "criterion's macros make functions without documentation")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a bench may stop")]

mod world;

use std::{hint::black_box, sync::Arc};

use bestow::{
    Agent, Engine, InitialGrants, Kind, Profile, Settings,
    grant::{PermissionRef, Reads},
    host::{AsWritten, SystemClock},
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use world::{Limit, Naive, Query, World};

struct Built {
    engine: Engine,
    agents: Vec<Agent>,
}

fn build(runtime: &tokio::runtime::Runtime, world: &World) -> Built {
    runtime.block_on(async {
        let mut settings = Settings::default();
        settings.reads = Reads::Granted;
        settings.protected =
            ["/etc/shadow", "/root/.ssh", "/home/u/.aws", "/home/u/.gnupg"].map(|path| path.parse().unwrap()).into();
        let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
        let mut agents = Vec::new();
        for (number, (id, _)) in world.agents.iter().enumerate() {
            let profile = Profile::new(id.clone(), "you".parse().unwrap(), Kind::Subagent, "/srv".parse().unwrap());
            agents.push(engine.register(profile, InitialGrants::of(world.permissions(number))).await.unwrap());
        }
        Built { engine, agents }
    })
}

fn check(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("check");
    for (agents, roots) in [(1_000, 4), (1_000, 32), (1_000, 256), (100_000, 32)] {
        let world = World::new(agents, roots);
        let (limit, naive, built) = (Limit::new(&world), Naive::new(&world), build(&runtime, &world));
        let queries = world.queries(1 << 14);
        let ids: Vec<_> = world.agents.iter().map(|(id, _)| id.clone()).collect();
        for query in &queries {
            let expected = naive.check(ids[query.agent].as_str(), query.access, &query.path);
            assert_eq!(limit.check(ids[query.agent].as_str(), query.access, &query.path), expected, "{query:?}");
            assert_eq!(
                built.agents[query.agent].check(PermissionRef::Path(query.access, &query.path)).is_held(),
                expected,
                "{query:?}"
            );
        }
        let world = format!("{agents}x{roots}");
        let handles: Vec<_> = ids.iter().map(|id| limit.handle(id.as_str())).collect();
        let mut run = |name: &str, ask: &dyn Fn(&Query) -> bool| {
            let mut next = queries.iter().cycle();
            group.bench_function(BenchmarkId::new(name, &world), |bencher| {
                bencher.iter(|| black_box(ask(black_box(next.next().unwrap()))));
            });
        };
        run("limit, handle", &|query| handles[query.agent].check(query.access, &query.path));
        run("bestow, handle", &|query| {
            built.agents[query.agent].check(PermissionRef::Path(query.access, &query.path)).is_held()
        });
        run("limit, by id", &|query| limit.check(ids[query.agent].as_str(), query.access, &query.path));
        run("bestow, by id", &|query| {
            built.engine.check(&ids[query.agent], PermissionRef::Path(query.access, &query.path)).is_held()
        });
        if agents * roots <= 32_000 {
            run("naive, by id", &|query| naive.check(ids[query.agent].as_str(), query.access, &query.path));
        }
    }
    group.finish();
}

criterion_group!(benches, check);
criterion_main!(benches);
