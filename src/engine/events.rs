//! The sender of events to subscribers.
//!
//! A step puts its events into the channel, where each subscriber finds them. It wakes a few waiting subscribers
//! itself. Many of them are woken by a task of their own, because that takes longer than the step.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{Notify, broadcast};

#[cfg(feature = "stdio")]
use super::agent_events::{AgentEvents, Listeners};
use super::subscription::{CAPACITY, Subscription};
#[cfg(feature = "stdio")]
use crate::model::AgentId;
use crate::model::{Event, Recorded};

/// The number of subscribers that a step wakes itself.
const FEW: usize = 8;

/// The sender of events.
#[derive(Debug)]
pub(super) struct Events {
    channel: Channel,
    bell: Arc<Bell>,
    /// The listeners to the events of one agent.
    #[cfg(feature = "stdio")]
    listeners: Listeners,
}

#[derive(Debug)]
enum Channel {
    /// A channel without a buffer, because nobody subscribed yet.
    Unused,
    Open(broadcast::Sender<Recorded>),
    /// The engine ended.
    Closed,
}

/// Wakes the waiting subscribers.
#[derive(Debug, Default)]
pub(super) struct Bell {
    subscribers: Arc<Notify>,
    /// Rings for the task that wakes many subscribers.
    helper: Notify,
    has_helper: AtomicBool,
    is_closed: AtomicBool,
}

impl Events {
    pub(super) fn new(bell: Arc<Bell>) -> Events {
        Events {
            channel: Channel::Unused,
            bell,
            #[cfg(feature = "stdio")]
            listeners: Listeners::default(),
        }
    }

    /// Subscribes to the events from now on.
    pub(super) fn subscribe(&mut self) -> Subscription {
        let events = match &self.channel {
            Channel::Open(sender) => sender.subscribe(),
            Channel::Closed => return Subscription::over(),
            Channel::Unused => {
                let (sender, receiver) = broadcast::channel(CAPACITY);
                self.channel = Channel::Open(sender);
                receiver
            }
        };
        Subscription { events, bell: Arc::clone(&self.bell.subscribers) }
    }

    /// Subscribes to the events about the permissions and processes of one agent, and its retirement.
    #[cfg(feature = "stdio")]
    pub(super) fn listen_to(&mut self, agent: &AgentId) -> AgentEvents {
        match self.channel {
            Channel::Closed => AgentEvents::over(),
            Channel::Unused | Channel::Open(_) => self.listeners.add(agent),
        }
    }

    /// Sends an event. Subscribers are not woken until [`Events::ring`]. The record is made only if there are any.
    pub(super) fn send(&mut self, event: &Event, record: impl FnOnce(Event) -> Recorded) {
        #[cfg(feature = "stdio")]
        self.listeners.tell(event);
        if let Channel::Open(sender) = &self.channel
            && sender.receiver_count() > 0
        {
            // It is no error if the last subscriber left meanwhile.
            let _ = sender.send(record(event.clone()));
        }
    }

    /// Wakes the subscribers that wait for the sent events.
    pub(super) fn ring(&self) {
        let Channel::Open(sender) = &self.channel else { return };
        match sender.receiver_count() {
            0 => {}
            count if count <= FEW || !self.bell.has_helper.load(Ordering::SeqCst) => {
                self.bell.subscribers.notify_waiters();
            }
            _ => self.bell.helper.notify_one(),
        }
    }

    /// Ends every subscription after its remaining events.
    pub(super) fn close(&mut self) {
        self.channel = Channel::Closed;
        #[cfg(feature = "stdio")]
        {
            self.listeners = Listeners::default();
        }
        self.bell.is_closed.store(true, Ordering::SeqCst);
        self.bell.subscribers.notify_waiters();
        self.bell.helper.notify_one();
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.close();
    }
}

/// Marks the helper as present. When its runtime drops it, steps wake everybody themselves again.
struct Helper(Arc<Bell>);

impl Drop for Helper {
    fn drop(&mut self) {
        self.0.has_helper.store(false, Ordering::SeqCst);
        self.0.subscribers.notify_waiters();
    }
}

/// Wakes subscribers until the engine has ended.
pub(super) async fn wake_subscribers(bell: Arc<Bell>) {
    bell.has_helper.store(true, Ordering::SeqCst);
    let Helper(bell) = &Helper(bell);
    while !bell.is_closed.load(Ordering::SeqCst) {
        bell.helper.notified().await;
        bell.subscribers.notify_waiters();
    }
}
