//! Tests of a disk that another process fills up at any moment, and keeps full: it takes all room that is freed.

use std::sync::Arc;

use bestow::{
    InitialGrants, Kind, Permission,
    decision::Check,
    grant::Scope,
    host::{AsWritten, ManualClock, Store as _, Stored},
    journal::{Journal, audit},
};

use super::{
    disk::{Call, FakeDisk, Fault},
    faults::{STATE, agrees, calls, give_until_refused, live, open, open_with},
};
use crate::support::{START, World, check, id, policy, profile, settings, tag, why};

/// The attack: the disk is filled at the worst moment. A naive journal removes a file to make room, and the other
/// process takes that room.
#[tokio::test]
async fn a_disk_that_is_filled_up_at_any_moment_brings_nothing_back() {
    let (opened, calls) = calls().await;
    for call in opened..calls.len() {
        let disk = FakeDisk::new();
        disk.fill_before(call);
        let world = open(&disk).await.unwrap();
        let told = live(&world).await;
        assert_eq!(told.unstored_revocations, 0, "filled before call {call}");
        let killed = disk.copy();
        if disk.is_filled() {
            give_until_refused(&world).await;
            disk.empty();
            // The engine goes on by itself when there is room.
            world.you().give(&id("bob"), tag("@events"), Scope::Always, why()).await.unwrap();
        }
        world.engine.shutdown().await;
        for (left, end) in [(killed, "after a kill"), (disk, "after an orderly end")] {
            let full = left.copy();
            full.fill_before(0);
            agrees(&full, &told, &format!("filled before call {call}, {end}, still full")).await;
        }
    }
}

/// Revokes while the disk is filled and nothing can be stored: the permission is gone here, and the caller learns that
/// it is not stored.
async fn revoke_unstored(world: &World, grant: bestow::grant::GrantId) {
    let revoked = world.engine.revoke(grant, None).await;
    assert!(
        matches!(&revoked, Err(bestow::Error::Store(why)) if why.to_string().contains("continues by itself")),
        "{revoked:?}"
    );
}

/// A disk that cannot give space to a file ahead of time is filled, and the other process takes the reserve as well.
/// Every step fails then, again and again.
#[tokio::test]
async fn an_engine_whose_disk_was_full_goes_on_by_itself() {
    let disk = FakeDisk::new();
    disk.allocate_nothing();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network", "@events", "@write:/a", "@write:/b"]).await;
    let held = ann.grants().unwrap();
    let mut events = world.engine.subscribe();
    disk.fill_before(disk.calls().len());
    for grant in held.iter().take(3) {
        revoke_unstored(&world, grant.id).await;
        let given = world.you().give(ann.id(), tag("@write:/c"), Scope::Always, why()).await;
        assert!(given.is_err(), "{given:?}");
    }
    let killed = disk.copy();
    assert_eq!((check(&ann, "@network"), check(&ann, "@write:/b")), (Check::NotHeld, Check::Held));
    disk.empty();
    // Nobody calls: the engine tries again.
    world.clock.advance(std::time::Duration::from_secs(1));
    let mut stored = 0;
    while stored < 3 {
        stored += usize::from(events.next().await.unwrap().event.kind() == "grant.revoked");
    }
    world.you().give(ann.id(), tag("@write:/c"), Scope::Always, why()).await.unwrap();
    world.engine.revoke(held[3].id, None).await.unwrap();
    world.engine.shutdown().await;
    drop((ann, world));
    let after = open(&disk).await.unwrap();
    let held: Vec<_> = after.engine.grants().unwrap().iter().map(|grant| grant.pinned.permission.to_string()).collect();
    assert_eq!(held, ["@write:/c"], "what was taken away while the disk was full stays away");
    assert!(open(&killed).await.is_ok(), "a kill meanwhile leaves no damage");
}

/// The calls while the disk is full are refused, and not left waiting.
#[tokio::test]
async fn an_engine_that_ends_on_a_full_disk_ends() {
    let disk = FakeDisk::new();
    disk.allocate_nothing();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network", "@events"]).await;
    disk.fill_before(disk.calls().len());
    for grant in ann.grants().unwrap() {
        revoke_unstored(&world, grant.id).await;
    }
    world.engine.shutdown().await;
}

/// The disk is filled while an engine starts on a directory that has a killed engine's records.
#[tokio::test]
async fn a_disk_that_is_filled_up_during_a_start_loses_nothing() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let told = live(&world).await;
    let killed = disk.copy();
    world.engine.shutdown().await;
    let count = {
        let copy = killed.copy();
        let world = open(&copy).await.unwrap();
        world.engine.shutdown().await;
        copy.calls().len()
    };
    for call in 0..count {
        let copy = killed.copy();
        copy.fill_before(call);
        agrees(&copy, &told, &format!("filled before call {call}")).await;
        agrees(&copy.copy(), &told, &format!("filled before call {call}, once more")).await;
    }
}

