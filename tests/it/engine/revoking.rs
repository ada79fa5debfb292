//! Tests of revocation: a revoked grant ends at once, together with all grants that depend on it.

use std::sync::{
    Barrier,
    atomic::{AtomicBool, Ordering},
};

use bestow::{
    Event,
    agent::Notification,
    decision::{Check, Refusal},
    grant::{Actor, Ended, Origin, Scope},
};

use crate::support::{World, check, futures_now, heard, id, mail, policy, refusal, settings, tag, why};

#[tokio::test]
async fn everything_that_rested_on_it_falls_in_the_same_step() {
    let world = World::new();
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let bob = world.worker("bob", &[]).await;
    let cat = world.worker("cat", &[]).await;
    let given = ann.grant(bob.id(), tag("@write:/ws/a"), why()).await.unwrap()[0];
    let deeper = bob.grant(cat.id(), tag("@read:/ws/a/b"), why()).await.unwrap()[0];
    mail(&bob.mailbox());
    mail(&cat.mailbox());
    let mut events = world.engine.subscribe();
    world.engine.revoke(ann.grants().unwrap()[0].id, Some(why())).await.unwrap();
    let ended: Vec<_> = heard(&mut events)
        .into_iter()
        .map(
            |recorded| {
                if let Event::GrantRevoked { grant, ended } = recorded.event { (grant.id, ended) } else { panic!() }
            },
        )
        .collect();
    assert_eq!(ended.len(), 3);
    assert_eq!(ended[0].1, Ended::Revoked { by: Actor::Operator, reason: Some(why()) });
    assert_eq!(ended[1], (given, Ended::SupportLost { with: Some(ended[0].0) }));
    assert_eq!(ended[2], (deeper, Ended::SupportLost { with: Some(given) }));
    assert!(matches!(&mail(&bob.mailbox())[..], [Notification::Lost { ended: Some(_), .. }]));
    assert!(matches!(&mail(&cat.mailbox())[..], [Notification::Lost { ended: Some(_), .. }]));
    assert_eq!((check(&bob, "@write:/ws/a"), check(&cat, "@read:/ws/a/b")), (Check::NotHeld, Check::NotHeld));
}

#[tokio::test]
async fn two_agents_cannot_keep_each_others_permission_alive() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let bob = world.worker("bob", &[]).await;
    let cat = world.worker("cat", &[]).await;
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    bob.grant(cat.id(), tag("@network"), why()).await.unwrap();
    cat.grant(bob.id(), tag("@network"), why()).await.unwrap();
    bob.grant(ann.id(), tag("@network"), why()).await.unwrap();
    let root = ann.grants().unwrap().into_iter().find(|grant| grant.origin == Origin::Operator).unwrap();
    world.engine.revoke(root.id, None).await.unwrap();
    assert_eq!(world.engine.grants().unwrap(), []);
    for agent in [&ann, &bob, &cat] {
        assert_eq!(check(agent, "@network"), Check::NotHeld);
    }
}

#[tokio::test]
async fn what_has_another_live_support_stays() {
    let world = World::new();
    let [ann, bob, cat] = [
        world.worker("ann", &["@write:/ws"]).await,
        world.worker("bob", &["@write:/ws/a"]).await,
        world.worker("cat", &[]).await,
    ];
    ann.grant(bob.id(), tag("@write:/ws/a/b"), why()).await.unwrap();
    bob.grant(cat.id(), tag("@write:/ws/a/b"), why()).await.unwrap();
    world.engine.revoke(ann.grants().unwrap()[0].id, None).await.unwrap();
    assert_eq!(check(&cat, "@write:/ws/a/b"), Check::Held);
    assert_eq!(cat.why(&tag("@write:/ws/a/b")).unwrap().len(), 2);
}

#[tokio::test]
async fn who_gave_it_may_take_it_back_and_who_holds_it_may_give_it_up_and_nobody_else() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let bob = world.worker("bob", &[]).await;
    let cat = world.worker("cat", &[]).await;
    let given = ann.grant(bob.id(), tag("@network"), why()).await.unwrap()[0];
    let before = world.view();
    assert_eq!(refusal(cat.revoke(given, None).await), Refusal::NotYourGrant(given));
    let root = ann.grants().unwrap()[0].id;
    assert_eq!(refusal(bob.revoke(root, None).await), Refusal::NotYourGrant(root));
    assert_eq!(
        refusal(cat.revoke("g999".parse().unwrap(), None).await),
        Refusal::UnknownGrant("g999".parse().unwrap())
    );
    assert_eq!(world.view(), before);
    bob.revoke(given, None).await.unwrap();
    assert_eq!(refusal(ann.revoke(given, None).await), Refusal::UnknownGrant(given));
    let given = ann.grant(bob.id(), tag("@network"), why()).await.unwrap()[0];
    ann.revoke(given, None).await.unwrap();
    assert_eq!(check(&bob, "@network"), Check::NotHeld);
}

