//! A store that stores on demand.

use std::sync::{Arc, Mutex, Weak};

use bestow::{
    Engine, Settings,
    event::Recorded,
    host::{AsWritten, Batch, Clock, ManualClock, Progress, Store, StoreError, StoreFault, Stored, Taken},
};

use crate::support::{START, World, settings};

/// A store that keeps its batches, confirms them only on demand, and can be opened again.
#[derive(Debug, Default)]
pub(crate) struct HeldStore {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    stored: Vec<Recorded>,
    waiting: Vec<Arc<Batch>>,
    progress: Option<Weak<dyn Progress>>,
    failures: u64,
    patient: bool,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inner")
    }
}

impl HeldStore {
    /// Creates a store with this content. It stores at once, until `hold` makes it wait.
    pub(crate) fn new(stored: Vec<Recorded>) -> Arc<HeldStore> {
        Arc::new(HeldStore { inner: Mutex::new(Inner { stored, ..Inner::default() }) })
    }

    pub(crate) fn hold(&self) {
        self.inner.lock().unwrap().patient = true;
    }

    /// Returns the stored events.
    pub(crate) fn stored(&self) -> Vec<Recorded> {
        self.inner.lock().unwrap().stored.clone()
    }

    /// Returns the batches that are committed and not stored.
    pub(crate) fn waiting(&self) -> Vec<Arc<Batch>> {
        self.inner.lock().unwrap().waiting.clone()
    }

    /// Stores the oldest `count` waiting batches, and confirms them.
    pub(crate) fn store(&self, count: usize) {
        let mut inner = self.inner.lock().unwrap();
        let batches: Vec<_> = inner.waiting.drain(..count).collect();
        let Some(last) = batches.last().map(|batch| batch.last()) else { return };
        inner.stored.extend(batches.iter().flat_map(|batch| batch.recorded().collect::<Vec<_>>()));
        let progress = inner.progress.as_ref().and_then(Weak::upgrade);
        drop(inner);
        progress.unwrap().stored(last);
    }

    pub(crate) fn store_all(&self) {
        let count = self.waiting().len();
        self.store(count);
    }

    /// Discards all waiting batches, and reports the failure.
    pub(crate) fn fail(&self, fault: StoreFault) {
        let mut inner = self.inner.lock().unwrap();
        inner.waiting.clear();
        inner.failures += 1;
        let progress = inner.progress.as_ref().and_then(Weak::upgrade);
        drop(inner);
        progress.unwrap().failed(StoreError::new(fault, "no room"));
    }
}

impl Store for HeldStore {
    fn load(&self, take: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.stored().into_iter().try_for_each(|event| take(Stored::Event(event)))
    }

    fn report_to(&self, progress: Weak<dyn Progress>) {
        self.inner.lock().unwrap().progress = Some(progress);
    }

    fn commit(&self, batch: Arc<Batch>) -> Taken {
        let mut inner = self.inner.lock().unwrap();
        if batch.failures != inner.failures {
            return Taken::Waits;
        }
        if inner.patient {
            inner.waiting.push(batch);
            return Taken::Waits;
        }
        inner.stored.extend(batch.recorded());
        Taken::Stored
    }

    fn close(&self) {}
}

/// Creates a world whose events go to `store`.
pub(crate) async fn world(store: Arc<dyn Store>) -> World {
    world_at(store, Arc::new(ManualClock::at(START)), |_| {}).await
}

pub(crate) async fn world_at(
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    change: impl FnOnce(&mut Settings),
) -> World {
    let shown: Arc<dyn Clock> = clock.clone();
    let engine = Engine::restore(Some(settings(change)), shown, Arc::new(AsWritten), store).await.unwrap();
    World { engine, clock }
}
