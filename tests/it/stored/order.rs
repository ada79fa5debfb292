//! Tests of the order of effects: a grant is visible after it is stored, a revocation at once.

use std::{pin::Pin, task::Poll};

use bestow::{
    Action, Agent, Answer, Error, Event, Kind, PermissionRequest,
    action::Authorization,
    command::{Raise, Tier},
    decision::Check,
    event::Timestamp,
    grant::{GrantId, PermissionRef, Scope},
    host::{MemoryStore, StoreFault},
    user::Prompt,
};

use super::held::{HeldStore, world};
use crate::support::{World, ask, check, heard, id, mail, settle, tag, why};

/// Polls a future once, asserts that it waits, and returns it.
async fn begun<T>(future: impl Future<Output = T>) -> Pin<Box<impl Future<Output = T>>> {
    let mut future = Box::pin(future);
    let first = std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    assert!(first.is_pending(), "it did not wait for the store");
    future
}

#[tokio::test]
async fn what_gives_is_not_seen_told_or_acknowledged_before_it_is_stored() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@network"]).await, world.worker("bob", &[]).await);
    let mut events = world.engine.subscribe();
    store.hold();
    let given = begun(ann.grant(bob.id(), tag("@network"), why())).await;
    settle().await;
    assert_eq!(check(&bob, "@network"), Check::NotHeld);
    assert_eq!(bob.grants().unwrap(), []);
    assert_eq!((heard(&mut events), mail(&bob.mailbox())), (vec![], vec![]));
    store.store_all();
    assert_eq!(check(&bob, "@network"), Check::Held, "it is in force before it is acknowledged");
    assert_eq!((heard(&mut events).len(), mail(&bob.mailbox()).len()), (1, 1));
    assert_eq!(given.await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_takes_is_gone_at_once_with_everything_below_it_and_told_when_it_is_stored() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@network"]).await, world.worker("bob", &[]).await);
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    let mut events = world.engine.subscribe();
    store.hold();
    let root = ann.grants().unwrap()[0].id;
    let revoked = begun(world.engine.revoke(root, None)).await;
    assert_eq!((check(&ann, "@network"), check(&bob, "@network")), (Check::NotHeld, Check::NotHeld));
    assert_eq!(world.engine.grants().unwrap(), []);
    assert_eq!(heard(&mut events), []);
    store.store_all();
    revoked.await.unwrap();
    assert_eq!(heard(&mut events).len(), 2);
}

#[tokio::test]
async fn a_grant_that_is_revoked_before_it_is_stored_is_never_seen() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@network"]).await, world.worker("bob", &[]).await);
    store.hold();
    let given = begun(ann.grant(bob.id(), tag("@network"), why())).await;
    let root = ann.grants().unwrap()[0].id;
    let revoked = begun(world.engine.revoke(root, None)).await;
    store.store(1);
    assert_eq!(check(&bob, "@network"), Check::NotHeld, "the revocation came first for whoever looks");
    assert_eq!(bob.grants().unwrap(), []);
    store.store_all();
    given.await.unwrap();
    revoked.await.unwrap();
    assert_eq!(world.engine.grants().unwrap(), []);
}

/// The grant has no end at first, and is about a path. Such a grant is published without compiling the others again.
#[tokio::test]
async fn a_grant_that_is_narrowed_before_it_is_stored_is_never_seen_in_its_wider_form() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &[]).await, world.worker("bob", &[]).await);
    let (soon, you) = (world.after(1_000), world.you());
    for scope in [Scope::Until(soon), Scope::Always] {
        you.give(ann.id(), tag("@write:/ws"), scope, why()).await.unwrap();
    }
    let lasting = ann.grants().unwrap().into_iter().find(|grant| grant.until.is_none()).unwrap();
    store.hold();
    let given = begun(ann.grant(bob.id(), tag("@write:/ws/part"), why())).await;
    let revoked = begun(world.engine.revoke(lasting.id, None)).await;
    assert!(matches!(&store.waiting()[0].events[..], [Event::GrantIssued { grant }] if grant.until.is_none()));
    store.store(1);
    assert_eq!(check(&bob, "@write:/ws/part"), Check::Held);
    assert_eq!(bob.grants().unwrap()[0].until, Some(soon));
    world.clock.advance(std::time::Duration::from_millis(1_000));
    assert_eq!(check(&bob, "@write:/ws/part"), Check::NotHeld, "the revocation came first for whoever looks");
    store.store_all();
    given.await.unwrap();
    revoked.await.unwrap();
}

