//! What ten thousand scheduled tasks cost: `cargo bench --features schedule --bench tasks`.
#![allow(missing_docs, reason = "criterion's macros make functions without documentation")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench may stop")]

use std::{hint::black_box, time::Duration};

use bestow::{
    CatchUp, Timestamp,
    schedule::{CronExpression, Plan, Timing},
};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

const TASKS: u32 = 10_000;

fn start() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

/// Every task once a day, spread over the minutes of it.
fn plan() -> Plan<u32> {
    let mut plan = Plan::new(CatchUp::One, Duration::ZERO);
    for task in 0..TASKS {
        let expression: CronExpression = format!("{} {} * * *", task % 60, task / 60 % 24).parse().unwrap();
        plan.set(task, Timing::At(expression, chrono_tz::Europe::Berlin), None, start());
    }
    plan
}

fn ticks(criterion: &mut Criterion) {
    let expression: CronExpression = "30 2 * * *".parse().unwrap();
    criterion.bench_function("the next moment of one schedule", |bencher| {
        bencher.iter(|| black_box(&expression).next(start(), chrono_tz::Europe::Berlin));
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
criterion_main!(benches);
