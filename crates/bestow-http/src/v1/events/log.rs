//! The recent events of an engine, with the owner of each.

use std::{
    collections::{HashMap, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, Weak},
};

use axum::http::StatusCode;
use bestow::{
    AgentId, Engine, Event, Permission,
    event::{NoEvent, Recorded, Subscription, Timestamp},
    user::OwnerId,
};
use serde_json::json;
use tokio::{
    runtime::Handle,
    sync::{Mutex as Turn, broadcast},
};

use super::stored::{Before, Told};
use crate::problem::Problem;

/// The events that are kept for clients that come back.
const KEPT: usize = 4_096;

/// The events by which a client may lag before it is cut off.
const LAG: usize = 1_024;

/// The longest text of all kept events together, in bytes.
const LONGEST: usize = 32 << 20;

/// The kept events.
pub(super) struct Kept {
    /// The events, oldest first.
    pub(super) events: Vec<Arc<Told>>,
    /// The number of the last event.
    pub(super) last: u64,
    /// The time from which on events are kept.
    pub(super) since: Timestamp,
}

/// The receiver of all later events.
pub(super) type Live = broadcast::Receiver<Arc<Told>>;

/// The recent events of an engine. One task follows the engine, and gives each event to all clients. The events from
/// before are read from the audit trail, once a client wants them.
#[derive(Debug)]
pub(crate) struct EventLog {
    engine: Engine,
    /// The state directory with the audit trail.
    trail: Option<PathBuf>,
    state: Mutex<Following>,
    /// The turn to read the trail.
    reading: Turn<()>,
}

#[derive(Debug, Default)]
enum Following {
    /// No task follows the engine yet.
    #[default]
    NotYet,
    Events(Recent),
    /// The engine ended.
    Over,
}

#[derive(Debug)]
struct Recent {
    /// The number of the last event before those that are kept.
    before: u64,
    /// The number of the last event.
    last: u64,
    kept: VecDeque<Arc<Told>>,
    /// The time from which on events are kept.
    since: Timestamp,
    /// The bytes of the kept events.
    length: usize,
    clients: broadcast::Sender<Arc<Told>>,
    /// The owner of each agent at the time of the last event.
    owners: HashMap<AgentId, OwnerId>,
    /// The number of the last event when the log began, and the owner of each agent then. None once the events from
    /// before were read.
    begin: Option<(u64, HashMap<AgentId, OwnerId>)>,
    /// The last change of the policy file.
    reload: Option<Arc<LastReload>>,
}

/// A change of the policy file that took effect.
#[derive(Debug)]
pub(in crate::v1) struct LastReload {
    pub(in crate::v1) at: Timestamp,
    pub(in crate::v1) gained: Vec<(AgentId, Permission)>,
    pub(in crate::v1) lost: Vec<(AgentId, Permission)>,
    pub(in crate::v1) widened: Vec<(Option<AgentId>, Arc<str>)>,
    pub(in crate::v1) narrowed: Vec<(Option<AgentId>, Arc<str>)>,
}

impl EventLog {
    /// Follows `engine`, at once if a runtime is there, and else from the first client on.
    pub(crate) fn of(engine: &Engine, trail: Option<PathBuf>) -> Arc<EventLog> {
        let (engine, state, reading) = (engine.clone(), Mutex::default(), Turn::default());
        let log = Arc::new(EventLog { engine, trail, state, reading });
        if Handle::try_current().is_ok() {
            // If the engine has ended, the first client is told.
            let _ = log.follow();
        }
        log
    }

    /// Starts the task that follows the engine, if none does.
    fn follow(self: &Arc<Self>) -> Result<(), Problem> {
        let mut state = self.state.lock().map_err(|_| unavailable())?;
        if !matches!(*state, Following::NotYet) {
            return Ok(());
        }
        let (recent, events) = Recent::begin(&self.engine)?;
        *state = Following::Events(recent);
        tokio::spawn(follow(Arc::downgrade(self), events));
        Ok(())
    }