#[tokio::test]
async fn what_rests_on_something_that_is_not_stored_is_not_acknowledged_either() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@network"]).await, world.worker("bob", &[]).await);
    let eve = world.worker("eve", &[]).await;
    store.hold();
    let first = begun(ann.grant(bob.id(), tag("@network"), why())).await;
    let second = begun(bob.grant(eve.id(), tag("@network"), why())).await;
    // The permission is already held, so the use decides nothing new.
    let network = tag("@network");
    let used = begun(bob.spend(&network)).await;
    store.fail(StoreFault::Refused);
    for refused in [first.await.map(drop), second.await.map(drop), used.await] {
        assert!(matches!(refused, Err(Error::Store(_))), "{refused:?}");
    }
    store.store_all();
    assert_eq!((check(&bob, "@network"), check(&eve, "@network")), (Check::NotHeld, Check::NotHeld));
    let again = begun(ann.grant(bob.id(), tag("@network"), why())).await;
    store.store_all();
    again.await.unwrap();
    assert_eq!(check(&bob, "@network"), Check::Held, "once there is room it goes on");
}

#[tokio::test]
async fn a_disk_that_fails_refuses_what_gives_and_stores_what_takes_again() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@network", "@events"]).await, world.worker("bob", &[]).await);
    let held = ann.grants().unwrap();
    let mut events = world.engine.subscribe();
    store.hold();
    let given = begun(ann.grant(bob.id(), tag("@network"), why())).await;
    let revoked = begun(world.engine.revoke(held[1].id, None)).await;
    store.fail(StoreFault::Refused);
    assert!(matches!(given.await, Err(Error::Store(_))));
    assert_eq!(check(&ann, "@events"), Check::NotHeld);
    let kinds: Vec<_> =
        store.waiting().iter().flat_map(|batch| batch.events.clone()).map(|event| event.kind()).collect();
    assert_eq!(kinds, ["grant.revoked", "store.failed"]);
    assert!(store.waiting().iter().all(|batch| batch.only_takes));
    store.store_all();
    revoked.await.unwrap();
    let told: Vec<_> = heard(&mut events).iter().map(|recorded| (recorded.sequence, recorded.event.kind())).collect();
    let before = store.stored()[store.stored().len() - 3].sequence;
    assert_eq!(told, [(before + 1, "grant.revoked"), (before + 2, "store.failed")], "no number is lost or used twice");
}

#[tokio::test]
async fn a_store_that_broke_gives_nothing_and_takes_away_what_it_is_told_to_but_does_not_call_it_done() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@network", "@events"]).await, world.worker("bob", &[]).await);
    let held = ann.grants().unwrap();
    let mut events = world.engine.subscribe();
    store.hold();
    let given = begun(ann.grant(bob.id(), tag("@network"), why())).await;
    let revoked = begun(world.engine.revoke(held[0].id, None)).await;
    store.fail(StoreFault::Broken);
    assert!(matches!(given.await, Err(Error::Store(_))));
    assert!(matches!(revoked.await, Err(Error::Store(_))), "a later engine may not know of it");
    assert_eq!(check(&ann, "@network"), Check::NotHeld, "it is gone here all the same");
    assert!(heard(&mut events).iter().any(|recorded| matches!(recorded.event, Event::StoreFailed { .. })));
    let refused = world.you().give(bob.id(), tag("@events"), Scope::Always, why()).await;
    assert!(matches!(refused, Err(Error::Store(_))), "{refused:?}");
    assert!(matches!(ann.request(ask("@write:/ws")).await, Err(Error::Store(_))));
    assert!(matches!(world.engine.revoke(held[1].id, None).await, Err(Error::Store(_))));
    assert_eq!(check(&ann, "@events"), Check::NotHeld);
    assert_eq!(world.engine.grants().unwrap(), []);
}

