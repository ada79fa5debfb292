//! Tests of an engine that ends or breaks: every check is denied, and every waiting caller is informed.

use std::sync::Arc;

use bestow::{
    Engine, Error, InitialGrants, Kind, Outcome,
    decision::{Check, Decider},
    event::{NoEvent, Timestamp},
    grant::{PermissionRef, Scope},
    host::{AsWritten, Clock, ClockUnreadable, PathFailure, Paths, Real},
};

use crate::support::{ScriptedClock, World, ask, check, id, profile, settings, tag, tags, why};

#[tokio::test]
async fn after_shutdown_everything_is_refused_and_everybody_who_waits_hears_it() {
    let world = World::with(|settings| settings.reads = bestow::grant::Reads::Anywhere);
    let lead = world.lead("lead", &["@network"]).await;
    let ticket = lead.request(ask("@events")).await.unwrap();
    let mut user = world.engine.connect(id("lead")).unwrap();
    let mut dashboard = world.you().attend().unwrap();
    let mut events = world.engine.subscribe();
    world.engine.shutdown().await;

    let resolution = ticket.resolution().await;
    assert_eq!((resolution.outcome, &resolution.decider), (Outcome::Cancelled, &Decider::EngineGone));
    assert_eq!((check(&lead, "@network"), check(&lead, "@read:/etc")), (Check::NotHeld, Check::NotHeld));
    assert_eq!(world.engine.check(&id("lead"), PermissionRef::Network), Check::NotHeld);
    assert_eq!(world.engine.grants(), Err(Error::Closed));
    assert_eq!(lead.request(ask("@events")).await.map(drop), Err(Error::Closed));
    assert_eq!(lead.grant(&id("x"), tag("@network"), why()).await, Err(Error::Closed));
    assert_eq!(world.engine.connect(id("lead")).map(drop), Err(Error::Closed));
    while user.next().await.is_some() {}
    while dashboard.next().await.is_some() {}
    while events.next().await != Err(NoEvent::Ended) {}
    assert_eq!(world.engine.subscribe().next().await, Err(NoEvent::Ended));
    world.engine.shutdown().await;
}

#[tokio::test]
async fn a_ticket_outlives_the_engine_and_says_no() {
    let world = World::new();
    let ticket = world.worker("ann", &[]).await.request(ask("@network")).await.unwrap();
    assert_eq!(ticket.poll(), None);
    drop(world);
    let resolution = ticket.poll().unwrap();
    assert_eq!((resolution.outcome, &resolution.decider), (Outcome::Cancelled, &Decider::EngineGone));
    assert_eq!((&resolution.granted, &resolution.refused), (&vec![], &tags(&["@network"])));
    assert_eq!(ticket.resolution().await, resolution);
    assert_eq!(ticket.wait(std::time::Duration::ZERO).await, Some(resolution));
}

#[tokio::test]
async fn surfaces_and_subscriptions_end_with_the_last_handle() {
    let world = World::new();
    world.lead("lead", &[]).await;
    let mut user = world.engine.connect(id("lead")).unwrap();
    let mut dashboard = world.you().attend().unwrap();
    let mut events = world.engine.subscribe();
    drop(world);
    assert_eq!((user.next().await, dashboard.next().await), (None, None));
    while events.next().await != Err(NoEvent::Ended) {}
}

#[tokio::test]
async fn if_the_time_cannot_be_told_whatever_has_an_end_is_over() {
    let clock = ScriptedClock::new([Some(1_000)]);
    let engine = Engine::on(settings(|_| {}), clock.clone(), Arc::new(AsWritten)).unwrap();
    let ann =
        engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::of(tags(&["@events"]))).await.unwrap();
    let you = engine.approver("you", "ann", "terminal");
    you.give(ann.id(), tag("@network"), Scope::Until(Timestamp::from_millis(9_000)), why()).await.unwrap();
    assert_eq!(check(&ann, "@network"), Check::Held);
    clock.set([None]);
    assert_eq!((check(&ann, "@network"), check(&ann, "@events")), (Check::NotHeld, Check::Held));
    assert_eq!(ann.request(ask("@network")).await.map(drop), Err(Error::Clock(ClockUnreadable)));
    assert_eq!(you.give(ann.id(), tag("@network"), Scope::Always, why()).await, Err(Error::Clock(ClockUnreadable)));
    clock.set([Some(1_001)]);
    assert_eq!(check(&ann, "@network"), Check::Held, "and nothing was half done");
    assert_eq!(engine.grants().unwrap().len(), 2);
}

#[tokio::test]
async fn shutting_down_without_a_clock_still_answers_who_waits() {
    let clock = ScriptedClock::new([Some(1_000)]);
    let engine = Engine::on(settings(|_| {}), clock.clone(), Arc::new(AsWritten)).unwrap();
    let ann = engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    let ticket = ann.request(ask("@network")).await.unwrap();
    clock.set([None]);
    engine.shutdown().await;
    assert_eq!(ticket.resolution().await.outcome, Outcome::Cancelled);
}

