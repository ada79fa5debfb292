//! The signal that policies have changed.
//!
//! A client reads the changes from the events of the engine. There may be a thousand clients, and most events concern
//! none of them. So no client wakes for an event: one task reads all events, and wakes the clients of the owner.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use bestow::{
    Engine,
    event::{NoEvent, Recorded, Subscription},
    stdio::ToConnector,
    user::OwnerId,
};
use tokio::sync::watch;

/// The events after which every client is woken, so that none falls behind.
const MANY: u64 = 1_024;

/// The signals to the clients of each owner.
#[derive(Debug, Default)]
pub(super) struct PolicySignals(Mutex<Signals>);

#[derive(Debug, Default)]
struct Signals {
    /// True while a task follows the engine.
    is_following: bool,
    owners: BTreeMap<OwnerId, watch::Sender<()>>,
}

impl PolicySignals {
    /// Returns the signal for a client of an owner. The client subscribes to the events after this call, so that no
    /// signal is too early. The signal closes when the engine ends.
    pub(super) fn of(self: &Arc<Self>, engine: &Engine, owner: &OwnerId) -> watch::Receiver<()> {
        let mut signals = self.lock();
        if !signals.is_following {
            signals.is_following = true;
            tokio::spawn(Follower(Arc::downgrade(self)).follow(engine.subscribe()));
        }
        signals.owners.retain(|_, clients| clients.receiver_count() > 0);
        signals.owners.entry(owner.clone()).or_default().subscribe()
    }

    /// Wakes the clients whom an event concerns.
    fn hear(&self, recorded: &Recorded) {
        for (owner, clients) in &self.lock().owners {
            if ToConnector::of_policy(&recorded.event, owner, recorded.at).is_some() {
                clients.send_replace(());
            }
        }
    }

    fn wake_all(&self) {
        self.lock().owners.values().for_each(|clients| {
            clients.send_replace(());
        });
    }

    fn lock(&self) -> MutexGuard<'_, Signals> {
        // Each change is whole, so a panic elsewhere leaves no half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that follows the engine.
struct Follower(Weak<PolicySignals>);

impl Follower {
    async fn follow(self, mut events: Subscription) {
        let mut count = 0_u64;
        loop {
            let event = events.next().await;
            let Some(signals) = self.0.upgrade() else { return };
            count = count.wrapping_add(1);
            match event {
                Ok(recorded) if !count.is_multiple_of(MANY) => signals.hear(&recorded),
                Ok(_) | Err(NoEvent::Missed(_)) => signals.wake_all(),
                Err(NoEvent::Ended) => return,
            }
        }
    }
}

impl Drop for Follower {
    /// Closes the signals, however the task ends: nobody would give them any more.
    fn drop(&mut self) {
        if let Some(signals) = self.0.upgrade() {
            *signals.lock() = Signals::default();
        }
    }
}