#[tokio::test]
async fn an_earlier_end_of_a_grant_whose_support_went_is_stored_after_a_failure() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &[]).await, world.worker("bob", &[]).await);
    let (soon, late) = (world.after(1_000), world.after(9_000));
    let you = world.you();
    you.give(ann.id(), tag("@network"), Scope::Until(soon), why()).await.unwrap();
    you.give(ann.id(), tag("@network"), Scope::Until(late), why()).await.unwrap();
    let lasting = ann.grants().unwrap().into_iter().find(|grant| grant.until == Some(late)).unwrap();
    ann.grant_for(bob.id(), tag("@network"), Scope::Until(late), why()).await.unwrap();
    assert_eq!(bob.grants().unwrap()[0].until, Some(late));
    store.hold();
    let _revoked = begun(world.engine.revoke(lasting.id, None)).await;
    store.fail(StoreFault::Refused);
    assert_eq!(bob.grants().unwrap()[0].until, Some(soon), "it is in force here");
    let stored_again = store.waiting();
    let mut events = stored_again.iter().flat_map(|batch| &batch.events);
    assert!(events.any(|event| matches!(event, Event::GrantChanged { grant } if grant.until == Some(soon))));
    assert!(stored_again.iter().all(|batch| batch.only_takes));
}

/// Returns a world whose store is broken. `bob` holds the network until `late` from the grant of ann that is returned,
/// and ann holds it from another grant until `soon`.
async fn shortened_by_a_revocation() -> (World, GrantId, Agent, Timestamp) {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@events"]).await, world.worker("bob", &[]).await);
    let (soon, late) = (world.after(1_000), world.after(9_000));
    let you = world.you();
    for until in [soon, late] {
        you.give(ann.id(), tag("@network"), Scope::Until(until), why()).await.unwrap();
    }
    let lasting = ann.grants().unwrap().into_iter().find(|grant| grant.until == Some(late)).unwrap().id;
    ann.grant_for(bob.id(), tag("@network"), Scope::Until(late), why()).await.unwrap();
    store.hold();
    let given = begun(you.give(ann.id(), tag("@write:/ws"), Scope::Always, why())).await;
    store.fail(StoreFault::Broken);
    assert!(matches!(given.await, Err(Error::Store(_))));
    (world, lasting, bob, soon)
}

#[tokio::test]
async fn a_revocation_that_shortens_another_grant_takes_effect_although_the_store_broke() {
    let (world, lasting, bob, soon) = shortened_by_a_revocation().await;
    assert!(matches!(world.engine.revoke(lasting, None).await, Err(Error::Store(_))));
    assert!(world.engine.grants().unwrap().iter().all(|grant| grant.id != lasting));
    assert_eq!(bob.grants().unwrap()[0].until, Some(soon));
}

#[tokio::test]
async fn an_agent_with_a_denial_for_its_run_begins_a_run_although_the_store_broke() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.worker("ann", &["@network"]).await;
    let you = world.you();
    you.give(ann.id(), tag("@events"), Scope::Session, why()).await.unwrap();
    let Authorization::Asked(_, ticket) = ann.authorize(Action::command("node a.js")).await.unwrap() else {
        panic!("it is asked");
    };
    you.answer(ticket.id(), Answer::deny().scope(Scope::Session)).await.unwrap();
    store.hold();
    let given = begun(you.give(ann.id(), tag("@write:/ws"), Scope::Always, why())).await;
    store.fail(StoreFault::Broken);
    assert!(matches!(given.await, Err(Error::Store(_))));
    assert!(matches!(world.engine.begin_run(ann.id(), "r2".parse().unwrap()).await, Err(Error::Store(_))));
    assert_eq!(check(&ann, "@events"), Check::NotHeld, "what it held for the run before is gone");
}

#[tokio::test]
async fn a_surface_that_a_broken_store_refuses_does_not_count_as_open() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (lead, ann) = (world.lead("lead", &[]).await, world.worker("ann", &[]).await);
    let _waiting = ann.request(ask("@network")).await.unwrap();
    store.hold();
    let you = world.you();
    let given = begun(you.give(ann.id(), tag("@events"), Scope::Always, why())).await;
    store.fail(StoreFault::Broken);
    assert!(matches!(given.await, Err(Error::Store(_))));
    let routes = world.engine.pending().unwrap();
    let mut events = world.engine.subscribe();
    assert!(matches!(world.engine.connect(lead.id().clone()), Err(Error::Store(_))));
    assert_eq!(world.engine.pending().unwrap(), routes, "its user is not asked");
    assert!(matches!(you.attend(), Err(Error::Store(_))));
    assert_eq!(world.engine.pending().unwrap(), routes, "no approver is asked");
    let kinds: Vec<_> = heard(&mut events).iter().map(|recorded| recorded.event.kind()).collect();
    let left = kinds.iter().filter(|kind| ["carrier.disconnected", "approver.left"].contains(kind));
    assert_eq!(left.count(), 2, "{kinds:?}");
}

