//! Measures the cost of a grant, a revocation and a routed request in memory:
//! `cargo bench -p bestow-benches --bench writes`.
#![allow(missing_docs, reason = "criterion's macros make functions without documentation")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a bench may stop, and looks at the clock"
)]

mod world;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bestow::{
    Agent, Answer, Engine, InitialGrants, Kind, Permission, PermissionRequest, Profile, Settings,
    host::{AsWritten, SystemClock},
    text::Reason,
    user::Prompt,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use world::World;

struct Pair {
    engine: Engine,
    giver: Agent,
    receiver: Agent,
    reason: Reason,
}

/// Creates a giver and a receiver that hold `roots` directories each, in an engine of a thousand agents.
async fn pair(roots: usize) -> Pair {
    let mut settings = Settings::default();
    // The bench measures one step, not the limit of facts and changes per family.
    (settings.max_facts_per_minute, settings.max_changes_per_minute) = (u32::MAX, u32::MAX);
    settings.max_grants = 1 << 20;
    settings.max_pending = 1 << 20;
    settings.max_asks_per_minute = u32::MAX;
    settings.denial_memory = Duration::ZERO;
    let engine = Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(AsWritten)).unwrap();
    let world = World::new(1_000, roots);
    for (number, (id, _)) in world.agents.iter().enumerate() {
        let kind = if number == 0 { Kind::Foreground } else { Kind::Subagent };
        let profile = Profile::new(id.clone(), "you".parse().unwrap(), kind, "/srv".parse().unwrap());
        engine.register(profile, InitialGrants::of(world.permissions(number))).await.unwrap();
    }
    let giver = engine.agent(&world.agents[1].0).unwrap();
    let receiver = engine.agent(&world.agents[2].0).unwrap();
    Pair { engine, giver, receiver, reason: "for the bench".parse().unwrap() }
}

fn grant(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("grant, validated and published");
    for roots in [4, 32, 256] {
        let pair = runtime.block_on(pair(roots));
        let root =
            pair.giver.permissions().unwrap().iter().find(|held| held.to_string().starts_with("@write")).unwrap();
        let path = root.path().unwrap();
        let wanted: Vec<_> = (0..64).map(|n| Permission::write(format!("{path}/p{n}").parse().unwrap())).collect();
        group.bench_function(BenchmarkId::new("roots", roots), |bencher| {
            bencher.iter_custom(|rounds| {
                runtime.block_on(async {
                    let mut spent = Duration::ZERO;
                    for round in 0..rounds {
                        let wanted = wanted[round as usize % wanted.len()].clone();
                        let started = Instant::now();
                        let given = pair.giver.grant(pair.receiver.id(), wanted, pair.reason.clone()).await.unwrap();
                        spent += started.elapsed();
                        // The grant is revoked outside the measurement, so that the receiver stays unchanged.
                        pair.giver.revoke(given[0], None).await.unwrap();
                    }
                    spent
                })
            });
        });
    }
    group.finish();
}

fn revoke(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pair = runtime.block_on(pair(32));
    let root = pair.giver.permissions().unwrap().iter().find(|held| held.to_string().starts_with("@write")).unwrap();
    criterion.bench_function("revoke, one grant, 32 roots", |bencher| {
        bencher.iter_custom(|rounds| {
            runtime.block_on(async {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    let given = pair.giver.grant(pair.receiver.id(), root.clone(), pair.reason.clone()).await.unwrap();
                    let started = Instant::now();
                    pair.giver.revoke(given[0], None).await.unwrap();
                    spent += started.elapsed();
                }
                spent
            })
        });
    });
}

fn request(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pair = runtime.block_on(pair(32));
    let (lead, you) = (world::id(0), pair.engine.approver("you", "ann", "bench"));
    let guard = runtime.enter();
    let mut user = pair.engine.connect(&lead).unwrap();
    drop(guard);
    let mut group = criterion.benchmark_group("request");
    for (name, answered) in [("routed to the carrier", false), ("routed, answered, heard", true)] {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| {
                runtime.block_on(async {
                    let mut spent = Duration::ZERO;
                    for _ in 0..rounds {
                        let ask = PermissionRequest::new(Permission::Network, pair.reason.clone());
                        let started = Instant::now();
                        let ticket = pair.receiver.request(ask).await.unwrap();
                        let shown = user.next().await.unwrap();
                        let routed = started.elapsed();
                        assert!(matches!(shown, Prompt::Ask(_)));
                        you.answer(ticket.id(), Answer::deny()).await.unwrap();
                        ticket.resolution().await;
                        spent += if answered { started.elapsed() } else { routed };
                        user.next().await.unwrap();
                    }
                    spent
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, grant, revoke, request);
criterion_main!(benches);
