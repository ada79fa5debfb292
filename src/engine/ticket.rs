//! The asker's side of a request.

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::model::{AgentId, Code, Decider, Outcome, Request, RequestId, Resolution};

/// A ticket of a request. It exists at once; the resolution comes later.
///
/// Dropping a ticket leaves the request open: the resolution still reaches the mailbox.
///
/// ```
/// # use bestow::{Outcome, request::Ticket};
/// async fn is_granted(ticket: &Ticket) -> bool {
///     println!("waiting for the answer to {}", ticket.code());
///     ticket.resolution().await.outcome == Outcome::Granted
/// }
/// ```
#[derive(Clone)]
pub struct Ticket {
    pub(super) id: RequestId,
    pub(super) state: Waiting,
}

#[derive(Clone)]
pub(super) enum Waiting {
    Over(Arc<Resolution>),
    Open {
        request: Arc<Request>,
        resolution: watch::Receiver<Option<Arc<Resolution>>>,
        /// True if the request outlives the engine.
        is_stored: bool,
    },
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (code, asker) = (self.code(), self.asker());
        match self.poll() {
            Some(resolution) => write!(f, "Ticket({code} of {asker}: {resolution})"),
            None => write!(f, "Ticket({code} of {asker}: open)"),
        }
    }
}

impl Ticket {
    /// Returns the id of the request.
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// Returns the short code of the request, which people can type.
    pub fn code(&self) -> Code {
        self.id.code()
    }

    pub(super) fn asker(&self) -> &AgentId {
        match &self.state {
            Waiting::Over(resolution) => &resolution.from,
            Waiting::Open { request, .. } => &request.from,
        }
    }

    /// Returns the resolution, if the request has ended.
    pub fn poll(&self) -> Option<Arc<Resolution>> {
        match &self.state {
            Waiting::Over(resolution) => Some(Arc::clone(resolution)),
            Waiting::Open { request, resolution, is_stored } => {
                let known = resolution.borrow().clone();
                known.or_else(|| resolution.has_changed().is_err().then(|| engine_gone(request, *is_stored)))
            }
        }
    }

    /// Waits for the resolution. If the engine ends first, the request counts as cancelled; if requests are stored, as
    /// unavailable until the next engine ([`Decider::NextEngine`]).
    ///
    /// # Cancellation
    ///
    /// Dropping the future only stops waiting. The request stays open.
    pub async fn resolution(&self) -> Arc<Resolution> {
        match &self.state {
            Waiting::Over(resolution) => Arc::clone(resolution),
            Waiting::Open { request, resolution, is_stored } => {
                let mut resolution = resolution.clone();
                let known = resolution.wait_for(Option::is_some).await;
                known.ok().and_then(|known| known.clone()).unwrap_or_else(|| engine_gone(request, *is_stored))
            }
        }
    }

    /// Waits at most `patience` for the resolution. `None` means that the request is still open.
    pub async fn wait(&self, patience: Duration) -> Option<Arc<Resolution>> {
        // The timer counts in whole milliseconds. Who does not want to wait, does not need it.
        if patience.is_zero() { self.poll() } else { tokio::time::timeout(patience, self.resolution()).await.ok() }
    }
}

/// Creates the resolution of a request whose engine has ended. No answer is possible any more, so it is a denial for
/// now.
fn engine_gone(request: &Request, is_stored: bool) -> Arc<Resolution> {
    let (outcome, decider) = match is_stored {
        true => (Outcome::Unavailable, Decider::NextEngine),
        false => (Outcome::Cancelled, Decider::EngineGone),
    };
    Arc::new(Resolution {
        request: request.id,
        from: request.from.clone(),
        owner: request.owner.clone(),
        outcome,
        granted: Vec::new(),
        refused: request.permissions().cloned().collect(),
        scope: None,
        decider,
        feedback: None,
        action: request.action.clone(),
        updated_input: None,
        at: request.since,
    })
}
