//! Tests every fault at every call: no acknowledged fact is lost, none is invented, and a revoked grant stays revoked.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use bestow::{
    Answer, Engine, Error, Event,
    decision::Check,
    event::Recorded,
    grant::{GrantId, Scope},
    host::{AsWritten, ManualClock},
    journal::{Disk, Journal, JournalError, audit},
};

use super::disk::{Call, FakeDisk, Fault};
use crate::support::{START, World, ask, check, heard, id, settings, tag, why};

pub(super) const STATE: &str = "/state";

/// A size so small that a new segment begins every few steps.
pub(super) const SEGMENT: u64 = 2_000;

pub(super) async fn open(disk: &Arc<FakeDisk>) -> Result<World, String> {
    open_with(disk, SEGMENT).await
}

pub(super) async fn open_with(disk: &Arc<FakeDisk>, segment: u64) -> Result<World, String> {
    let clock = Arc::new(ManualClock::at(START));
    let disk: Arc<dyn Disk> = disk.clone();
    let journal = Journal::open_on(disk, STATE, segment).map_err(|why| why.to_string())?;
    let engine = Engine::restore(Some(settings(|_| {})), clock.clone(), Arc::new(AsWritten), Arc::new(journal)).await;
    Ok(World { engine: engine.map_err(|why| why.to_string())?, clock })
}

/// The acknowledgements of the caller: each granted tag, with its state.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    /// The number of revocations that were not acknowledged.
    pub(super) unstored_revocations: usize,
    /// The tags that must be held (`Some(true)`), must not be held (`Some(false)`), or may be either (`None`).
    pub(super) held: BTreeMap<String, Option<bool>>,
    /// The requests that must be pending or settled.
    asked: Vec<bestow::request::RequestId>,
}

fn path(number: usize) -> String {
    format!("@write:/ws/{number}")
}

/// Runs a life with everything that can be lost. It continues after every failure.
pub(super) async fn live(world: &World) -> Acknowledged {
    let mut told = Acknowledged::default();
    let made = world
        .engine
        .register(crate::support::profile("ann", "you", bestow::Kind::Cron), bestow::InitialGrants::nothing());
    drop(made.await);
    drop(
        world
            .engine
            .register(crate::support::profile("bob", "you", bestow::Kind::Cron), bestow::InitialGrants::nothing())
            .await,
    );
    let you = world.you();
    let mut ids: BTreeMap<usize, GrantId> = BTreeMap::new();
    for step in 0..10 {
        let (wanted, name) = (path(step), id("ann"));
        match you.give(&name, tag(&wanted), Scope::Always, why()).await {
            Ok(given) => {
                ids.insert(step, given[0]);
                told.held.insert(wanted, Some(true));
            }
            Err(_) => drop(told.held.insert(wanted, None)),
        }
        let Ok(ann) = world.engine.agent(&name) else { continue };
        if step % 3 == 1
            && let Some(grant) = ids.get(&(step - 1))
        {
            let gone = world.engine.revoke(*grant, None).await;
            assert_eq!(check(&ann, &path(step - 1)), Check::NotHeld, "whatever the disk does");
            told.unstored_revocations += usize::from(gone.is_err());
            told.held.insert(path(step - 1), gone.is_ok().then_some(false));
        }
        if step % 4 == 2
            && let Ok(ticket) = ann.request(ask(&format!("@read:/asked/{step}"))).await
        {
            told.asked.push(ticket.id());
            if step == 6 {
                let answered = you.answer(ticket.id(), Answer::deny()).await;
                told.held.insert(format!("@read:/asked/{step}"), Some(false));
                drop(answered);
            }
        }
        if step == 5 {
            let given = ann.grant(&id("bob"), tag(&path(5)), why()).await;
            told.held.insert("bob".to_owned(), given.is_ok().then_some(true));
        }
    }
    told
}

