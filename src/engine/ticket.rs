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
    Open { request: Arc<Request>, resolution: watch::Receiver<Option<Arc<Resolution>>> },
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
            Waiting::Open { request, resolution } => {
                let known = resolution.borrow().clone();
                known.or_else(|| resolution.has_changed().is_err().then(|| engine_gone(request)))
            }
        }
    }

    /// How it ended, as soon as it does. If the engine ends first, that is the answer: cancelled.
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws interest, not the question.
    pub async fn resolution(&self) -> Arc<Resolution> {
        match &self.state {
            Waiting::Over(resolution) => Arc::clone(resolution),
            Waiting::Open { request, resolution } => {
                let mut resolution = resolution.clone();
                let known = resolution.wait_for(Option::is_some).await;
                known.ok().and_then(|known| known.clone()).unwrap_or_else(|| engine_gone(request))
            }
        }
    }

    /// The same, but no longer than `patience`; `None` means that the question still stands.
    pub async fn wait(&self, patience: Duration) -> Option<Arc<Resolution>> {
        tokio::time::timeout(patience, self.resolution()).await.ok()
    }
}

/// Nobody is left who could answer, so it is no.
fn engine_gone(request: &Request) -> Arc<Resolution> {
    Arc::new(Resolution {
        request: request.id,
        from: request.from.clone(),
        owner: request.owner.clone(),
        outcome: Outcome::Cancelled,
        granted: Vec::new(),
        refused: request.permissions().cloned().collect(),
        scope: None,
        decider: Decider::EngineGone,
        feedback: None,
        action: request.action.clone(),
        updated_input: None,
        at: request.since,
    })
}
