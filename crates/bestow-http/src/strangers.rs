//! The connections on which nobody has shown a credential yet. They are few, and the oldest gives way to a new one: a
//! client that opens many of them, and says nothing, keeps nobody out.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::oneshot;

/// The connections of one listener without a credential.
#[derive(Debug)]
pub(crate) struct Strangers {
    most: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The number of the next connection.
    next: u64,
    /// The connections, the oldest first, with the signal that ends each.
    connections: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// The place of one connection among them. The connection leaves it when it shows a credential, and when it ends.
#[derive(Debug)]
pub(crate) struct Stranger {
    number: u64,
    all: Arc<Strangers>,
}

impl Strangers {
    /// Creates a list of at most this many connections.
    pub(crate) fn new(most: usize) -> Arc<Strangers> {
        Arc::new(Strangers { most: most.max(1), waiting: Mutex::default() })
    }

    /// Adds a connection. If there are too many, the oldest one gets its signal. Returns the place of the new one, and
    /// its own signal.
    pub(crate) fn add(self: &Arc<Strangers>) -> (Stranger, oneshot::Receiver<()>) {
        let (end, ended) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.connections.len() >= self.most
            && let Some((_, oldest)) = waiting.connections.pop_front()
        {
            // It may have ended by itself.
            let _ = oldest.send(());
        }
        let number = waiting.next;
        waiting.next += 1;
        waiting.connections.push_back((number, end));
        (Stranger { number, all: Arc::clone(self) }, ended)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut waiting = self.all.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // The numbers grow.
        if let Ok(at) = waiting.connections.binary_search_by_key(&self.number, |(number, _)| *number) {
            waiting.connections.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Strangers;

    #[test]
    fn the_oldest_stranger_gives_way_and_nobody_with_a_credential() {
        let strangers = Strangers::new(2);
        let (known, mut signal) = strangers.add();
        let ((_second, mut second), (_third, mut third)) = (strangers.add(), strangers.add());
        assert!(signal.try_recv().is_ok(), "the first of three");
        drop(known);
        let (known, mut signal) = strangers.add();
        assert!(second.try_recv().is_ok());
        drop(known);
        let (_fourth, _) = strangers.add();
        assert!(signal.try_recv().is_err(), "it has shown a credential");
        assert!(third.try_recv().is_err(), "there was room");
    }
}
