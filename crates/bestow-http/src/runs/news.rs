//! The news of runs, for the clients that watch them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bestow::{agent::RunId, user::OwnerId};
use serde_json::Value;
use tokio::sync::mpsc;

/// The news by which a client may lag. A client that lags further is cut off.
const LAG: usize = 1_024;

/// News of a run: its begin, its output and its end.
#[derive(Debug)]
pub(super) struct RunNews {
    pub(super) run: RunId,
    pub(super) message: Value,
    /// For the begin of a run, the number of the last event before it. Clients are told the begin before every request
    /// of the run and before every later change of policy.
    pub(super) begins_after: Option<u64>,
}

/// The clients of each owner. News of a run goes to the clients that watch it, and wakes no other.
#[derive(Debug, Default)]
pub(super) struct Clients(Mutex<BTreeMap<OwnerId, Vec<Listener>>>);

/// The runs that a client watches.
type Watched = Arc<Mutex<BTreeSet<RunId>>>;

/// One client, as the sender of news knows it.
#[derive(Debug)]
struct Listener {
    watched: Watched,
    news: mpsc::Sender<Arc<RunNews>>,
}

/// The news for one client.
#[derive(Debug)]
pub(super) struct Inbox {
    watched: Watched,
    pub(super) news: mpsc::Receiver<Arc<RunNews>>,
}

impl Clients {
    /// Adds a client. It watches no run yet.
    pub(super) fn add(&self, owner: &OwnerId) -> Inbox {
        let ((news, received), watched) = (mpsc::channel(LAG), Watched::default());
        let mut all = lock(&self.0);
        all.retain(|_, clients| {
            clients.retain(|client| !client.news.is_closed());
            !clients.is_empty()
        });
        all.entry(owner.clone()).or_default().push(Listener { watched: Arc::clone(&watched), news });
        Inbox { watched, news: received }
    }

    /// Tells news to the clients that watch the run. `news` is made while no client can come, and if there are any.
    pub(super) fn tell(&self, owner: &OwnerId, news: impl FnOnce() -> RunNews) {
        if let Some(clients) = lock(&self.0).get_mut(owner) {
            let news = Arc::new(news());
            clients.retain(|client| client.hears(&news));
        }
    }
}

impl Listener {
    /// Passes news on. Returns false if the client is gone, or lags too far.
    fn hears(&self, news: &Arc<RunNews>) -> bool {
        let is_wanted = lock(&self.watched).contains(&news.run);
        if is_wanted { self.news.try_send(Arc::clone(news)).is_ok() } else { !self.news.is_closed() }
    }
}

impl Inbox {
    /// Hears the news of a run from now on.
    pub(super) fn watch(&self, run: &RunId) {
        lock(&self.watched).insert(run.clone());
    }

    /// Hears no further news of a run.
    pub(super) fn pass_by(&self, run: &RunId) {
        lock(&self.watched).remove(run);
    }
}

/// Takes a lock. Each change is one insertion or removal, so a panic elsewhere leaves the value whole.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::sync::mpsc::error::TryRecvError;

    use super::{Clients, LAG, RunNews};

    fn news(run: &str) -> RunNews {
        RunNews { run: run.parse().unwrap(), message: Value::Null, begins_after: None }
    }

    #[test]
    fn news_goes_to_the_clients_that_watch_its_run_and_counts_for_no_other() {
        let (clients, owner) = (Clients::default(), "you".parse().unwrap());
        let (mut one, mut other) = (clients.add(&owner), clients.add(&owner));
        one.watch(&"r1".parse().unwrap());
        other.watch(&"r2".parse().unwrap());
        for _ in 0..LAG {
            clients.tell(&owner, || news("r1"));
        }
        assert!(matches!(other.news.try_recv(), Err(TryRecvError::Empty)), "it hears nothing of a run of others");
        clients.tell(&owner, || news("r1"));
        for _ in 0..LAG {
            assert_eq!(one.news.try_recv().unwrap().run.as_str(), "r1");
        }
        assert!(matches!(one.news.try_recv(), Err(TryRecvError::Disconnected)), "a client that lags is cut off");
        clients.tell(&owner, || news("r2"));
        assert_eq!(other.news.try_recv().unwrap().run.as_str(), "r2");
        other.pass_by(&"r2".parse().unwrap());
        clients.tell(&owner, || news("r2"));
        assert!(matches!(other.news.try_recv(), Err(TryRecvError::Empty)));
    }
}