#[tokio::test]
async fn an_agent_with_a_lasting_denial_is_retired_although_the_store_broke() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.worker("ann", &["@network"]).await;
    let Authorization::Asked(_, ticket) = ann.authorize(Action::command("node a.js")).await.unwrap() else {
        panic!("it is asked");
    };
    world.you().answer(ticket.id(), Answer::deny().scope(Scope::Always)).await.unwrap();
    assert_eq!(ann.rulings().unwrap().len(), 1);
    store.hold();
    let you = world.you();
    let given = begun(you.give(ann.id(), tag("@events"), Scope::Always, why())).await;
    store.fail(StoreFault::Broken);
    assert!(matches!(given.await, Err(Error::Store(_))));
    assert!(matches!(world.engine.retire(ann.id()).await, Err(Error::Store(_))));
    assert_eq!(check(&ann, "@network"), Check::NotHeld, "the retirement takes effect");
    assert!(world.engine.agent(ann.id()).is_err());
}

#[tokio::test]
async fn a_one_shot_permission_is_not_used_before_that_is_stored_and_cannot_be_used_twice_meanwhile() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.worker("ann", &[]).await;
    world.you().give(ann.id(), tag("@network"), Scope::Once, why()).await.unwrap();
    store.hold();
    let network = tag("@network");
    let used = begun(ann.spend(&network)).await;
    assert_eq!(check(&ann, "@network"), Check::NotHeld);
    let twice = ann.spend(&network).await;
    assert!(matches!(twice, Err(Error::Refused(_))), "{twice:?}");
    store.store_all();
    used.await.unwrap();
}

/// Each use has a file of its own, because it reads the real disk.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_by_a_lasting_permission_waits_for_no_disk_and_its_fact_follows_while_writes_and_single_uses_wait() {
    let directory = tempfile::tempdir().unwrap();
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    #[expect(clippy::disallowed_methods, reason = "the second opinion on what `fs` says")]
    let real = directory.path().canonicalize().unwrap();
    let path = |name: &str| real.join(name).to_str().unwrap().to_owned();
    ["lasting", "once"].iter().for_each(|name| std::fs::write(path(name), name).unwrap());
    let ann = world.worker("ann", &[&format!("@read:{}", path("lasting")), &format!("@write:{}", path("w"))]).await;
    let once = tag(&format!("@read:{}", path("once")));
    world.you().give(ann.id(), once, Scope::Once, why()).await.unwrap();
    store.hold();
    assert_eq!(ann.fs().read(&path("lasting")).await.unwrap(), b"lasting");
    let fact = store.waiting().last().unwrap().events.clone();
    assert!(matches!(&fact[..], [bestow::Event::Evaluated { .. }]), "it is on its way: {fact:?}");
    let (reads, writes) = (ann.fs(), ann.fs());
    let (once, written) = (path("once"), path("w"));
    let mut single = tokio::spawn(async move { reads.read(&once).await });
    let mut write = tokio::spawn(async move { writes.write(&written, "x").await });
    while store.waiting().len() < 3 {
        tokio::task::yield_now().await;
    }
    assert!(begun_already(&mut single).await && begun_already(&mut write).await, "neither came to its end");
    assert!(!real.join("w").exists(), "nothing is changed before it is recorded");
    store.store_all();
    assert_eq!(single.await.unwrap().unwrap(), b"once");
    write.await.unwrap().unwrap();
    // If the disk is known to fail, the read waits: a use that cannot be proven later must not happen.
    let (reads, lasting) = (ann.fs(), path("lasting"));
    let read = tokio::spawn(async move { reads.read(&lasting).await });
    while store.waiting().is_empty() {
        tokio::task::yield_now().await;
    }
    store.fail(StoreFault::Refused);
    drop(read.await);
    let (reads, lasting) = (ann.fs(), path("lasting"));
    let read = tokio::spawn(async move { reads.read(&lasting).await });
    while store.waiting().len() < 2 {
        tokio::task::yield_now().await;
    }
    store.fail(StoreFault::Refused);
    assert!(matches!(read.await.unwrap(), Err(Error::Store(_))));
}

/// Returns true if the task still runs.
async fn begun_already<T>(task: &mut tokio::task::JoinHandle<T>) -> bool {
    settle().await;
    !task.is_finished()
}

