//! The cancellation of a command when its caller no longer waits.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::Duration,
};

/// A message about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Ended,
    Unwanted,
}

/// The reason for which the wait for a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    Ended,
    TimeIsUp,
    Unwanted,
}

/// The handle of the caller that waits. Dropping it cancels the command.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(Sender<Word>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // The send fails if the command has already ended.
        let _ = self.0.send(Word::Unwanted);
    }
}

/// The handle of the thread that runs the command.
#[derive(Debug)]
pub(crate) struct Watched {
    tell: Sender<Word>,
    told: Receiver<Word>,
}

/// Creates the two handles.
pub(crate) fn watched() -> (CancelOnDrop, Watched) {
    let (tell, told) = channel();
    (CancelOnDrop(tell.clone()), Watched { tell, told })
}

impl Watched {
    /// Returns true if the caller has already dropped its handle. Call it before the command starts.
    pub(super) fn is_unwanted(&self) -> bool {
        self.told.try_recv() == Ok(Word::Unwanted)
    }

    /// Returns a callback for the end of the command.
    pub(super) fn ended(&self) -> impl FnOnce() + Send + use<> {
        let tell = self.tell.clone();
        move || {
            let _ = tell.send(Word::Ended);
        }
    }

    /// Waits for the end of the command, for its cancellation, or for the time limit, whichever comes first.
    pub(super) fn wait(&self, at_most: Duration) -> Over {
        match self.told.recv_timeout(at_most) {
            Ok(Word::Ended) => Over::Ended,
            Ok(Word::Unwanted) => Over::Unwanted,
            Err(RecvTimeoutError::Timeout) => Over::TimeIsUp,
            // This handle holds a sender itself, so this case cannot occur. If it did, the command would have to end.
            Err(RecvTimeoutError::Disconnected) => Over::Unwanted,
        }
    }
}