/// Asserts that the state on `disk` does not contradict the acknowledgements.
pub(super) async fn agrees(disk: &Arc<FakeDisk>, told: &Acknowledged, context: &str) {
    let world = open(disk).await.unwrap_or_else(|why| panic!("{context}: {why}"));
    for (wanted, held) in &told.held {
        let (agent, wanted) = if wanted == "bob" { ("bob", path(5)) } else { ("ann", wanted.clone()) };
        let found = world.engine.check(&id(agent), &tag(&wanted)) == Check::Held;
        if let Some(held) = held {
            assert_eq!(found, *held, "{context}: {agent} {wanted}");
        }
    }
    for asked in &told.asked {
        let waits = world.engine.pending().unwrap().iter().any(|pending| pending.request.id == *asked);
        assert!(waits || world.engine.resolution(*asked).unwrap().is_some(), "{context}: a question is lost");
    }
    for grant in world.engine.grants().unwrap() {
        let chain = world.engine.why(&grant.to, &grant.pinned.permission).unwrap();
        assert!(!chain.is_empty(), "{context}: {grant} hangs on nothing");
    }
    world.engine.shutdown().await;
    let verified = audit::verify_on(disk.clone(), STATE, None);
    assert!(verified.is_ok(), "{context}: {verified:?}");
}

/// Returns the number of calls when the engine is open, and the calls of a whole life.
pub(super) async fn calls() -> (usize, Vec<Call>) {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let opened = disk.calls().len();
    let told = live(&world).await;
    assert!(told.held.values().all(Option::is_some), "without faults everything is known");
    world.engine.shutdown().await;
    agrees(&disk, &told, "no fault").await;
    (opened, disk.calls())
}

#[tokio::test]
async fn no_failing_call_loses_or_invents_anything() {
    let (_, calls) = calls().await;
    for fault in [Fault::Once, Fault::Full, Fault::Short] {
        for call in 0..calls.len() {
            let disk = FakeDisk::new();
            disk.fail(call, fault);
            let context = format!("{fault:?} at call {call}");
            let told = match open(&disk).await {
                Ok(world) => {
                    let told = live(&world).await;
                    world.engine.shutdown().await;
                    told
                }
                Err(_) => Acknowledged::default(),
            };
            let names = disk.list(Path::new(STATE)).unwrap();
            assert!(!names.iter().any(|name| name.ends_with(".new")), "{context}: {names:?}");
            agrees(&disk.copy(), &told, &context).await;
        }
    }
}

#[tokio::test]
async fn no_power_cut_loses_or_invents_anything() {
    let (_, calls) = calls().await;
    for call in 0..calls.len() {
        let disk = FakeDisk::new();
        disk.fail(call, Fault::Power);
        let told = match open(&disk).await {
            Ok(world) => live(&world).await,
            Err(_) => Acknowledged::default(),
        };
        for seed in 0..8_u64 {
            let mut random = seed * 2 + 1;
            let mut chance = || {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                random >> 62 == 0 || seed == 1
            };
            let after = disk.after_power_cut(&mut chance);
            agrees(&after, &told, &format!("power cut at call {call}, seed {seed}")).await;
        }
    }
}

#[tokio::test]
async fn a_sync_that_failed_is_not_tried_again_and_nothing_is_given_until_it_is_opened_anew() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network"]).await;
    let mut events = world.engine.subscribe();
    disk.fail_next(Call::Sync, Fault::Once);
    let given = world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await;
    assert!(matches!(&given, Err(Error::Store(why)) if why.to_string().contains("the disk fails")), "{given:?}");
    let calls = disk.calls().len();
    assert!(world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await.is_err());
    assert_eq!(disk.calls().len(), calls, "the disk is left alone");
    assert!(heard(&mut events).iter().any(|recorded| matches!(recorded.event, Event::StoreFailed { .. })));
    assert_eq!(check(&ann, "@events"), Check::NotHeld);
    assert_eq!(check(&ann, "@network"), Check::Held, "what was stored before holds");
    let network = ann.grants().unwrap()[0].id;
    let gone = world.engine.revoke(network, None).await;
    assert!(matches!(gone, Err(Error::Store(_))), "it is gone here, and that is not stored");
    assert_eq!(check(&ann, "@network"), Check::NotHeld);
    world.engine.shutdown().await;
    let again = open(&disk).await.unwrap();
    again.you().give(&id("ann"), tag("@read:/ws"), Scope::Always, why()).await.unwrap();
}

/// After a failed sync the disk shows data that it does not have. A naive journal appends after it, and a power cut
/// leaves a hole in the acknowledged records.
#[tokio::test]
async fn what_a_failed_sync_left_behind_is_written_anew_before_anything_follows_it() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    world.worker("ann", &[]).await;
    disk.fail_next(Call::Sync, Fault::Once);
    assert!(world.you().give(&id("ann"), tag("@events"), Scope::Always, why()).await.is_err());
    world.engine.shutdown().await;
    let world = open(&disk).await.unwrap();
    world.you().give(&id("ann"), tag("@network"), Scope::Always, why()).await.unwrap();
    let after = disk.after_power_cut(&mut || false);
    let world = open(&after).await.unwrap();
    assert_eq!(world.engine.check(&id("ann"), &tag("@network")), Check::Held);
}

