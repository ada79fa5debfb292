//! The presence of people: the streams of prompts that host programs read for them.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use tokio::sync::mpsc;

use crate::model::{AgentId, OwnerId, Request, RunId};

use super::{Error, shared::Shared, surface::Prompt};

/// The presence of a foreground agent's user, as long as this value lives (a terminal, a chat, a bot over stdio).
///
/// Dropping it, or not reading it, means that the user is gone: waiting requests go to the next route.
/// [`Engine::serve_user`](super::Engine::serve_user) is the loop that most programs need.
///
/// ```
/// # use bestow::{Answer, Approver, Engine, Error, text::Escaped, user::Prompt};
/// async fn terminal(engine: &Engine, ann: &Approver) -> Result<(), Error> {
///     let mut user = engine.connect("lead")?;
///     while let Some(shown) = user.next().await {
///         match shown {
///             Prompt::Ask(question) => ann.answer(question.id, Answer::deny()).await?,
///             Prompt::Said { from, text } => println!("{from}: {}", Escaped(&text)),
///             _ => {}
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct Connection {
    pub(super) shared: Weak<Shared>,
    pub(super) agent: AgentId,
    pub(super) generation: u64,
    pub(super) receiver: mpsc::Receiver<Prompt>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection(user of {})", self.agent)
    }
}

impl Connection {
    /// Waits for the next entry to show. Returns `None` when another connection replaced this one, or the engine ended.
    ///
    /// Every request that waits for this user comes first. It keeps its id across reconnections.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no entry.
    pub async fn next(&mut self) -> Option<Prompt> {
        self.receiver.recv().await
    }

    /// Returns the agent of this user.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.disconnect(&self.agent, self.generation);
        }
    }
}

/// The presence of an approver for an owner, as long as this value lives (a dashboard).
pub struct ApproverSession {
    pub(super) shared: Weak<Shared>,
    pub(super) owner: OwnerId,
    pub(super) generation: u64,
    pub(super) receiver: mpsc::Receiver<Prompt>,
}

impl fmt::Debug for ApproverSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApproverSession(for {})", self.owner)
    }
}

impl ApproverSession {
    /// Waits for the next entry to show: every pending request of the owner, even if it is also shown elsewhere, and
    /// how each ends. A session of [`Approver::attend_runs`](super::Approver::attend_runs) shows those of the runs that
    /// it watches.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no entry.
    pub async fn next(&mut self) -> Option<Prompt> {
        self.receiver.recv().await
    }

    /// Shows the requests of a run of the owner from now on, and how they end. Returns its requests that wait already:
    /// [`next`](ApproverSession::next) does not show them again, and no request is missed.
    ///
    /// A run that is watched already returns nothing. A session of [`Approver::attend`](super::Approver::attend)
    /// watches every run.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] if the session has ended.
    pub fn watch(&self, run: &RunId) -> Result<Vec<Arc<Request>>, Error> {
        let shared = self.shared.upgrade().ok_or(Error::Closed)?;
        shared.watch_run(&self.owner, self.generation, run)
    }

    /// Shows no further request of a run. Requests that were shown, or that are on their way, still end here.
    pub fn pass_by(&self, run: &RunId) {
        if let Some(shared) = self.shared.upgrade() {
            shared.pass_by(&self.owner, self.generation, run);
        }
    }

    /// Passes over all entries that were not read. Returns false if the session has ended.
    #[cfg(feature = "journal")]
    pub(crate) fn pass_over(&mut self) -> bool {
        loop {
            match self.receiver.try_recv() {
                Ok(_) => {}
                Err(why) => return why == mpsc::error::TryRecvError::Empty,
            }
        }
    }
}

impl Drop for ApproverSession {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.stop_attending(&self.owner, self.generation);
        }
    }
}