#[tokio::test]
async fn an_agent_that_is_going_cannot_act_for_the_next_one_of_its_name() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (old, bob) = (world.worker("ann", &[]).await, world.worker("bob", &[]).await);
    store.hold();
    let gone = begun(world.engine.retire(old.id())).await;
    let new = begun(world.worker("ann", &["@network"])).await;
    // The attack: the name is taken again, and the old handle acts before the disk has stored the retirement.
    let stolen = old.grant(bob.id(), tag("@network"), why()).await;
    assert!(matches!(stolen, Err(Error::Refused(bestow::decision::Refusal::Gone(_)))), "{stolen:?}");
    store.store_all();
    gone.await.unwrap();
    assert_eq!(check(&new.await, "@network"), Check::Held);
    assert_eq!((check(&old, "@network"), check(&bob, "@network")), (Check::NotHeld, Check::NotHeld));
}

#[tokio::test]
async fn a_connection_shows_each_question_once_and_only_when_it_is_stored() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (_lead, ann) = (world.lead("lead", &[]).await, world.worker("ann", &[]).await);
    let first = ann.request(ask("@network")).await.unwrap();
    store.hold();
    let mut user = world.engine.connect(id("lead")).unwrap();
    let second = begun(ann.request(ask("@events"))).await;
    let nothing = tokio::time::timeout(std::time::Duration::ZERO, user.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    store.store_all();
    let second = second.await.unwrap();
    for wanted in [first.id(), second.id()] {
        let Some(Prompt::Ask(request)) = user.next().await else { panic!("no question") };
        assert_eq!(request.id, wanted);
    }
    let more = tokio::time::timeout(std::time::Duration::ZERO, user.next()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn settings_that_narrow_are_in_force_at_once_and_what_widens_is_not() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.agent("ann", "you", Kind::Cron, &["@write:/a", "@write:/b"]).await;
    let policy = |protected: &str| {
        let settings = crate::support::settings(|settings| settings.protected = [protected.parse().unwrap()].into());
        crate::support::policy(settings, &[])
    };
    world.engine.configure(policy("/a")).await.unwrap();
    assert_eq!(
        (ann.check(PermissionRef::write("/a/x")), ann.check(PermissionRef::write("/b/x"))),
        (Check::NotHeld, Check::Held)
    );
    store.hold();
    let changed = begun(world.engine.configure(policy("/b"))).await;
    assert_eq!(
        (ann.check(PermissionRef::write("/a/x")), ann.check(PermissionRef::write("/b/x"))),
        (Check::NotHeld, Check::NotHeld)
    );
    store.store_all();
    changed.await.unwrap();
    assert_eq!(
        (ann.check(PermissionRef::write("/a/x")), ann.check(PermissionRef::write("/b/x"))),
        (Check::Held, Check::NotHeld)
    );
}

#[tokio::test]
async fn settings_that_narrow_stay_in_force_while_an_earlier_change_is_stored() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.agent("ann", "you", Kind::Cron, &["@write:/a", "@write:/b"]).await;
    let policy = |protected: &str| {
        let settings = crate::support::settings(|settings| settings.protected = [protected.parse().unwrap()].into());
        crate::support::policy(settings, &[])
    };
    let checks = || (ann.check(PermissionRef::write("/a/x")), ann.check(PermissionRef::write("/b/x")));
    store.hold();
    let first = begun(world.engine.configure(policy("/a"))).await;
    let second = begun(world.engine.configure(policy("/b"))).await;
    assert_eq!(checks(), (Check::NotHeld, Check::NotHeld));
    store.store(1);
    first.await.unwrap();
    assert_eq!(checks(), (Check::NotHeld, Check::NotHeld), "the second change is decided");
    store.store_all();
    second.await.unwrap();
    assert_eq!(checks(), (Check::Held, Check::NotHeld));
}

#[tokio::test]
async fn stricter_rules_about_commands_are_in_force_at_once_and_looser_ones_are_not() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.worker("ann", &["@write:/ws"]).await;
    let raised = crate::support::settings(|settings| {
        let words = |words: &str| vec![words.to_owned()];
        let (program, matches, not_matches) = ("ls".to_owned(), words("ls -l"), words("ls"));
        settings.commands.raises =
            vec![Raise { program, words: words("-l"), tier: Tier::Destructive, matches, not_matches }];
    });
    let configure = |settings| world.engine.configure(crate::support::policy(settings, &[]));
    let verdict = || ann.verdict(&Action::command("ls -l")).unwrap();
    let plain = verdict();
    store.hold();
    let stricter = begun(configure(raised)).await;
    assert_ne!(verdict(), plain, "the change is decided");
    world.engine.declare_tools(bestow::tool::Tools::default()).unwrap();
    assert_ne!(verdict(), plain, "the tools of the host change nothing about that");
    let raised = verdict();
    store.store_all();
    stricter.await.unwrap();
    let looser = begun(configure(crate::support::settings(|_| {}))).await;
    assert_eq!(verdict(), raised, "it may not be stored");
    store.store_all();
    looser.await.unwrap();
    assert_eq!(verdict(), plain);
}

