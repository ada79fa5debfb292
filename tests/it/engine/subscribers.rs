//! Subscribers to events: when they come, and how many there are.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Waker},
    time::Duration,
};

use bestow::{
    Engine, InitialGrants, Kind, Settings,
    event::{NoEvent, Recorded},
};
use tokio::task::JoinSet;

use crate::support::{World, id, profile, tag};

/// More subscribers than a step wakes itself.
const MANY: usize = 40;
const EVENTS: usize = 60;

#[tokio::test]
async fn a_subscriber_hears_everything_from_then_on_and_nothing_from_before() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let before = world.engine.last_sequence().unwrap();
    assert!(before > 0);
    let mut first = world.engine.subscribe();
    assert_eq!(first.try_next(), Ok(None));
    world.worker("bob", &[]).await;
    let heard = first.try_next().unwrap().unwrap();
    assert_eq!((heard.sequence, heard.event.kind()), (before + 1, "agent.registered"));
    let mut second = world.engine.subscribe();
    ann.grant("bob", tag("@network"), "why").await.unwrap();
    let heard = (first.try_next().unwrap(), second.try_next().unwrap());
    assert_eq!(heard.0, heard.1);
    let heard = heard.0.unwrap();
    assert_eq!((heard.sequence, heard.event.kind()), (before + 2, "grant.issued"));
}

/// Runs subscribers that wait until the engine ends, and returns what each of them heard.
async fn heard_by_many(world: &World) -> Vec<Vec<Recorded>> {
    let mut listening = JoinSet::new();
    for _ in 0..MANY {
        let mut events = world.engine.subscribe();
        listening.spawn(async move {
            let mut heard = Vec::new();
            loop {
                match events.next().await {
                    Ok(event) => heard.push(event),
                    Err(NoEvent::Ended) => return heard,
                    Err(NoEvent::Missed(count)) => panic!("{count} events were missed"),
                }
            }
        });
    }
    for number in 0..EVENTS {
        world.worker(&format!("agent-{number}"), &[]).await;
        if number.is_multiple_of(7) {
            tokio::task::yield_now().await;
        }
    }
    world.engine.shutdown().await;
    tokio::time::timeout(Duration::from_secs(60), listening.join_all()).await.expect("a subscriber still waits")
}

fn assert_all_heard(all: &[Vec<Recorded>]) {
    assert_eq!(all.len(), MANY);
    for heard in all {
        let sequences: Vec<_> = heard.iter().map(|event| event.sequence).collect();
        assert_eq!(sequences, (1..=EVENTS as u64).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn every_one_of_many_subscribers_hears_each_event_in_order_and_the_end() {
    assert_all_heard(&heard_by_many(&World::new()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_it_is_with_several_threads() {
    for _ in 0..20 {
        assert_all_heard(&heard_by_many(&World::new()).await);
    }
}

#[tokio::test]
async fn many_subscribers_hear_that_the_last_handle_is_gone() {
    let world = World::new();
    let mut listening = JoinSet::new();
    for _ in 0..MANY {
        let mut events = world.engine.subscribe();
        listening.spawn(async move { events.next().await.unwrap_err() });
    }
    tokio::task::yield_now().await;
    drop(world);
    let ended = tokio::time::timeout(Duration::from_secs(60), listening.join_all()).await;
    assert_eq!(ended.expect("a subscriber still waits"), vec![NoEvent::Ended; MANY]);
}

#[test]
fn subscribers_are_woken_although_the_runtime_of_the_engine_is_gone() {
    let of_the_engine = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let engine = of_the_engine.block_on(async {
        let engine = Engine::new(Settings::default()).unwrap();
        // The task that wakes many subscribers starts.
        tokio::task::yield_now().await;
        engine
    });
    drop(of_the_engine);
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    other.block_on(async {
        let mut listening = JoinSet::new();
        for _ in 0..MANY {
            let mut events = engine.subscribe();
            listening.spawn(async move { events.next().await.unwrap().sequence });
        }
        tokio::task::yield_now().await;
        let register = engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::default());
        assert!(pin!(register).poll(&mut Context::from_waker(Waker::noop())).is_ready());
        let heard = tokio::time::timeout(Duration::from_secs(60), listening.join_all()).await;
        assert_eq!(heard.expect("a subscriber still waits"), vec![1; MANY]);
    });
    assert_eq!(engine.agent(id("ann")).unwrap().id(), &id("ann"));
}
