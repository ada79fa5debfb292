//! Tests of steps that the journal writes as one group.

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, Weak},
    thread::{self, ThreadId},
    time::Duration,
};

use bestow::{
    Engine,
    decision::Check,
    grant::Scope,
    host::{AsWritten, Batch, ManualClock, Progress, Store, StoreError, Stored, Taken},
    journal::Journal,
};

use super::{
    disk::{Call, FakeDisk, Fault},
    faults::{SEGMENT, STATE},
};
use crate::support::{START, World, settings, tag, why};

/// A journal whose writing thread goes on after a failure when a caller has committed one more step. That step is in
/// one group with the step by which the engine reacts to the failure.
#[derive(Debug)]
struct Gathering {
    journal: Journal,
    reports: Arc<Reports>,
}

/// The limit of a wait for a step. An engine that holds its store for broken commits none.
const MOST: Duration = Duration::from_secs(10);

/// The reports to the engine.
#[derive(Default)]
struct Reports {
    engine: Mutex<Option<Weak<dyn Progress>>>,
    writer: Mutex<Option<ThreadId>>,
    /// The number of steps that callers committed.
    commits: Mutex<usize>,
    committed: Condvar,
}

impl fmt::Debug for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reports")
    }
}

impl Reports {
    fn engine(&self) -> Arc<dyn Progress> {
        self.engine.lock().unwrap().as_ref().and_then(Weak::upgrade).unwrap()
    }
}

impl Progress for Reports {
    fn stored(&self, sequence: u64) {
        self.engine().stored(sequence);
    }

    fn failed(&self, why: StoreError) {
        *self.writer.lock().unwrap() = Some(thread::current().id());
        let before = *self.commits.lock().unwrap();
        self.engine().failed(why);
        let commits = self.commits.lock().unwrap();
        drop(self.committed.wait_timeout_while(commits, MOST, |commits| *commits == before).unwrap());
    }
}

impl Store for Gathering {
    fn load(&self, take: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.journal.load(take)
    }

    fn report_to(&self, progress: Weak<dyn Progress>) {
        *self.reports.engine.lock().unwrap() = Some(progress);
        let reports: Arc<dyn Progress> = self.reports.clone();
        self.journal.report_to(Arc::downgrade(&reports));
    }

    fn commit(&self, batch: Arc<Batch>) -> Taken {
        if *self.reports.writer.lock().unwrap() == Some(thread::current().id()) {
            return self.journal.commit(batch);
        }
        // The step is counted before its failure can be reported, and not before the writing thread finds it.
        let mut commits = self.reports.commits.lock().unwrap();
        let taken = self.journal.commit(batch);
        *commits += 1;
        self.reports.committed.notify_all();
        taken
    }

    fn close(&self) {
        self.journal.close();
    }
}

/// The attack: somebody asks for more while the disk fails. A naive journal refuses the whole group, with the step that
/// only takes permissions away, and the engine holds the store for broken although the disk works again.
#[tokio::test]
async fn a_step_that_only_takes_does_not_fail_because_of_one_in_its_group_that_gives() {
    for call in [Call::Allocate, Call::Write] {
        let disk = FakeDisk::new();
        let journal = Journal::open_on(disk.clone(), STATE, SEGMENT).unwrap();
        let store = Arc::new(Gathering { journal, reports: Arc::default() });
        let clock = Arc::new(ManualClock::at(START));
        let engine = Engine::restore(Some(settings(|_| {})), clock.clone(), Arc::new(AsWritten), store);
        let world = World { engine: engine.await.unwrap(), clock };
        let ann = world.worker("ann", &["@network"]).await;
        let mut refused = 0;
        for number in 0..30 {
            match call {
                // A step that only takes is written without an allocation.
                Call::Allocate => disk.fail_all(call, Fault::Once),
                _ => disk.fail_next(call, Fault::Once),
            }
            let given = world.you().give(ann.id(), tag(&format!("@read:/{number}")), Scope::Always, why()).await;
            refused += usize::from(given.is_err());
        }
        disk.forgive();
        assert!(3 < refused, "{call:?}: {refused}");
        world.you().give(ann.id(), tag("@events"), Scope::Always, why()).await.unwrap();
        assert_eq!(world.engine.check(ann.id(), &tag("@events")), Check::Held, "{call:?}");
        world.engine.shutdown().await;
    }
}