    /// Returns the kept events after the one with this number, and the receiver of all later ones.
    pub(super) async fn after(self: &Arc<Self>, number: Option<u64>) -> Result<(Vec<Arc<Told>>, Live), Problem> {
        self.follow()?;
        self.look_back(number.unwrap_or(u64::MAX)).await;
        let state = self.state.lock().map_err(|_| unavailable())?;
        let Following::Events(recent) = &*state else { return Err(unavailable()) };
        Ok((recent.after(number)?, recent.clients.subscribe()))
    }

    /// Returns the kept events before the one with this number.
    pub(super) async fn recent(self: &Arc<Self>, before: Option<u64>) -> Result<Kept, Problem> {
        self.follow()?;
        self.look_back(0).await;
        let state = self.state.lock().map_err(|_| unavailable())?;
        let Following::Events(recent) = &*state else { return Err(unavailable()) };
        let is_wanted = |told: &&Arc<Told>| before.is_none_or(|before| told.sequence < before);
        let events = recent.kept.iter().filter(is_wanted).cloned().collect();
        Ok(Kept { events, last: recent.last, since: recent.since })
    }

    /// Adds the events from before the log began, if the ones after `number` are wanted and there is room for more.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the log as it is.
    async fn look_back(&self, number: u64) {
        let Some(trail) = &self.trail else { return };
        let _turn = self.reading.lock().await;
        let Some((before, room)) = self.wanted_before(number) else { return };
        let (last, trail) = (before.last, trail.clone());
        let read = tokio::task::spawn_blocking(move || before.read(&trail, room)).await;
        // A trail that cannot be read is reported where it is asked for, and is not read again here.
        let stored = read.map(Result::unwrap_or_default).unwrap_or_default();
        let Ok(mut state) = self.state.lock() else { return };
        if let Following::Events(recent) = &mut *state {
            recent.put_before(last, stored);
        }
    }

    fn wanted_before(&self, number: u64) -> Option<(Before, usize)> {
        let state = self.state.lock().ok()?;
        let Following::Events(recent) = &*state else { return None };
        let (last, owners) = recent.begin.as_ref()?;
        let room = KEPT.saturating_sub(recent.kept.len());
        let is_wanted = number < *last && *last == recent.before && room > 0;
        is_wanted.then(|| (Before { engine: self.engine.clone(), last: *last, owners: owners.clone() }, room))
    }

    /// Returns the last change of the policy file, if there was one since the log began.
    pub(in crate::v1) fn last_reload(&self) -> Result<Option<Arc<LastReload>>, Problem> {
        let state = self.state.lock().map_err(|_| unavailable())?;
        Ok(if let Following::Events(recent) = &*state { recent.reload.clone() } else { None })
    }

    /// Takes an event, or the loss of some. Returns false if there will be no further one.
    fn take(&self, event: Result<Recorded, NoEvent>) -> Taken {
        let Ok(mut state) = self.state.lock() else { return Taken::Over };
        let Following::Events(recent) = &mut *state else { return Taken::Over };
        match event {
            Ok(recorded) => {
                recent.add(&self.engine, &recorded);
                Taken::Event
            }
            // The clients are cut off: their stream would have a gap.
            Err(NoEvent::Missed(_)) => match Recent::begin(&self.engine) {
                Ok((anew, events)) => {
                    *recent = Recent { reload: recent.reload.take(), ..anew };
                    Taken::Anew(events)
                }
                Err(_) => {
                    *state = Following::Over;
                    Taken::Over
                }
            },
            Err(NoEvent::Ended) => {
                *state = Following::Over;
                Taken::Over
            }
        }
    }
}

/// The result of taking an event.
enum Taken {
    Event,
    /// Events were missed. The log begins anew with this subscription.
    Anew(Subscription),
    Over,
}

