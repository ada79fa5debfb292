//! The way to a person: what is shown there, and that somebody is there at all.

use std::sync::{Arc, Weak};

use tokio::sync::mpsc;

use crate::model::{AgentId, OwnerId, Request, Resolution};

use super::{Error, shared::Shared};

/// How much a surface may be behind; one that is further behind counts as gone.
pub(super) const CAPACITY: usize = 1024;

/// Something to show to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToPerson {
    /// A question to answer.
    Ask(Arc<Request>),
    /// A question that was shown, and is over.
    Settled(Arc<Resolution>),
    /// What a foreground agent says to its user. Foreign text: show it through [`crate::Shown`].
    Said {
        /// The agent.
        from: AgentId,
        /// The words.
        text: Arc<str>,
    },
}

/// Whether words reached a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "yes and no")]
pub enum Heard {
    /// They are shown.
    Shown,
    /// No user is there, or the one who is reads too slowly.
    ByNobody,
}

/// One open surface, as the writer knows it.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) generation: u64,
    pub(super) sender: mpsc::Sender<ToPerson>,
    /// Whether what waited when it was opened is on it; nothing is shown before.
    pub(super) filled: bool,
}

/// One open surface, by name.
#[derive(Clone, Debug)]
pub(super) enum Surface {
    Carrier(AgentId, u64),
    Approver(OwnerId, u64),
}

/// A foreground agent's user is there while this lives (a terminal, a chat, a bot over stdio).
///
/// Dropping it, or not reading it, means that the user is gone: what was waiting here goes to the next way.
#[derive(Debug)]
pub struct Connection {
    pub(super) shared: Weak<Shared>,
    pub(super) agent: AgentId,
    pub(super) generation: u64,
    pub(super) receiver: mpsc::Receiver<ToPerson>,
}

impl Connection {
    /// What to show next. `None` when another connection took this one's place, or the engine ended.
    ///
    /// Every question that waits for this user comes first, with the id it had before, however often one reconnects.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ToPerson> {
        self.receiver.recv().await
    }

    /// The agent whose user this is.
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

/// Somebody who approves for an owner is there while this lives (a dashboard).
#[derive(Debug)]
pub struct Attendance {
    pub(super) shared: Weak<Shared>,
    pub(super) owner: OwnerId,
    pub(super) generation: u64,
    pub(super) receiver: mpsc::Receiver<ToPerson>,
}

impl Attendance {
    /// What to show next: every pending question of the owner, wherever else it is shown, and how each ends.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ToPerson> {
        self.receiver.recv().await
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.stop_attending(&self.owner, self.generation);
        }
    }
}

/// Whether showing worked; a surface that is full is as good as gone.
pub(super) fn show(open: &Open, what: ToPerson) -> Result<(), Error> {
    open.sender.try_send(what).map_err(|_| Error::Closed)
}
