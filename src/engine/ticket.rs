//! The asker's side of a request.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::model::{AgentId, Code, Decider, Outcome, Request, RequestId, Resolution};

/// A question that was asked. It returns at once; the answer comes when it comes.
///
/// Dropping a ticket leaves the question standing: the answer reaches the mailbox all the same.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub(super) id: RequestId,
    pub(super) state: Waiting,
}

#[derive(Clone, Debug)]
pub(super) enum Waiting {
    Over(Arc<Resolution>),
    Open {
        request: Arc<Request>,
        resolution: watch::Receiver<Option<Arc<Resolution>>>,
        /// The question outlives the engine.
        is_stored: bool,
    },
}

impl Ticket {
    /// The request.
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// The short form of the request, which people can type.
    pub fn code(&self) -> Code {
        self.id.code()
    }

    pub(super) fn asker(&self) -> &AgentId {
        match &self.state {
            Waiting::Over(resolution) => &resolution.from,
            Waiting::Open { request, .. } => &request.from,
        }
    }

    /// How it ended, if it did.
    pub fn poll(&self) -> Option<Arc<Resolution>> {
        match &self.state {
            Waiting::Over(resolution) => Some(Arc::clone(resolution)),
            Waiting::Open { request, resolution, is_stored } => {
                let known = resolution.borrow().clone();
                known.or_else(|| resolution.has_changed().is_err().then(|| engine_gone(request, *is_stored)))
            }
        }
    }

    /// How it ended, as soon as it does. If the engine ends first, that is the answer: cancelled, or, where questions are stored,
    /// unavailable until the next engine ([`Decider::NextEngine`]).
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws interest, not the question.
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

    /// The same, but no longer than `patience`; `None` means that the question still stands.
    pub async fn wait(&self, patience: Duration) -> Option<Arc<Resolution>> {
        tokio::time::timeout(patience, self.resolution()).await.ok()
    }
}

/// Nobody is left here who could answer, so it is no for now.
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
