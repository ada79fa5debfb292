//! What reaches an agent by itself.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Notify;

use crate::model::{AgentId, Ended, Event, Grant, Origin, Request, Resolution, Route, Shown, TaskEvent};

/// How much waits for an agent that does not read its mail; then the oldest goes.
const CAPACITY: usize = 256;

/// How much of that may be messages.
const TALK_CAPACITY: usize = 64;

/// Something that reaches an agent by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mail {
    /// A question of this agent ended.
    Resolved(Arc<Resolution>),
    /// Somebody gave this agent something without having been asked.
    Granted(Arc<Grant>),
    /// This agent lost something.
    Lost {
        /// What.
        grant: Arc<Grant>,
        /// Why; none if its time was over.
        ended: Option<Ended>,
    },
    /// Silent: a background agent's question was shown to this agent's user.
    Carried(Arc<Request>),
    /// Silent: the question that this agent carried ended, and the asker knows.
    CarriedResolved(Arc<Resolution>),
    /// Silent: something about a scheduled task of this agent, such as that its gate lacks a permission.
    Task(TaskEvent),
    /// Somebody says something.
    Message {
        /// Who; none is the user.
        from: Option<AgentId>,
        /// What.
        text: Arc<str>,
    },
    /// This many were dropped, oldest first, since nobody read them.
    Missed(u64),
}

impl Mail {
    /// Whether it is for the record only: it should not make the agent act (`sources/004`, "Permission requests").
    pub fn is_silent(&self) -> bool {
        matches!(self, Mail::Carried(_) | Mail::CarriedResolved(_) | Mail::Task(_))
    }
}

impl fmt::Display for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mail::Resolved(resolution) => resolution.fmt(f),
            Mail::Granted(grant) => {
                write!(f, "you now hold {}", grant.right.permission.describe())?;
                if let Origin::Agent { from } = &grant.origin {
                    write!(f, ", given by {from}")?;
                }
                grant.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Mail::Lost { grant, ended: Some(ended) } => {
                write!(f, "you no longer hold {}: {ended}", grant.right.permission.describe())
            }
            Mail::Lost { grant, ended: None } => {
                write!(f, "you no longer hold {}: its time is over", grant.right.permission.describe())
            }
            Mail::Carried(request) => write!(f, "shown to your user: {request}"),
            Mail::CarriedResolved(resolution) => {
                write!(f, "your user's answer was delivered to {}: {resolution}", resolution.from)
            }
            Mail::Task(event) => event.fmt(f),
            Mail::Message { from: Some(from), text } => write!(f, "{from}: {}", Shown(text)),
            Mail::Message { from: None, text } => write!(f, "{}", Shown(text)),
            Mail::Missed(count) => write!(f, "{count} notices were dropped unread"),
        }
    }
}

/// What waits for one agent. Any number may read; each piece goes to one of them.
#[derive(Debug, Default)]
pub(super) struct Box {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    mail: VecDeque<Mail>,
    missed: u64,
    /// How much of it is talk.
    talk: usize,
    /// Nothing can come any more.
    over: bool,
}

impl Waiting {
    /// What has to go before `mail` fits. Talk goes before facts, so that nobody can push facts out by talking.
    fn one_too_many(&self, mail: &Mail) -> Option<usize> {
        let too_much_talk = is_talk(mail) && self.talk >= TALK_CAPACITY;
        if !too_much_talk && self.mail.len() < CAPACITY {
            return None;
        }
        let oldest_talk = if self.talk > 0 { self.mail.iter().position(is_talk) } else { None };
        Some(oldest_talk.unwrap_or(0))
    }

    fn add(&mut self, mail: Mail) {
        self.talk += usize::from(is_talk(&mail));
        self.mail.push_back(mail);
    }

    fn remove(&mut self, place: usize) -> Option<Mail> {
        let mail = self.mail.remove(place)?;
        self.talk -= usize::from(is_talk(&mail));
        Some(mail)
    }
}

fn is_talk(mail: &Mail) -> bool {
    matches!(mail, Mail::Message { .. })
}

impl Box {
    pub(super) fn post(&self, mail: Mail) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = waiting.one_too_many(&mail) {
            waiting.remove(place);
            waiting.missed += 1;
        }
        waiting.add(mail);
        drop(waiting);
        self.bell.notify_one();
    }

    /// Nothing comes after what is there: the agent is gone, or the engine.
    pub(super) fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).over = true;
        self.bell.notify_waiters();
    }

    fn take(&self) -> Next {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.missed > 0 {
            return Next::Is(Mail::Missed(std::mem::take(&mut waiting.missed)));
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
    Is(Mail),
    NotYet,
    Never,
}

/// Reads what reaches one agent by itself.
#[derive(Clone, Debug)]
pub struct Mailbox(pub(super) Arc<Box>);

impl Mailbox {
    /// The next piece, as soon as there is one. `None` once nothing can come any more, since the agent is gone, or the
    /// engine.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing: a piece is taken only when it is returned.
    pub async fn next(&self) -> Option<Mail> {
        loop {
            // Listening before looking, so that nothing rings in between.
            let mut bell = std::pin::pin!(self.0.bell.notified());
            bell.as_mut().enable();
            match self.0.take() {
                Next::Is(mail) => return Some(mail),
                Next::Never => return None,
                Next::NotYet => bell.await,
            }
        }
    }

    /// The next piece, if there is one now.
    pub fn try_next(&self) -> Option<Mail> {
        if let Next::Is(mail) = self.0.take() { Some(mail) } else { None }
    }
}

/// Who hears what of an event. `events` is the batch it happened in.
pub(super) fn addressed(event: &Event, events: &[Event]) -> Vec<(AgentId, Mail)> {
    if let Event::Resolved { resolution, carrier } = event {
        let asker = (resolution.from.clone(), Mail::Resolved(Arc::clone(resolution)));
        let other = carrier.iter().filter(|carrier| **carrier != resolution.from);
        let silent = other.map(|carrier| (carrier.clone(), Mail::CarriedResolved(Arc::clone(resolution))));
        return std::iter::once(asker).chain(silent).collect();
    }
    about_one(event, events).into_iter().collect()
}

fn about_one(event: &Event, events: &[Event]) -> Option<(AgentId, Mail)> {
    if let Event::Routed { request, route: Route::Carrier(carrier) } = event {
        let other = *carrier != request.from;
        return other.then(|| (carrier.clone(), Mail::Carried(Arc::clone(request))));
    }
    if let Event::Task(event) = event {
        return Some((event.tells()?.clone(), Mail::Task(event.clone())));
    }
    let grant = event.grant()?;
    let mail = if let Event::GrantRevoked { ended, .. } = event {
        Mail::Lost { grant: Arc::clone(grant), ended: Some(ended.clone()) }
    } else if matches!(event, Event::GrantExpired { .. }) {
        Mail::Lost { grant: Arc::clone(grant), ended: None }
    } else if matches!(event, Event::GrantIssued { .. }) && is_news(grant, events) {
        Mail::Granted(Arc::clone(grant))
    } else {
        return None;
    };
    Some((grant.to.clone(), mail))
}

/// What answers a request is told by its resolution; what an agent starts with is no news to it.
fn is_news(grant: &Grant, events: &[Event]) -> bool {
    let answers = matches!(&grant.origin, Origin::Person { request: Some(_), .. });
    let begins =
        events.iter().any(|event| matches!(event, Event::AgentRegistered { profile, .. } if profile.id == grant.to));
    !answers && !begins
}
