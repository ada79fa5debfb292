//! Notifications and messages for an agent.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Notify;

use super::batch_facts::BatchFacts;
use crate::model::{AgentId, Ended, Escaped, Event, Grant, Origin, Request, Resolution, Route, TaskEvent};

/// The maximum number of unread entries of an agent. If there are more, the oldest message is dropped, or the oldest
/// entry if there is no message.
const CAPACITY: usize = 256;

/// The maximum number of messages among them.
const TALK_CAPACITY: usize = 64;

/// A notification or message that an agent receives without asking for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notification {
    /// A request of this agent ended.
    Resolved(Arc<Resolution>),
    /// The agent received a grant that it did not request.
    Granted(Arc<Grant>),
    /// The agent lost a grant.
    Lost {
        /// The lost grant.
        grant: Arc<Grant>,
        /// The cause; none if the grant expired.
        ended: Option<Ended>,
    },
    /// Silent: a request of a background agent was shown to this agent's user.
    Carried(Arc<Request>),
    /// Silent: a request that this agent carried to its user ended, and the asker was notified.
    CarriedResolved(Arc<Resolution>),
    /// Silent: an event of a scheduled task of this agent, for example that its gate lacks a permission.
    Task(TaskEvent),
    /// A message from another agent or from the user.
    Message {
        /// The sender; none is the user.
        from: Option<AgentId>,
        /// The text of the message.
        text: Arc<str>,
    },
    /// The number of entries that were dropped unread.
    Missed(u64),
}

impl Notification {
    /// Returns true if the entry is for the record only and should not make the agent act (`sources/004`, "Permission
    /// requests").
    pub fn is_silent(&self) -> bool {
        matches!(self, Notification::Carried(_) | Notification::CarriedResolved(_) | Notification::Task(_))
    }
}

impl fmt::Display for Notification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notification::Resolved(resolution) => resolution.fmt(f),
            Notification::Granted(grant) => {
                write!(f, "you now hold {}", grant.pinned.permission.describe())?;
                if let Origin::Agent { from } = &grant.origin {
                    write!(f, ", given by {from}")?;
                }
                grant.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Notification::Lost { grant, ended: Some(ended) } => {
                write!(f, "you no longer hold {}: {ended}", grant.pinned.permission.describe())
            }
            Notification::Lost { grant, ended: None } => {
                write!(f, "you no longer hold {}: it expired", grant.pinned.permission.describe())
            }
            Notification::Carried(request) => write!(f, "shown to your user: {request}"),
            Notification::CarriedResolved(resolution) => {
                write!(f, "your user's answer was delivered to {}: {resolution}", resolution.from)
            }
            Notification::Task(event) => event.fmt(f),
            Notification::Message { from: Some(from), text } => write!(f, "{from}: {}", Escaped(text)),
            Notification::Message { from: None, text } => write!(f, "{}", Escaped(text)),
            Notification::Missed(count) => write!(f, "{count} unread notifications were dropped"),
        }
    }
}

/// The inbox of one agent. Any number of readers may read; each entry goes to one of them.
#[derive(Debug, Default)]
pub(super) struct Box {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    mail: VecDeque<Notification>,
    missed: u64,
    /// The number of messages in `mail`.
    talk: usize,
    /// True if no more entries can arrive.
    over: bool,
}

impl Waiting {
    /// Returns the index of the entry to drop so that `mail` fits. Messages are dropped first, so that a sender of
    /// messages cannot push out notifications.
    fn one_too_many(&self, mail: &Notification) -> Option<usize> {
        let too_much_talk = is_talk(mail) && self.talk >= TALK_CAPACITY;
        if !too_much_talk && self.mail.len() < CAPACITY {
            return None;
        }
        let oldest_talk = if self.talk > 0 { self.mail.iter().position(is_talk) } else { None };
        Some(oldest_talk.unwrap_or(0))
    }

    fn add(&mut self, mail: Notification) {
        self.talk += usize::from(is_talk(&mail));
        self.mail.push_back(mail);
    }

    fn remove(&mut self, place: usize) -> Option<Notification> {
        let mail = self.mail.remove(place)?;
        self.talk -= usize::from(is_talk(&mail));
        Some(mail)
    }
}