/// A naive journal loses an acknowledged record here: the failed write leaves half a line, and the next line is
/// appended to it.
#[tokio::test]
async fn after_a_short_write_the_next_record_stands_by_itself() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &[]).await;
    disk.fail_next(Call::Write, Fault::Full);
    assert!(world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await.is_err());
    world.you().give(ann.id(), tag("@network"), Scope::Always, why()).await.unwrap();
    world.engine.shutdown().await;
    let after = open(&disk).await.unwrap();
    let ann = after.engine.agent(id("ann")).unwrap();
    assert_eq!((check(&ann, "@network"), check(&ann, "@events")), (Check::Held, Check::NotHeld));
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_given_and_what_is_taken_away_is_stored_from_the_reserve() {
    let (disk, file) = (FakeDisk::new(), FakeDisk::new());
    // The reserve belongs to the segment, or is a file of its own if the disk cannot do that.
    file.allocate_nothing();
    on_a_full_disk(disk).await;
    on_a_full_disk(file).await;
}

async fn on_a_full_disk(disk: Arc<FakeDisk>) {
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network", "@events", "@write:/a"]).await;
    let held = ann.grants().unwrap();
    let mut events = world.engine.subscribe();
    disk.room(Some(disk.used()));
    give_until_refused(&world).await;
    for _ in 0..5 {
        let given = world.you().give(ann.id(), tag("@write:/b"), Scope::Always, why()).await;
        assert!(matches!(&given, Err(Error::Store(why)) if why.to_string().contains("free some space")), "{given:?}");
        assert!(ann.request(ask("@read:/c")).await.is_err(), "a question that nobody would find again is not asked");
    }
    world.engine.revoke(held[0].id, None).await.unwrap();
    world.engine.revoke(held[1].id, None).await.unwrap();
    let failures = heard(&mut events).into_iter().filter(|recorded: &Recorded| recorded.event.kind() == "store.failed");
    assert_eq!(failures.count(), 1, "said once, not with every attempt");
    let after = disk.copy();
    disk.room(None);
    world.you().give(ann.id(), tag("@write:/b"), Scope::Always, why()).await.unwrap();
    assert_eq!(check(&ann, "@write:/b"), Check::Held, "with room it goes on by itself");
    world.engine.shutdown().await;
    let after = open(&after).await.unwrap();
    let ann = after.engine.agent(id("ann")).unwrap();
    assert_eq!((check(&ann, "@network"), check(&ann, "@events")), (Check::NotHeld, Check::NotHeld));
    assert_eq!((check(&ann, "@write:/a"), check(&ann, "@write:/b")), (Check::Held, Check::NotHeld));
}

/// Gives until the space is used up that the segment owns beside the reserve.
pub(super) async fn give_until_refused(world: &World) {
    for number in 0..1_000 {
        let given = world.you().give(&id("ann"), tag(&format!("@read:/{number}")), Scope::Always, why()).await;
        if matches!(&given, Err(Error::Store(why)) if why.to_string().contains("free some space")) {
            return;
        }
        given.unwrap();
    }
    panic!("it gives without end");
}

/// The attack: the disk is filled up just when a new segment would begin. A naive journal then stores nothing any more,
/// and a revoked permission is held again after a restart.
#[tokio::test]
async fn on_a_disk_that_is_full_when_a_segment_ends_the_old_one_goes_on() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network"]).await;
    let segments = |disk: &FakeDisk| {
        let names = disk.list(Path::new(STATE)).unwrap();
        names.into_iter().filter(|name| name.starts_with("journal-")).collect::<Vec<_>>()
    };
    let mut number = 0;
    while disk.read_file(segments(&disk).last().unwrap()).len() < SEGMENT as usize {
        world.you().give(ann.id(), tag(&path(number)), Scope::Always, why()).await.unwrap();
        number += 1;
    }
    disk.room(Some(disk.used()));
    world.engine.revoke(ann.grants().unwrap()[0].id, None).await.unwrap();
    give_until_refused(&world).await;
    let given = world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await;
    assert!(matches!(&given, Err(Error::Store(why)) if why.to_string().contains("free some space")), "{given:?}");
    let after = disk.copy();
    disk.room(None);
    world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await.unwrap();
    world.engine.shutdown().await;
    for disk in [after, disk] {
        let world = open(&disk).await.unwrap();
        assert_eq!(world.engine.check(&id("ann"), &tag("@network")), Check::NotHeld);
        world.engine.shutdown().await;
        audit::verify_on(disk, STATE, None).unwrap();
    }
}

