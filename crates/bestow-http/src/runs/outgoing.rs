//! The news for one client of a person: policy changes, requests, and the output of runs, in the order in which they
//! happened.

use std::{collections::VecDeque, sync::Arc};

use bestow::{
    Engine, Error,
    agent::RunId,
    event::Subscription,
    request::Request,
    stdio::ToConnector,
    user::{ApproverSession, OwnerId, Prompt},
};
use tokio::sync::{mpsc::error::TryRecvError, watch};

use super::{
    news::{Inbox, RunNews},
    registry::Runs,
};

/// The news of runs that a client may have before it.
const LAG: usize = 1_024;

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
    runs: Inbox,
    /// News of runs that were read to find the begin of a run, and that are told in their turn.
    later: VecDeque<Arc<RunNews>>,
    /// The next policy change, after the begins of runs that come before it.
    first: VecDeque<News>,
    /// The next items. They are held back until all earlier policy changes are told.
    held: VecDeque<News>,
}

/// The client reads too slowly, or the engine ended.
#[derive(Debug)]
pub(super) struct Over;

impl Outgoing {
    pub(super) fn new(engine: &Engine, owner: OwnerId, session: ApproverSession, runs: &Runs) -> Outgoing {
        // The signal comes before the events: see `PolicySignals::of`.
        let (policies, runs) = (runs.policies(&owner), runs.news(&owner));
        Outgoing {
            engine: engine.clone(),
            owner,
            policies,
            events: engine.subscribe(),
            session,
            runs,
            later: VecDeque::new(),
            first: VecDeque::new(),
            held: VecDeque::new(),
        }
    }

    /// Hears about the requests and the output of a run from now on. Returns the requests that wait already.
    pub(super) fn watch(&self, run: &RunId) -> Result<Vec<Arc<Request>>, Error> {
        self.runs.watch(run);
        self.session.watch(run)
    }

    /// Hears about a run no more. News of it may be on its way.
    pub(super) fn pass_by(&self, run: &RunId) {
        self.runs.pass_by(run);
        self.session.pass_by(run);
    }

    /// Tells these requests next, after the reply that comes before them.
    pub(super) fn tell_next(&mut self, requests: Vec<Arc<Request>>) {
        self.held.extend(requests.into_iter().map(|request| News::Prompt(Prompt::Ask(request))));
    }

    /// Waits for the next news.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<News, Over> {
        loop {
            if let Some(first) = self.first.pop_front() {
                return Ok(first);
            }
            // The engine gives out an event before everything that follows from it.
            if self.read_policy()? {
                continue;
            }
            if let Some(held) = self.held.pop_front() {
                return Ok(held);
            }
            // The end of a request comes before the end of its run.
            tokio::select! {
                biased;
                changed = self.policies.changed() => changed.map_err(|_| Over)?,
                prompt = self.session.next() => {
                    let prompt = prompt.ok_or(Over)?;
                    if let Prompt::Ask(request) = &prompt {
                        let begins = self.begins(|news, _| news.run == request.run)?;
                        self.held.extend(begins);
                    }
                    self.held.push_back(News::Prompt(prompt));
                }
                news = next_of_run(&mut self.later, &mut self.runs) => self.held.push_back(News::Run(news?)),
            }
        }
    }

    /// Takes the begins of runs for which `is_wanted` returns true, if the client was not told about them yet. Its
    /// second argument is the number of the last event before the begin.
    fn begins(&mut self, is_wanted: impl Fn(&RunNews, u64) -> bool) -> Result<Vec<News>, Over> {
        loop {
            match self.runs.news.try_recv() {
                // A client that lags this far is cut off, as one that reads the news themselves too slowly.
                Ok(_) if self.later.len() >= LAG => return Err(Over),
                Ok(news) => self.later.push_back(news),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(Over),
            }
        }
        let mut begins = Vec::new();
        self.later.retain(|news| match news.begins_after {
            Some(after) if is_wanted(news, after) => {
                begins.push(News::Run(Arc::clone(news)));
                false
            }
            Some(_) | None => true,
        });
        Ok(begins)
    }

    /// Reads the next policy change among the events that are there, and the begins of runs before it. Returns false if
    /// there is none.
    fn read_policy(&mut self) -> Result<bool, Over> {
        while let Some(recorded) = self.events.try_next().map_err(|_| Over)? {
            let at = self.engine.now().map_err(|_| Over)?;
            if let Some(said) = ToConnector::of_policy(&recorded.event, &self.owner, at) {
                let begins = self.begins(|_, after| after < recorded.sequence)?;
                self.first.extend(begins);
                self.first.push_back(News::Policy(Box::new(said)));
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Waits for the next news of a run.
///
/// # Cancellation
///
/// Dropping the future loses nothing.
async fn next_of_run(later: &mut VecDeque<Arc<RunNews>>, runs: &mut Inbox) -> Result<Arc<RunNews>, Over> {
    match later.pop_front() {
        Some(news) => Ok(news),
        None => runs.news.recv().await.ok_or(Over),
    }
}