#[tokio::test]
async fn a_number_is_never_used_twice() {
    let world = World::new();
    let ann = world.worker("ann", &["@network"]).await;
    let bob = world.worker("bob", &[]).await;
    let first = ann.grant(bob.id(), tag("@network"), why()).await.unwrap()[0];
    ann.revoke(first, None).await.unwrap();
    let second = ann.grant(bob.id(), tag("@network"), why()).await.unwrap()[0];
    assert!(first < second);
}

#[tokio::test]
async fn what_stands_in_a_file_is_taken_away_there() {
    let world = World::new();
    world.engine.configure(policy(settings(|_| {}), &[("ann", "you", &["@network"])])).await.unwrap();
    let ann = world.engine.agent(id("ann")).unwrap();
    let grant = ann.grants().unwrap()[0].clone();
    let Origin::Config(place) = grant.origin.clone() else { panic!() };
    let refused = Refusal::FromFile(grant.id, place);
    assert_eq!(refusal(world.engine.revoke(grant.id, None).await), refused);
    assert_eq!(refusal(world.you().revoke(grant.id, None).await), refused);
    assert_eq!(refusal(ann.revoke(grant.id, None).await), refused);
}

/// Two readers check constantly. After `revoke` has returned, no later check may pass.
#[tokio::test]
async fn after_revoke_returns_no_later_check_passes() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    for _ in 0..50 {
        let root = world.you().give(ann.id(), tag("@network"), Scope::Always, why()).await.unwrap()[0];
        ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
        let (start, revoked, done) = (Barrier::new(3), AtomicBool::new(false), AtomicBool::new(false));
        let read = || {
            let mut wrong = 0;
            start.wait();
            while !done.load(Ordering::Acquire) {
                let after = revoked.load(Ordering::Acquire);
                let passes = world.engine.check(bob.id(), &tag("@network")) == Check::Held
                    || bob.check(&tag("@network")) == Check::Held;
                wrong += usize::from(after && passes);
            }
            wrong
        };
        let wrong: usize = std::thread::scope(|scope| {
            let readers = [scope.spawn(read), scope.spawn(read)];
            start.wait();
            std::thread::yield_now();
            futures_now(world.engine.revoke(root, None)).unwrap();
            revoked.store(true, Ordering::Release);
            for _ in 0..50 {
                std::thread::yield_now();
            }
            done.store(true, Ordering::Release);
            readers.map(|reader| reader.join().unwrap()).into_iter().sum()
        });
        assert_eq!(wrong, 0);
    }
}

/// A grant that wins the race is revoked in the cascade. A grant that loses is refused. Neither leaves a trace.
#[tokio::test]
async fn a_grant_that_races_with_the_end_of_its_support_leaves_nothing() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let bob = world.worker("bob", &[]).await;
    for _ in 0..100 {
        let root = world.you().give(ann.id(), tag("@network"), Scope::Always, why()).await.unwrap()[0];
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            let give = scope.spawn(|| {
                start.wait();
                let _ = futures_now(ann.grant(bob.id(), tag("@network"), why()));
            });
            start.wait();
            futures_now(world.engine.revoke(root, None)).unwrap();
            give.join().unwrap();
        });
        assert_eq!(world.engine.grants().unwrap(), []);
        assert_eq!(check(&bob, "@network"), Check::NotHeld);
    }
}

#[tokio::test]
async fn the_end_of_a_permission_leaves_a_fact_when_its_time_comes() {
    let world = World::new();
    let ann = world.worker("ann", &[]).await;
    let until = Scope::Until(world.after(1_000));
    world.you().give(ann.id(), tag("@network"), until, why()).await.unwrap();
    mail(&ann.mailbox());
    let mut events = world.engine.subscribe();
    world.later(999).await;
    assert_eq!(heard(&mut events), []);
    world.later(1).await;
    assert!(matches!(&heard(&mut events)[..], [one] if matches!(one.event, Event::GrantExpired { .. })));
    assert!(matches!(&mail(&ann.mailbox())[..], [Notification::Lost { ended: None, .. }]));
}