/// Returns an engine whose only segment is larger than the reserve.
async fn long_segment(disk: &Arc<FakeDisk>) -> World {
    let clock = Arc::new(ManualClock::at(START));
    let journal = Journal::open_on(disk.clone(), STATE, 1 << 24).unwrap();
    let settings = settings(|settings| settings.max_grants = 1 << 20);
    let engine = bestow::Engine::restore(Some(settings), clock.clone(), Arc::new(AsWritten), Arc::new(journal));
    let world = World { engine: engine.await.unwrap(), clock };
    for number in 0..10 {
        let all: Vec<Permission> = (0..400).map(|place| tag(&format!("@write:/ws/{number}/{place}"))).collect();
        let profile = profile(&format!("a{number}"), "you", Kind::Cron);
        world.engine.register(profile, InitialGrants::of(all)).await.unwrap();
    }
    world
}

/// A naive journal writes the whole segment once more after a kill, and a full disk has no room for that.
#[tokio::test]
async fn after_a_kill_an_engine_starts_on_a_full_disk_whatever_the_length_of_its_segment() {
    let disk = FakeDisk::new();
    let world = long_segment(&disk).await;
    world.engine.revoke(world.engine.grants().unwrap()[0].id, None).await.unwrap();
    let (killed, expected) = (disk.copy(), world.engine.grants().unwrap());
    assert!(1 << 20 < killed.read_file("journal-00000000000000000001.jsonl").len());
    world.engine.shutdown().await;
    let full = killed.copy();
    full.fill_before(0);
    let world = open_with(&full, 1 << 24).await.unwrap();
    assert_eq!(world.engine.grants().unwrap(), expected);
    world.engine.revoke(expected[0].id, None).await.unwrap();
    let calls = full.calls().len();
    drop(world);
    let history = history(&killed.copy());
    for call in 0..calls {
        let cut = killed.copy();
        cut.fill_before(0);
        cut.fail(call, Fault::Power);
        let opened = Journal::open_on(cut.clone(), STATE, 1 << 24);
        let mut count = 0;
        let after = cut.after_power_cut(&mut || {
            count += 1;
            count % 3 == 0
        });
        assert!(self::history(&after) == history, "power cut at call {call}");
        audit::verify_on(after, STATE, None).unwrap();
        drop(opened);
    }
}

/// The record of a file that gives nothing new needs no room for steps that give.
#[tokio::test]
async fn an_engine_starts_on_a_full_disk_with_its_policy_file() {
    let disk = FakeDisk::new();
    let world = long_segment(&disk).await;
    let file = |permissions: &[&str]| policy(settings(|_| {}), &[("bot", "you", permissions)]);
    world.engine.configure(file(&["@read:/docs"])).await.unwrap();
    disk.fill_before(disk.calls().len());
    let you = world.you();
    let mut number = 0;
    let long = "why ".repeat(100);
    let give = async |number: usize| {
        let agent = id(&format!("a{}", number % 10));
        you.give(&agent, tag(&format!("@read:/{number}")), Scope::Always, long.as_str()).await
    };
    let refused = loop {
        match give(number).await {
            Ok(_) => number += 1,
            Err(why) => break why,
        }
    };
    assert!(refused.to_string().contains("the disk is full"), "{refused}");
    let before = world.engine.agent(id("bot")).unwrap().permissions().unwrap().iter().count();
    for grant in world.engine.grants().unwrap().iter().take(10) {
        world.engine.revoke(grant.id, None).await.unwrap();
    }
    let killed = disk.copy();
    world.engine.shutdown().await;
    killed.fill_before(0);
    let world = open_with(&killed, 1 << 24).await.unwrap();
    world.engine.configure(file(&["@read:/docs"])).await.unwrap();
    let wider = world.engine.configure(file(&["@read:/docs", "@network"])).await;
    assert_eq!(world.engine.agent(id("bot")).unwrap().permissions().unwrap().iter().count(), before, "{wider:?}");
}

/// Returns everything that the journal on a disk has.
fn history(disk: &Arc<FakeDisk>) -> Vec<Stored> {
    let (journal, mut all) = (Journal::open_on(disk.clone(), STATE, 1 << 24).unwrap(), Vec::new());
    let take = &mut |stored| {
        all.push(stored);
        Ok(())
    };
    journal.load(take).unwrap();
    all
}

/// Each fault of an allocation. Nothing is written before it, so nothing is in doubt.
#[tokio::test]
async fn an_allocation_that_fails_refuses_what_gives_and_stores_what_takes() {
    for fault in [Fault::Once, Fault::Full] {
        let disk = FakeDisk::new();
        let world = open(&disk).await.unwrap();
        let ann = world.worker("ann", &["@network"]).await;
        let mut refused = 0;
        disk.fail_all(Call::Allocate, fault);
        for number in 0..30 {
            let given = world.you().give(ann.id(), tag(&format!("@read:/{number}")), Scope::Always, why()).await;
            refused += usize::from(given.is_err());
        }
        assert!(0 < refused, "{fault:?}");
        world.engine.revoke(ann.grants().unwrap()[0].id, None).await.unwrap();
        disk.forgive();
        world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await.unwrap();
        assert_eq!(world.engine.check(ann.id(), &tag("@network")), Check::NotHeld);
        let killed = disk.copy();
        world.engine.shutdown().await;
        for left in [killed, disk] {
            let world = open(&left).await.unwrap();
            assert_eq!(world.engine.check(&id("ann"), &tag("@network")), Check::NotHeld, "{fault:?}");
            world.engine.shutdown().await;
        }
    }
}
