//! Whether somebody still waits for a command.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::Duration,
};

/// What is heard of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Ended,
    Unwanted,
}

/// Why the wait for a command is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Ended,
    TimeIsUp,
    Unwanted,
}

/// Held by whoever waits. Dropping it says that nobody does.
#[derive(Debug)]
pub(in crate::edge) struct Wanted(Sender<Word>);

impl Drop for Wanted {
    fn drop(&mut self) {
        // Nobody hears it if the command is over.
        let _ = self.0.send(Word::Unwanted);
    }
}

/// Held by whoever runs the command.
#[derive(Debug)]
pub(in crate::edge) struct Watched {
    tell: Sender<Word>,
    told: Receiver<Word>,
}

/// The two of them.
pub(in crate::edge) fn watched() -> (Wanted, Watched) {
    let (tell, told) = channel();
    (Wanted(tell.clone()), Watched { tell, told })
}

impl Watched {
    /// Whether nobody waits already. Ask before it runs.
    pub(super) fn is_unwanted(&self) -> bool {
        self.told.try_recv() == Ok(Word::Unwanted)
    }

    /// What is to be called when the command has ended.
    pub(super) fn ended(&self) -> impl FnOnce() + Send + use<> {
        let tell = self.tell.clone();
        move || {
            let _ = tell.send(Word::Ended);
        }
    }

    /// Waits for the first of: its end, nobody waiting for it, the time.
    pub(super) fn wait(&self, at_most: Duration) -> Over {
        match self.told.recv_timeout(at_most) {
            Ok(Word::Ended) => Over::Ended,
            Ok(Word::Unwanted) => Over::Unwanted,
            Err(RecvTimeoutError::Timeout) => Over::TimeIsUp,
            // It holds a sender itself, so this does not happen; if it did, the command would have to go.
            Err(RecvTimeoutError::Disconnected) => Over::Unwanted,
        }
    }
}
