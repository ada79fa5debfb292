//! Tests that apply to every store, whatever its medium is.

#[cfg(feature = "journal")]
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "journal")]
use bestow::journal::{Disk, Journal, RealDisk, SEGMENT};
use bestow::{
    Answer, Engine, Outcome,
    decision::Check,
    event::Recorded,
    grant::Scope,
    host::{AsWritten, ManualClock, MemoryStore, Store, Stored},
};

#[cfg(feature = "journal")]
use super::disk::FakeDisk;
use crate::support::{START, World, ask, check, id, settings, tag, why};

/// The medium of a store that is opened repeatedly.
enum Ground {
    Memory(Arc<MemoryStore>),
    #[cfg(feature = "journal")]
    Journal {
        disk: Arc<dyn Disk>,
        directory: PathBuf,
        segment: u64,
        _kept: Option<tempfile::TempDir>,
    },
}

impl Ground {
    /// Returns one medium of each kind, with its name.
    fn all() -> Vec<(&'static str, Ground)> {
        #[cfg_attr(not(feature = "journal"), expect(unused_mut, reason = "one kind is all there is"))]
        let mut all = vec![("memory", Ground::Memory(Arc::default()))];
        #[cfg(feature = "journal")]
        for (name, segment) in [("journal", SEGMENT), ("journal of small segments", 2_000)] {
            let kept = tempfile::tempdir().unwrap();
            let directory = kept.path().join("state");
            let (disk, _kept) = (Arc::new(RealDisk), Some(kept));
            all.push((name, Ground::Journal { disk, directory, segment, _kept }));
        }
        #[cfg(feature = "journal")]
        all.push(("journal on another disk", {
            let disk: Arc<dyn Disk> = FakeDisk::new();
            Ground::Journal { disk, directory: "/state".into(), segment: 2_000, _kept: None }
        }));
        all
    }

    fn open(&self) -> Arc<dyn Store> {
        match self {
            Ground::Memory(store) => store.clone(),
            #[cfg(feature = "journal")]
            Ground::Journal { disk, directory, segment, .. } => {
                Arc::new(Journal::open_on(Arc::clone(disk), directory, *segment).unwrap())
            }
        }
    }

    async fn engine(&self) -> World {
        let clock = Arc::new(ManualClock::at(START));
        let engine = Engine::restore(Some(settings(|_| {})), clock.clone(), Arc::new(AsWritten), self.open()).await;
        World { engine: engine.unwrap(), clock }
    }

    /// Returns the content that an engine would load now.
    fn loaded(&self) -> Vec<Stored> {
        let (store, mut all) = (self.open(), Vec::new());
        let taken = store.load(&mut |stored| {
            all.push(stored);
            Ok(())
        });
        taken.unwrap();
        store.close();
        all
    }
}

/// Runs an engine for a while, shuts it down, and returns its world and its events.
async fn a_life(ground: &Ground) -> (World, Vec<Recorded>) {
    let world = ground.engine().await;
    let mut events = world.engine.subscribe();
    let ann = world.worker("ann", &["@network", "@write:/a"]).await;
    let bob = world.worker("bob", &[]).await;
    for number in 0..20 {
        world.you().give(ann.id(), tag(&format!("@write:/b/{number}")), Scope::Always, why()).await.unwrap();
    }
    ann.grant(bob.id(), tag("@network"), why()).await.unwrap();
    world.engine.revoke(ann.grants().unwrap()[0].id, None).await.unwrap();
    let asked = bob.request(ask("@write:/c")).await.unwrap();
    world.you().answer(asked.id(), Answer::allow().scope(Scope::Always)).await.unwrap();
    bob.request(ask("@write:/d").at_most(Scope::Always)).await.unwrap();
    let heard = crate::support::heard(&mut events);
    (world, heard)
}

#[tokio::test]
async fn replaying_the_events_rebuilds_the_state() {
    for (name, ground) in Ground::all() {
        let (world, _) = a_life(&ground).await;
        let before = world.view();
        world.engine.shutdown().await;
        drop(world);
        let world = ground.engine().await;
        assert_eq!(world.view(), before, "{name}");
        let bob = world.engine.agent(id("bob")).unwrap();
        assert_eq!((check(&bob, "@write:/c"), check(&bob, "@network")), (Check::Held, Check::NotHeld), "{name}");
        let waits = world.engine.pending().unwrap().remove(0).request.id;
        world.you().answer(waits, Answer::allow()).await.unwrap();
        assert_eq!(world.engine.resolution(waits).unwrap().unwrap().outcome, Outcome::Granted, "{name}");
    }
}

#[tokio::test]
async fn what_was_told_is_given_back_in_its_order_without_a_gap() {
    for (name, ground) in Ground::all() {
        let (world, told) = a_life(&ground).await;
        world.engine.shutdown().await;
        drop(world);
        let mut next = None;
        for stored in ground.loaded() {
            match stored {
                Stored::Snapshot { sequence, .. } => {
                    assert_eq!(next, None, "{name}: nothing comes before a snapshot");
                    next = Some(sequence + 1);
                }
                Stored::Event(recorded) => {
                    assert_eq!(recorded.sequence, next.unwrap_or(1), "{name}");
                    next = Some(recorded.sequence + 1);
                    let same = told.iter().find(|other| other.sequence == recorded.sequence);
                    assert!(same.is_none_or(|other| *other == recorded), "{name}: as it was told");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(told.last().unwrap().sequence < next.unwrap(), "{name}: everything that was told is there");
    }
}

#[tokio::test]
async fn each_life_goes_on_behind_the_one_before_and_closing_twice_is_no_harm() {
    for (name, ground) in Ground::all() {
        let mut sequence = 0;
        for life in 0..4 {
            let world = ground.engine().await;
            let mut events = world.engine.subscribe();
            world.worker(&format!("w{life}"), &["@network"]).await;
            let first = crate::support::heard(&mut events)[0].sequence;
            assert!(sequence < first, "{name}: {first} after {sequence}");
            sequence = first;
            world.engine.shutdown().await;
            world.engine.shutdown().await;
            assert!(world.engine.agents().is_err(), "{name}: it is over");
        }
        assert_eq!(ground.engine().await.engine.agents().unwrap().len(), 4, "{name}");
    }
}