#[cfg(feature = "sandbox")]
#[tokio::test]
async fn stricter_settings_hold_for_the_commands_of_an_agent_at_once() {
    use bestow::{InitialGrants, Profile, path::SanitizedPath};
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| -> SanitizedPath { directory.path().join(name).to_str().unwrap().parse().unwrap() };
    let (home, closed) = (path(""), path("closed"));
    std::fs::write(closed.as_str(), "").unwrap();
    let profile = Profile::new(id("ann"), "you".parse().unwrap(), Kind::Subagent, home);
    let ann = world.engine.register(profile, InitialGrants::nothing()).await.unwrap();
    let stricter = crate::support::settings(|settings| {
        settings.protected = [closed.clone()].into();
        settings.limits.time = Some(std::time::Duration::from_secs(1));
    });
    let bounds = || {
        let profile = ann.sandbox_profile(&[]).unwrap();
        (profile.hidden().contains(&closed), profile.limits().time)
    };
    let before = bounds();
    assert!(!before.0 && before.1.is_none());
    store.hold();
    let changed = begun(world.engine.configure(crate::support::policy(stricter, &[]))).await;
    assert_eq!(bounds(), (true, Some(std::time::Duration::from_secs(1))), "the change is decided");
    store.store_all();
    changed.await.unwrap();
    assert_eq!(bounds(), (true, Some(std::time::Duration::from_secs(1))));
}

#[tokio::test]
async fn a_change_that_cannot_be_stored_restricts_at_once_even_if_its_caller_stopped_waiting() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.agent("ann", "you", Kind::Cron, &["@write:/a", "@write:/b"]).await;
    let protecting = crate::support::settings(|settings| settings.protected = ["/a".parse().unwrap()].into());
    store.hold();
    {
        let _dropped = begun(world.engine.configure(crate::support::policy(protecting, &[]))).await;
    }
    store.fail(StoreFault::Refused);
    let checks = || (ann.check(PermissionRef::write("/a/x")), ann.check(PermissionRef::write("/b/x")));
    assert_eq!(checks(), (Check::NotHeld, Check::Held));
    assert!(store.waiting().iter().all(|batch| batch.only_takes));
    store.store_all();
    assert_eq!(checks(), (Check::NotHeld, Check::Held));
    assert!(world.engine.protected().unwrap().contains(&"/a".parse().unwrap()), "the restriction is stored");
}

#[tokio::test]
async fn whoever_stops_waiting_changes_nothing() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let (ann, bob) = (world.worker("ann", &["@network"]).await, world.worker("bob", &[]).await);
    store.hold();
    {
        let _dropped = begun(ann.grant(bob.id(), tag("@network"), why())).await;
    }
    store.store_all();
    assert_eq!(check(&bob, "@network"), Check::Held);
}

#[tokio::test]
async fn an_answer_is_seen_by_the_asker_when_it_is_stored() {
    let store = HeldStore::new(Vec::new());
    let world = world(store.clone()).await;
    let ann = world.worker("ann", &[]).await;
    let ticket = ann.request(PermissionRequest::new(tag("@network"), why())).await.unwrap();
    store.hold();
    let you = world.you();
    let answered = begun(you.answer(ticket.id(), Answer::allow())).await;
    let late = begun(you.answer(ticket.id(), Answer::deny())).await;
    assert_eq!(ticket.poll(), None);
    store.store_all();
    assert_eq!(ticket.poll().unwrap().outcome, bestow::Outcome::Granted);
    answered.await.unwrap();
    assert!(
        matches!(late.await, Err(Error::Refused(bestow::decision::Refusal::AlreadyResolved(_)))),
        "the first answer wins"
    );
}

#[tokio::test]
async fn a_store_that_stores_at_once_makes_nobody_wait() {
    let world = world(std::sync::Arc::new(MemoryStore::new())).await;
    let (ann, bob) = (world.worker("ann", &["@network"]).await, world.worker("bob", &[]).await);
    crate::support::futures_now(ann.grant(bob.id(), tag("@network"), why())).unwrap();
    assert_eq!(check(&bob, "@network"), Check::Held);
}