/// A clock that panics on demand. The engine reads it while it holds its lock.
#[derive(Debug, Default)]
struct Fragile(std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl Clock for Fragile {
    fn now(&self) -> Result<Timestamp, ClockUnreadable> {
        assert!(!self.0.swap(false, std::sync::atomic::Ordering::SeqCst), "the clock falls down");
        Ok(Timestamp::from_millis(1_000))
    }

    async fn reaches(&self, _: Timestamp) {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_panic_under_the_lock_ends_every_permission_and_every_wait() {
    let clock = Arc::new(Fragile::default());
    let engine = Engine::on(settings(|_| {}), clock.clone(), Arc::new(AsWritten)).unwrap();
    let ann =
        engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::of(tags(&["@network"]))).await.unwrap();
    let ticket = ann.request(ask("@events")).await.unwrap();
    clock.0.store(true, std::sync::atomic::Ordering::SeqCst);
    let broken = engine.clone();
    let fall = std::thread::spawn(move || crate::support::futures_now(broken.retire(&id("ann")))).join();
    assert!(fall.is_err());
    assert_eq!(check(&ann, "@network"), Check::NotHeld);
    assert_eq!(engine.check(&id("ann"), PermissionRef::Network), Check::NotHeld);
    assert_eq!(engine.grants(), Err(Error::Closed));
    assert_eq!(ann.grant(&id("bob"), tag("@network"), why()).await, Err(Error::Closed));
    assert_eq!(ticket.resolution().await.outcome, Outcome::Cancelled);
}

/// A connection is dropped while another task's panic unwinds. This does not affect the engine.
#[tokio::test]
async fn a_panic_elsewhere_does_not_end_the_engine() {
    let world = World::new();
    let lead = world.lead("lead", &["@network"]).await;
    let user = world.engine.connect(id("lead")).unwrap();
    let fall = tokio::spawn(async move {
        let _user = user;
        panic!("a bot fell down");
    });
    assert!(fall.await.is_err());
    assert_eq!(check(&lead, "@network"), Check::Held);
    assert!(world.engine.grants().is_ok());
    assert!(world.engine.connect(id("lead")).is_ok());
}

#[derive(Debug)]
struct PanickingPaths;

impl Paths for PanickingPaths {
    fn real(&self, _: &str) -> Result<Real, PathFailure> {
        panic!("the disk falls down")
    }
}

#[tokio::test]
async fn a_panic_of_the_disk_happens_outside_the_lock_and_grants_nothing() {
    let clock = Arc::new(Fragile::default());
    let engine = Engine::on(settings(|_| {}), clock, Arc::new(PanickingPaths)).unwrap();
    let ann =
        engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::of(tags(&["@network"]))).await.unwrap();
    let you = engine.approver("you", "ann", "terminal");
    let fall = std::thread::spawn(move || {
        crate::support::futures_now(you.give(&id("ann"), tag("@write:/ws"), Scope::Always, why()))
    });
    assert!(fall.join().is_err());
    assert_eq!((check(&ann, "@write:/ws"), check(&ann, "@network")), (Check::NotHeld, Check::Held));
    assert_eq!(engine.grants().unwrap().len(), 1);
}

#[tokio::test]
async fn a_path_that_cannot_be_followed_is_nobodys() {
    #[derive(Debug)]
    struct Unreadable;
    impl Paths for Unreadable {
        fn real(&self, _: &str) -> Result<Real, PathFailure> {
            Err(PathFailure::new("unreadable"))
        }
    }
    let engine = Engine::on(settings(|_| {}), ScriptedClock::new([Some(1)]), Arc::new(Unreadable)).unwrap();
    let failed = Err(Error::Path(PathFailure::new("unreadable")));
    let made = engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::of(tags(&["@write:/ws"]))).await;
    assert_eq!(made.map(drop), failed);
    assert_eq!(engine.agents().unwrap(), []);
    let ann = engine.register(profile("ann", "you", Kind::Subagent), InitialGrants::nothing()).await.unwrap();
    assert_eq!(ann.request(ask("@write:/ws")).await.map(drop), failed);
    assert_eq!(ann.resolve(bestow::grant::Access::Read, "/ws").await.map(drop), failed);
    assert_eq!(engine.pending().unwrap(), []);
}

#[tokio::test]
async fn a_mailbox_ends_with_its_agent_and_with_the_engine() {
    let world = World::new();
    let (ann, bob) = (world.worker("ann", &[]).await, world.worker("bob", &[]).await);
    world.engine.message(ann.id(), None, "last words").await.unwrap();
    let (of_ann, of_bob) = (ann.mailbox(), bob.mailbox());
    let waiting = tokio::spawn(async move { of_bob.next().await });
    world.engine.retire(ann.id()).await.unwrap();
    assert_eq!(of_ann.next().await.unwrap().to_string(), "last words");
    assert_eq!(of_ann.next().await, None);
    world.engine.shutdown().await;
    assert_eq!(waiting.await.unwrap(), None);
}