async fn follow(log: Weak<EventLog>, mut events: Subscription) {
    loop {
        let event = events.next().await;
        let Some(log) = log.upgrade() else { return };
        match log.take(event) {
            Taken::Event => {}
            Taken::Anew(anew) => events = anew,
            Taken::Over => return,
        }
    }
}

impl Recent {
    /// Begins with the next event of the engine.
    fn begin(engine: &Engine) -> Result<(Recent, Subscription), Problem> {
        loop {
            let owners = owners(engine)?;
            let events = engine.subscribe();
            let last = engine.last_sequence()?;
            // The owners are those of the first event, if they did not change meanwhile.
            if owners == self::owners(engine)? {
                let (clients, _) = broadcast::channel(LAG);
                let (kept, since) = (VecDeque::new(), engine.now()?);
                let begin = Some((last, owners.clone()));
                let (before, length, reload) = (last, 0, None);
                return Ok((Recent { before, last, kept, since, length, clients, owners, begin, reload }, events));
            }
        }
    }

    fn add(&mut self, engine: &Engine, recorded: &Recorded) {
        if let Event::AgentRegistered { profile, .. } | Event::AgentChanged { profile } = &recorded.event {
            self.owners.insert(profile.id.clone(), profile.owner.clone());
        }
        if let Event::ConfigReloaded { gained, lost, widened, narrowed, .. } = &recorded.event {
            let (gained, lost) = (gained.clone(), lost.clone());
            let (widened, narrowed) = (widened.clone(), narrowed.clone());
            self.reload = Some(Arc::new(LastReload { at: recorded.at, gained, lost, widened, narrowed }));
        }
        let told = Arc::new(Told::of(engine, recorded, |agent| self.owners.get(agent).cloned()));
        if let Event::AgentRetired { agent } = &recorded.event {
            self.owners.remove(agent);
        }
        if self.kept.is_empty() {
            self.before = recorded.sequence.saturating_sub(1);
        }
        self.last = self.last.max(recorded.sequence);
        self.length = self.length.saturating_add(told.text.len());
        self.kept.push_back(Arc::clone(&told));
        while self.kept.len() > KEPT || self.length > LONGEST {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.length = self.length.saturating_sub(oldest.text.len());
            self.before = oldest.sequence;
            self.since = oldest.at;
        }
        // It is no error if there is no client.
        let _ = self.clients.send(told);
    }

    /// Puts the stored events up to the one with the number `last` before the kept ones.
    fn put_before(&mut self, last: u64, stored: VecDeque<Told>) {
        // Meanwhile the log may have begun anew, or may have become full.
        if self.before != last || self.begin.take_if(|(begin, _)| *begin == last).is_none() {
            return;
        }
        for told in stored.into_iter().rev() {
            self.length = self.length.saturating_add(told.text.len());
            if self.kept.len() == KEPT || self.length > LONGEST {
                self.length = self.length.saturating_sub(told.text.len());
                return;
            }
            self.before = told.sequence.saturating_sub(1);
            self.since = told.at;
            self.kept.push_front(Arc::new(told));
        }
    }

    fn after(&self, number: Option<u64>) -> Result<Vec<Arc<Told>>, Problem> {
        let Some(number) = number else { return Ok(Vec::new()) };
        if number < self.before || self.last < number {
            let detail = format!(
                "the events after {number} are not kept: read the state again, and go on without a number (kept are \
                 the events after {}, and the last one is {})",
                self.before, self.last
            );
            let facts = json!({ "keptAfter": self.before, "last": self.last });
            return Err(Problem::new(StatusCode::GONE, "events_gone", detail).about(facts));
        }
        Ok(self.kept.iter().filter(|told| number < told.sequence).cloned().collect())
    }
}

fn owners(engine: &Engine) -> Result<HashMap<AgentId, OwnerId>, Problem> {
    let agents = engine.agents()?.into_iter();
    Ok(agents.map(|profile| (profile.id.clone(), profile.owner.clone())).collect())
}

fn unavailable() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the engine has ended")
}
