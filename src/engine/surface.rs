//! The surfaces on which people see prompts.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::model::{AgentId, OwnerId, Request, Resolution};

use super::Error;

/// The number of entries by which a surface may lag. A surface that lags further counts as gone.
pub(super) const CAPACITY: usize = 1024;

/// An entry to show to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prompt {
    /// A request to answer.
    Ask(Arc<Request>),
    /// A request that was shown, and has ended.
    Settled(Arc<Resolution>),
    /// A message of a foreground agent to its user. The text is untrusted: show it through [`crate::text::Escaped`].
    Said {
        /// The agent.
        from: AgentId,
        /// The text of the message.
        text: Arc<str>,
    },
}

/// The result of showing a message on a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "yes and no")]
pub enum Delivery {
    /// The message is shown.
    Shown,
    /// The user is not connected, or reads too slowly.
    ByNobody,
}

/// One open surface, as the writer stores it.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) generation: u64,
    pub(super) sender: mpsc::Sender<Prompt>,
    /// True once the requests that waited when it was opened are on it. No other entry is shown before.
    pub(super) filled: bool,
}

/// The identifier of one open surface.
#[derive(Clone, Debug)]
pub(super) enum Surface {
    Carrier(AgentId, u64),
    Approver(OwnerId, u64),
}

/// Shows an entry on a surface. A full surface is an error and counts as gone.
pub(super) fn show(open: &Open, what: Prompt) -> Result<(), Error> {
    open.sender.try_send(what).map_err(|_| Error::Closed)
}
