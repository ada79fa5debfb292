//! The surfaces on which people see prompts.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::mpsc;

use crate::model::{AgentId, OwnerId, Request, RequestId, Resolution, RunId};

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
    /// The runs that the surface shows; none if it shows all.
    pub(super) watched: Option<Watched>,
}

impl Open {
    /// Returns true if the surface shows this entry. An entry about a run that it does not show wakes nobody.
    pub(super) fn shows(&mut self, what: &Prompt) -> bool {
        self.watched.as_mut().is_none_or(|watched| watched.takes(what))
    }
}

/// The runs that a surface shows, and the requests that it has shown and that have not ended.
#[derive(Debug, Default)]
pub(super) struct Watched {
    runs: BTreeSet<RunId>,
    shown: BTreeSet<RequestId>,
}

impl Watched {
    /// Adds a run. Returns its waiting requests, which count as shown from now on; none if the run was there already.
    pub(super) fn add<'r>(
        &mut self,
        run: &RunId,
        waiting: impl Iterator<Item = &'r Arc<Request>>,
    ) -> Vec<Arc<Request>> {
        if !self.runs.insert(run.clone()) {
            // Each of them was shown when it came.
            return Vec::new();
        }
        let waiting: Vec<_> = waiting.filter(|request| request.run == *run).cloned().collect();
        self.shown.extend(waiting.iter().map(|request| request.id));
        waiting
    }

    /// Removes a run. Requests that were shown still end on the surface: an entry may be on its way there.
    pub(super) fn remove(&mut self, run: &RunId) {
        self.runs.remove(run);
    }

    fn takes(&mut self, what: &Prompt) -> bool {
        match what {
            Prompt::Ask(request) => self.runs.contains(&request.run) && self.shown.insert(request.id),
            Prompt::Settled(resolution) => self.shown.remove(&resolution.request),
            Prompt::Said { .. } => true,
        }
    }
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