fn is_talk(mail: &Notification) -> bool {
    matches!(mail, Notification::Message { .. })
}

impl Box {
    pub(super) fn post(&self, mail: Notification) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = waiting.one_too_many(&mail) {
            waiting.remove(place);
            waiting.missed += 1;
        }
        waiting.add(mail);
        drop(waiting);
        self.bell.notify_one();
    }

    /// Closes the inbox, because the agent or the engine is gone. Entries that are already in it can still be read.
    pub(super) fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).over = true;
        self.bell.notify_waiters();
    }

    fn take(&self) -> Next {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.missed > 0 {
            return Next::Is(Notification::Missed(std::mem::take(&mut waiting.missed)));
        }
        let mail = waiting.remove(0);
        if !waiting.mail.is_empty() {
            self.bell.notify_one();
        }
        match mail {
            Some(mail) => Next::Is(mail),
            None if waiting.over => Next::Never,
            None => Next::NotYet,
        }
    }
}

enum Next {
    Is(Notification),
    NotYet,
    Never,
}

/// Reads the notifications and messages of one agent.
#[derive(Clone, Debug)]
pub struct Inbox(pub(super) Arc<Box>);

impl Inbox {
    /// Waits for the next entry. Returns `None` once the inbox is empty and closed, because the agent or the engine is
    /// gone.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no entry: an entry is taken only when it is returned.
    pub async fn next(&self) -> Option<Notification> {
        loop {
            // The listener is registered before the check, so that no notification is missed in between.
            let mut bell = std::pin::pin!(self.0.bell.notified());
            bell.as_mut().enable();
            match self.0.take() {
                Next::Is(mail) => return Some(mail),
                Next::Never => return None,
                Next::NotYet => bell.await,
            }
        }
    }

    /// Returns the next entry, if there is one now.
    pub fn try_next(&self) -> Option<Notification> {
        if let Next::Is(mail) = self.0.take() { Some(mail) } else { None }
    }
}

/// Returns the recipients of an event, each with its inbox entry. `batch` has the facts about the batch of the event.
pub(super) fn addressed(event: &Event, batch: &BatchFacts<'_>) -> impl Iterator<Item = (AgentId, Notification)> {
    let both = if let Event::Resolved { resolution, carrier } = event {
        let asker = (resolution.from.clone(), Notification::Resolved(Arc::clone(resolution)));
        let other = carrier.as_ref().filter(|carrier| **carrier != resolution.from);
        let silent = other.map(|carrier| (carrier.clone(), Notification::CarriedResolved(Arc::clone(resolution))));
        [Some(asker), silent]
    } else {
        [about_one(event, batch), None]
    };
    both.into_iter().flatten()
}

fn about_one(event: &Event, batch: &BatchFacts<'_>) -> Option<(AgentId, Notification)> {
    if let Event::Routed { request, route: Route::Carrier(carrier) } = event {
        let other = *carrier != request.from;
        return other.then(|| (carrier.clone(), Notification::Carried(Arc::clone(request))));
    }
    if let Event::Task(event) = event {
        return Some((event.tells()?.clone(), Notification::Task(event.clone())));
    }
    let grant = event.grant()?;
    let mail = if let Event::GrantRevoked { ended, .. } = event {
        Notification::Lost { grant: Arc::clone(grant), ended: Some(ended.clone()) }
    } else if matches!(event, Event::GrantExpired { .. }) {
        Notification::Lost { grant: Arc::clone(grant), ended: None }
    } else if matches!(event, Event::GrantIssued { .. }) && is_news(grant, batch) {
        Notification::Granted(Arc::clone(grant))
    } else {
        return None;
    };
    Some((grant.to.clone(), mail))
}

/// Returns true if the agent must be notified of a grant. The resolution of a request already reports its grants, and a
/// new agent knows its initial permissions.
fn is_news(grant: &Grant, batch: &BatchFacts<'_>) -> bool {
    let answers = matches!(&grant.origin, Origin::Person { request: Some(_), .. });
    !answers && !batch.registers(&grant.to)
}
