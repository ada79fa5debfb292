//! The news for one client of a person: policy changes, requests, and the output of runs, in the order in which they
//! happened.

use std::{future::ready, sync::Arc};

use bestow::{
    Engine,
    event::{NoEvent, Subscription},
    stdio::ToConnector,
    user::{ApproverSession, OwnerId, Prompt},
};
use tokio::sync::broadcast;

use super::board::RunNews;

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
    pub(super) fn new(
        engine: &Engine,
        owner: OwnerId,
        session: ApproverSession,
        runs: broadcast::Receiver<Arc<RunNews>>,
    ) -> Outgoing {
        Outgoing { engine: engine.clone(), owner, events: engine.subscribe(), session, runs, held: None }
    }

    /// Waits for the next news.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<News, Over> {
        loop {
            tokio::select! {
                biased;
                event = self.events.next() => match event {
                    Ok(recorded) => {
                        let at = self.engine.now().map_err(|_| Over)?;
                        if let Some(said) = ToConnector::of_policy(&recorded.event, &self.owner, at) {
                            return Ok(News::Policy(Box::new(said)));
                        }
                    }
                    Err(NoEvent::Ended | NoEvent::Missed(_)) => return Err(Over),
                },
                prompt = self.session.next(), if self.held.is_none() => {
                    self.held = Some(News::Prompt(prompt.ok_or(Over)?));
                }
                news = self.runs.recv(), if self.held.is_none() => {
                    self.held = Some(News::Run(news.map_err(|_| Over)?));
                }
                () = ready(()), if self.held.is_some() => {
                    if let Some(held) = self.held.take() {
                        return Ok(held);
                    }
                }
            }
        }
    }
}
