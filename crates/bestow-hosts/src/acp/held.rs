//! The requests for permission that the wrapper has not answered yet.
//!
//! As long as a request is here, its id belongs to the wrapper: an answer of the editor with this id is none.

use std::collections::HashMap;

use tokio::sync::{oneshot, watch};

use super::envelope::Key;

/// The most requests that wait at once, and the most bytes of them.
const MOST: usize = 256;
const MOST_BYTES: usize = 64 << 20;

/// The reason why a request ends without an answer of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The editor cancelled the turn, or is gone.
    ByEditor,
    /// The agent cancelled its own request.
    ByAgent,
    /// The id was answered already.
    Answered,
}

/// The requests that wait, by their ids.
#[derive(Debug)]
pub(super) struct Held {
    waiting: HashMap<Key, Waiting>,
    next: u64,
    count: watch::Sender<usize>,
}

#[derive(Debug)]
struct Waiting {
    place: Place,
    session: String,
    bytes: usize,
    /// None once the request is being answered or stopped.
    stop: Option<oneshot::Sender<Stop>>,
}

/// The number of a request. A later request with the same id has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u64);

/// The reason why a request cannot wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Another request with this id waits.
    Twice,
    Full,
}

impl Held {
    pub(super) fn new() -> Held {
        Held { waiting: HashMap::new(), next: 0, count: watch::Sender::new(0) }
    }

    /// Takes a request in.
    pub(super) fn insert(
        &mut self,
        key: Key,
        session: String,
        bytes: usize,
    ) -> Result<(Place, oneshot::Receiver<Stop>), Refused> {
        if let Some(other) = self.waiting.get_mut(&key) {
            // One of them is answered with an error now. The agent cannot tell which, so no other answer follows.
            stop(other, Stop::Answered);
            return Err(Refused::Twice);
        }
        let waiting: usize = self.waiting.values().map(|waiting| waiting.bytes).sum();
        if self.waiting.len() >= MOST || waiting + bytes > MOST_BYTES {
            return Err(Refused::Full);
        }
        let (sender, stopped) = oneshot::channel();
        let place = Place(self.next);
        self.next += 1;
        self.waiting.insert(key, Waiting { place, session, bytes, stop: Some(sender) });
        self.count.send_replace(self.waiting.len());
        Ok((place, stopped))
    }

    /// Returns true if the id belongs to the wrapper.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.waiting.contains_key(key)
    }

    /// Takes the right to answer a request. Returns false if it was stopped.
    pub(super) fn claim(&mut self, key: &Key, place: Place) -> bool {
        self.at(key, place).is_some_and(|waiting| waiting.stop.take().is_some())
    }

    /// Removes a request that was answered.
    pub(super) fn remove(&mut self, key: &Key, place: Place) {
        if self.at(key, place).is_some() {
            self.waiting.remove(key);
            self.count.send_replace(self.waiting.len());
        }
    }

    fn at(&mut self, key: &Key, place: Place) -> Option<&mut Waiting> {
        self.waiting.get_mut(key).filter(|waiting| waiting.place == place)
    }

    /// Stops one request.
    pub(super) fn stop(&mut self, key: &Key, why: Stop) {
        if let Some(waiting) = self.waiting.get_mut(key) {
            stop(waiting, why);
        }
    }

    /// Stops the requests of the sessions that `meant` names.
    pub(super) fn stop_all(&mut self, why: Stop, meant: impl Fn(&str) -> bool) {
        self.waiting.values_mut().filter(|waiting| meant(&waiting.session)).for_each(|waiting| stop(waiting, why));
    }

    /// Returns the number of requests that wait, as it changes.
    pub(super) fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}

fn stop(waiting: &mut Waiting, why: Stop) {
    if let Some(stop) = waiting.stop.take() {
        // A request that is just answered is not stopped any more.
        let _ = stop.send(why);
    }
}