#[tokio::test]
async fn an_engine_starts_on_a_full_disk_after_a_kill() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &["@network"]).await;
    let held = ann.grants().unwrap();
    let after = disk.copy();
    after.room(Some(after.used()));
    let world = open(&after).await.unwrap();
    world.engine.revoke(held[0].id, None).await.unwrap();
    world.engine.shutdown().await;
    after.room(None);
    let world = open(&after).await.unwrap();
    assert_eq!(world.engine.check(&id("ann"), &tag("@network")), Check::NotHeld);
}

/// An error of the disk that is no lack of space is not answered with "make room".
#[tokio::test]
async fn a_disk_that_fails_is_told_apart_from_a_full_one() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &[]).await;
    disk.fail_next(Call::Write, Fault::Once);
    let told = world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await.unwrap_err().to_string();
    assert!(told.contains("the disk fails") && told.contains("repair the disk") && !told.contains("space"), "{told}");
    disk.fail_next(Call::Sync, Fault::Once);
    let told = world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await.unwrap_err().to_string();
    assert!(told.contains("it is unknown if the last change is stored"), "{told}");
}

/// The attack: another process removes or replaces the files of a running engine, which would go on in files that no
/// later engine finds.
#[tokio::test]
async fn an_engine_whose_files_were_removed_acknowledges_nothing() {
    for name in ["LOCK", "journal-00000000000000000001.jsonl"] {
        for way in ["removed", "replaced", "renamed"] {
            let disk = FakeDisk::new();
            let world = open_with(&disk, 1 << 20).await.unwrap();
            let ann = world.worker("ann", &["@network"]).await;
            let content = disk.read_file(name);
            match way {
                "renamed" => disk.rename_file(name, "aside"),
                _ => disk.remove_file(name),
            }
            if way == "replaced" {
                disk.write_file(name, &content);
            }
            let given = world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await;
            let told = given.unwrap_err().to_string();
            assert!(told.contains("were removed or moved"), "{name} is {way}: {told}");
            assert_eq!(check(&ann, "@events"), Check::NotHeld);
            assert!(world.engine.revoke(ann.grants().unwrap()[0].id, None).await.is_err(), "{name} is {way}");
            assert_eq!(check(&ann, "@network"), Check::NotHeld, "here it is gone");
        }
    }
}

#[tokio::test]
async fn an_engine_whose_directory_was_moved_acknowledges_nothing() {
    let disk = FakeDisk::new();
    let world = open_with(&disk, 1 << 20).await.unwrap();
    let ann = world.worker("ann", &["@network"]).await;
    let written = disk.read_file("journal-00000000000000000001.jsonl");
    disk.move_directory();
    let given = world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await;
    assert!(given.unwrap_err().to_string().contains("were removed or moved"));
    assert_eq!(disk.read_file("journal-00000000000000000001.jsonl"), written, "nothing is written to it");
}

#[tokio::test]
async fn steps_that_wait_together_share_a_sync() {
    let disk = FakeDisk::new();
    let world = open(&disk).await.unwrap();
    let ann = world.worker("ann", &[]).await;
    let before = disk.calls().iter().filter(|call| **call == Call::Sync).count();
    let you = world.you();
    let given: Vec<_> = (0..64)
        .map(|number| {
            let (you, ann) = (you.clone(), ann.id().clone());
            tokio::spawn(async move { you.give(&ann, tag(&path(number)), Scope::Always, why()).await })
        })
        .collect();
    for given in given {
        given.await.unwrap().unwrap();
    }
    let syncs = disk.calls().iter().filter(|call| **call == Call::Sync).count() - before;
    assert!(syncs < 64, "{syncs} syncs for 64 grants");
    assert_eq!(ann.grants().unwrap().len(), 64);
}

#[tokio::test]
async fn a_second_owner_is_refused() {
    let disk = FakeDisk::new();
    let _world = open(&disk).await.unwrap();
    let second = Journal::open_on(disk, STATE, SEGMENT).unwrap_err();
    let pid = Some(std::process::id());
    assert_eq!(second, JournalError::InUse { directory: Path::new(STATE).to_owned(), pid });
}
