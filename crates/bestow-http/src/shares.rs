//! Shares of a resource: each holder has the same number of places.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of known holders from which on idle ones are forgotten.
const MANY: usize = 1_024;

/// The places of each holder.
#[derive(Debug)]
pub(crate) struct Shares<K> {
    each: usize,
    places: Mutex<HashMap<K, Arc<Semaphore>>>,
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// Gives each holder this number of places.
    pub(crate) fn of(each: usize) -> Shares<K> {
        Shares { each, places: Mutex::default() }
    }

    /// Takes a place of `holder`, or returns none if all its places are taken.
    pub(crate) fn try_take(&self, holder: &K) -> Option<OwnedSemaphorePermit> {
        self.of_holder(holder)?.try_acquire_owned().ok()
    }

    /// Waits for a place of `holder`. Its calls have their turn in their order.
    pub(crate) async fn take(&self, holder: &K) -> Option<OwnedSemaphorePermit> {
        self.of_holder(holder)?.acquire_owned().await.ok()
    }

    /// Returns the places of `holder`. After a panic there are none.
    fn of_holder(&self, holder: &K) -> Option<Arc<Semaphore>> {
        let mut places = self.places.lock().ok()?;
        if places.len() >= MANY {
            places.retain(|_, places| Arc::strong_count(places) > 1 || places.available_permits() < self.each);
        }
        let own = places.entry(holder.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.each)));
        Some(Arc::clone(own))
    }
}
