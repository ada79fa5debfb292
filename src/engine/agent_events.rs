//! The events of one agent, for a conversation with it. Events of other agents do not wake it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use foldhash::fast::RandomState;
use tokio::sync::mpsc::{self, error::TrySendError};

use super::NoEvent;
use crate::model::{AgentId, Event};

/// The number of events by which a listener may lag.
const CAPACITY: usize = 256;

/// A stream of the events about the permissions and processes of one agent, and about its retirement.
#[derive(Debug)]
pub(crate) struct AgentEvents {
    events: mpsc::Receiver<Event>,
    missed: Arc<AtomicU64>,
}

impl AgentEvents {
    /// Creates a stream that has ended.
    pub(super) fn over() -> AgentEvents {
        AgentEvents { events: mpsc::channel(1).1, missed: Arc::default() }
    }

    /// Waits for the next event, like [`Subscription::next`](super::Subscription::next). The stream ends with the agent
    /// or the engine.
    pub(crate) async fn next(&mut self) -> Result<Event, NoEvent> {
        match self.missed.swap(0, Ordering::AcqRel) {
            0 => self.events.recv().await.ok_or(NoEvent::Ended),
            count => Err(NoEvent::Missed(count)),
        }
    }
}

#[derive(Debug)]
struct Listener {
    events: mpsc::Sender<Event>,
    missed: Arc<AtomicU64>,
}

/// The listeners to each agent.
#[derive(Debug, Default)]
pub(super) struct Listeners(HashMap<AgentId, Vec<Listener>, RandomState>);

impl Listeners {
    pub(super) fn add(&mut self, agent: &AgentId) -> AgentEvents {
        let (sender, events) = mpsc::channel(CAPACITY);
        let missed = Arc::default();
        let all = self.0.entry(agent.clone()).or_default();
        all.retain(|listener| !listener.events.is_closed());
        all.push(Listener { events: sender, missed: Arc::clone(&missed) });
        AgentEvents { events, missed }
    }

    pub(super) fn tell(&mut self, event: &Event) {
        if self.0.is_empty() {
            return;
        }
        let Some(agent) = concerned(event) else { return };
        let Some(all) = self.0.get_mut(agent) else { return };
        all.retain(|listener| listener.hears(event));
        if all.is_empty() || event.retired().is_some() {
            self.0.remove(agent);
        }
    }
}

impl Listener {
    /// Passes the event on. Returns false if nobody listens any more.
    fn hears(&self, event: &Event) -> bool {
        match self.events.try_send(event.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.missed.fetch_add(1, Ordering::AcqRel);
                true
            }
            Err(TrySendError::Closed(_)) => false,
        }
    }
}

fn concerned(event: &Event) -> Option<&AgentId> {
    if let Event::Process(event) = event {
        return Some(&event.process().agent);
    }
    event.retired().or_else(|| event.grant().map(|grant| &grant.to))
}
