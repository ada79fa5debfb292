//! The news for one client of a person: policy changes, requests, and the output of runs, in the order in which they
//! happened.

use std::sync::Arc;

use bestow::{
    Engine,
    event::Subscription,
    stdio::ToConnector,
    user::{ApproverSession, OwnerId, Prompt},
};
use tokio::sync::{broadcast, watch};

use super::{board::RunNews, registry::Runs};

/// Something that the client may have to see.
#[derive(Debug)]
pub(super) enum News {
    Policy(Box<ToConnector>),
    Prompt(Prompt),
    Run(Arc<RunNews>),
}

/// The streams of news. A change of policy comes before the requests and the output that follow it (`sources/001`).
#[derive(Debug)]
pub(super) struct Outgoing {
    engine: Engine,
    owner: OwnerId,
    /// The signal to look for policy changes among the events.
    policies: watch::Receiver<()>,
    events: Subscription,
    session: ApproverSession,
    runs: broadcast::Receiver<Arc<RunNews>>,
    /// The next item. It is held back until all earlier policy changes are told.
    held: Option<News>,
}

/// The client reads too slowly, or the engine ended.
#[derive(Debug)]
pub(super) struct Over;

impl Outgoing {
    pub(super) fn new(engine: &Engine, owner: OwnerId, session: ApproverSession, runs: &Runs) -> Outgoing {
        // The signal comes before the events: see `PolicySignals::of`.
        let (policies, runs) = (runs.policies(&owner), runs.news(&owner));
        Outgoing { engine: engine.clone(), owner, policies, events: engine.subscribe(), session, runs, held: None }
    }

    /// Waits for the next news.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<News, Over> {
        loop {
            // The engine gives out an event before everything that follows from it.
            if let Some(said) = self.policy()? {
                return Ok(News::Policy(Box::new(said)));
            }
            if let Some(held) = self.held.take() {
                return Ok(held);
            }
            // The end of a request comes before the end of its run.
            tokio::select! {
                biased;
                changed = self.policies.changed() => changed.map_err(|_| Over)?,
                prompt = self.session.next() => self.held = Some(News::Prompt(prompt.ok_or(Over)?)),
                news = self.runs.recv() => self.held = Some(News::Run(news.map_err(|_| Over)?)),
            }
        }
    }

    /// Returns the next policy change among the events that are there.
    fn policy(&mut self) -> Result<Option<ToConnector>, Over> {
        while let Some(recorded) = self.events.try_next().map_err(|_| Over)? {
            let at = self.engine.now().map_err(|_| Over)?;
            if let Some(said) = ToConnector::of_policy(&recorded.event, &self.owner, at) {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }
}
