//! What all handles share: the one lock, and everything that is published from under it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use dashmap::DashMap;
use foldhash::fast::RandomState;
use tokio::sync::{Notify, broadcast, mpsc, watch};

use crate::{
    kernel::{Broken, Command, Ground, Known, Refusal, State, compile},
    model::{
        AgentId, Event, Grant, GrantId, OwnerId, Permission, Reads, Recorded, RequestId, Resolution, Right, Route,
        Settings, Timestamp,
    },
    seam::{Clock, Paths},
};

use super::{
    Error, Ticket,
    cell::Cell,
    mail,
    subscription::CAPACITY,
    surface::{self, Heard, Open, ToPerson, show},
    ticket::Waiting,
};

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) paths: Arc<dyn Paths>,
    /// The only lock. Only short, pure, non-async calls run under it.
    writer: Mutex<Writer>,
    /// Where each agent's rights are published. The map is for finding a cell; nobody searches rights under its guard.
    cells: DashMap<AgentId, Arc<Cell>, RandomState>,
    answers: DashMap<RequestId, watch::Sender<Option<Arc<Resolution>>>>,
    /// Rung when the next deadline changes.
    pub(super) wake: Arc<Notify>,
    /// Once this is false, nothing is held and nothing is carried out.
    open: AtomicBool,
    /// Makes fingerprints differ from engine to engine.
    seed: u64,
}

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) state: State,
    sequence: u64,
    /// None once the engine ended, so that subscribers hear that too.
    events: Option<broadcast::Sender<Recorded>>,
    ground: Arc<Ground>,
    due: Option<Timestamp>,
    generation: u64,
    carriers: HashMap<AgentId, Open>,
    approvers: HashMap<OwnerId, Vec<Open>>,
    /// To write on while publishing.
    scratch: Vec<u8>,
}

/// Surfaces that could not be shown something, and are therefore gone.
#[derive(Debug, Default)]
struct Stuck {
    carriers: Vec<(AgentId, u64)>,
    approvers: Vec<(OwnerId, u64)>,
}

/// The lock, held. If what happens under it does not come to its end, the engine says no for ever.
struct Locked<'s> {
    shared: &'s Shared,
    writer: MutexGuard<'s, Writer>,
    came_to_its_end: bool,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if !self.came_to_its_end {
            self.shared.end(&mut self.writer);
        }
    }
}

impl Shared {
    pub(super) fn new(settings: Settings, clock: Arc<dyn Clock>, paths: Arc<dyn Paths>, seed: u64) -> Shared {
        let ground = Arc::new(Ground::new(settings.reads, &settings.protected, seed));
        let writer = Writer {
            state: State::new(settings),
            sequence: 0,
            events: Some(broadcast::Sender::new(CAPACITY)),
            ground,
            due: None,
            generation: 0,
            carriers: HashMap::new(),
            approvers: HashMap::new(),
            scratch: Vec::new(),
        };
        Shared {
            clock,
            paths,
            writer: Mutex::new(writer),
            cells: DashMap::default(),
            answers: DashMap::new(),
            wake: Arc::default(),
            open: AtomicBool::new(true),
            seed,
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Takes back every question, then says no to everything, in one step: nothing comes in between.
    pub(super) fn shut_down(&self) {
        let shut_down = |shared: &Shared, writer: &mut Writer, now, stuck: &mut Stuck| {
            let done = shared.carry_out(writer, Command::Shutdown, now, stuck);
            shared.end(writer);
            done
        };
        if self.under_lock(None, shut_down).is_err() {
            // The time cannot be told, or it ended before; who waits must hear it all the same.
            self.end(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Says no to everything from now on, and lets go of everybody who waits.
    fn end(&self, writer: &mut Writer) {
        self.open.store(false, Ordering::Release);
        self.answers.clear();
        writer.events = None;
        writer.carriers.clear();
        writer.approvers.clear();
        self.wake.notify_one();
    }

    /// Carries out a command of the host program or of a person.
    pub(super) fn execute(&self, command: Command) -> Result<Vec<Event>, Error> {
        self.under_lock(None, |shared, writer, now, stuck| shared.carry_out(writer, command, now, stuck))
    }

    /// Carries out a command of an agent, if `cell` still is that agent's: another one may have taken its id.
    pub(super) fn execute_as(&self, agent: &AgentId, cell: &Arc<Cell>, command: Command) -> Result<Vec<Event>, Error> {
        self.under_lock(Some((agent, cell)), |shared, writer, now, stuck| shared.carry_out(writer, command, now, stuck))
    }

    /// Looks at the state, for things that a snapshot does not tell.
    pub(super) fn look<T>(&self, look: impl FnOnce(&State, Timestamp) -> T) -> Result<T, Error> {
        let now = self.clock.now()?;
        Ok(look(&self.lock()?.state, now))
    }

    /// The same on behalf of an agent, if `cell` still is that agent's.
    pub(super) fn look_as<T>(
        &self,
        agent: &AgentId,
        cell: &Arc<Cell>,
        look: impl FnOnce(&State, &Known, Timestamp) -> T,
    ) -> Result<T, Error> {
        let now = self.clock.now()?;
        let writer = self.lock()?;
        self.refuse_stranger(agent, cell)?;
        Ok(look(&writer.state, writer.state.agent(agent)?, now))
    }

    fn refuse_stranger(&self, agent: &AgentId, cell: &Arc<Cell>) -> Result<(), Refusal> {
        let same = self.cell(agent).is_some_and(|there| Arc::ptr_eq(&there, cell));
        if same { Ok(()) } else { Err(Refusal::UnknownAgent(agent.clone())) }
    }

    /// The only place that takes the lock, but for ending.
    fn lock(&self) -> Result<MutexGuard<'_, Writer>, Error> {
        let writer = self.writer.lock().map_err(|_| Error::Closed)?;
        // Asked under the lock, so that nothing is carried out after the end.
        if self.is_open() { Ok(writer) } else { Err(Error::Closed) }
    }

    fn under_lock<T>(
        &self,
        caller: Option<(&AgentId, &Arc<Cell>)>,
        work: impl FnOnce(&Shared, &mut Writer, Timestamp, &mut Stuck) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut stuck = Stuck::default();
        let mut locked = Locked { shared: self, writer: self.lock()?, came_to_its_end: false };
        let result = self.at_this_moment(caller, &mut locked.writer, &mut stuck, work);
        locked.came_to_its_end = true;
        drop(locked);
        stuck.carriers.iter().for_each(|(agent, generation)| self.disconnect(agent, *generation));
        stuck.approvers.iter().for_each(|(owner, generation)| self.stop_attending(owner, *generation));
        result
    }

    fn at_this_moment<T>(
        &self,
        caller: Option<(&AgentId, &Arc<Cell>)>,
        writer: &mut Writer,
        stuck: &mut Stuck,
        work: impl FnOnce(&Shared, &mut Writer, Timestamp, &mut Stuck) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Read under the lock, so that no event is older than the one before it.
        let now = self.clock.now()?;
        // What is over by now is over before anything is decided, whether or not the timer came to it.
        if writer.due.is_some_and(|due| due <= now) {
            self.carry_out(writer, Command::Tick, now, stuck)?;
        }
        caller.map_or(Ok(()), |(agent, cell)| self.refuse_stranger(agent, cell))?;
        work(self, writer, now, stuck)
    }

    /// Decides, changes the state, publishes, tells: in this order, so that whoever is told finds it in force.
    fn carry_out(
        &self,
        writer: &mut Writer,
        command: Command,
        now: Timestamp,
        stuck: &mut Stuck,
    ) -> Result<Vec<Event>, Error> {
        let (by, attempt) = command.attempt();
        let by = by.cloned();
        match writer.state.execute(command, now) {
            Ok(events) => {
                self.publish(writer, &events);
                self.tell(writer, &events, now, stuck);
                self.set_alarm(writer);
                Ok(events)
            }
            Err(refusal) => {
                let why = refusal.to_string().into();
                self.tell(writer, &[Event::Refused { by, attempt: attempt.into(), why }], now, stuck);
                Err(Error::Refused(refusal))
            }
        }
    }

    fn publish(&self, writer: &mut Writer, events: &[Event]) {
        if let [Event::GrantIssued { grant }] = events
            && self.cell(&grant.to).is_some_and(|cell| cell.publish_more(grant, &mut writer.scratch))
        {
            return;
        }
        if events.iter().any(|event| matches!(event, Event::SettingsChanged { .. })) {
            let settings = &writer.state.settings;
            writer.ground = Arc::new(Ground::new(settings.reads, &settings.protected, self.seed));
            let all: Vec<_> = self.cells.iter().map(|entry| entry.key().clone()).collect();
            all.iter().for_each(|agent| self.publish_agent(writer, agent));
        }
        // First who is gone: an agent that takes the id in the same step gets a cell of its own.
        for agent in events.iter().filter_map(retired) {
            if let Some((_, cell)) = self.cells.remove(agent) {
                // Not even what everybody has.
                cell.publish(compile(&[], &Arc::new(Ground::new(Reads::Granted, &[], self.seed))));
            }
        }
        for agent in touched(events) {
            self.publish_agent(writer, agent);
        }
    }

    fn publish_agent(&self, writer: &Writer, agent: &AgentId) {
        let Some(held) = writer.state.agents.get(agent).map(|agent| compile(&agent.held, &writer.ground)) else {
            return;
        };
        match self.cell(agent) {
            Some(cell) => cell.publish(held),
            None => {
                self.cells.insert(agent.clone(), Arc::new(Cell::new(held)));
            }
        }
    }

    /// Sent from under the lock, so that everybody hears events in their order; no send here can wait.
    fn tell(&self, writer: &mut Writer, events: &[Event], now: Timestamp, stuck: &mut Stuck) {
        let went: HashMap<_, _> =
            events.iter().enumerate().filter_map(|(place, event)| Some((retired(event)?, place))).collect();
        for (place, event) in events.iter().enumerate() {
            for (agent, mail) in mail::addressed(event, events) {
                // What concerned one that went is no news for the next one of that name.
                let is_for_another = went.get(&agent).is_some_and(|went| place <= *went);
                if let Some(cell) = self.cell(&agent).filter(|_| !is_for_another) {
                    cell.mail().post(mail);
                }
            }
            if let Event::Requested { request } = event {
                self.answers.insert(request.id, watch::Sender::new(None));
            }
            if let Event::Resolved { resolution, .. } = event
                && let Some((_, answer)) = self.answers.remove(&resolution.request)
            {
                answer.send_replace(Some(Arc::clone(resolution)));
            }
            writer.show(event, events, stuck);
            writer.sequence += 1;
            if let Some(subscribers) = &writer.events {
                // No subscriber is no problem.
                let _ = subscribers.send(Recorded { sequence: writer.sequence, at: now, event: event.clone() });
            }
        }
    }

    fn set_alarm(&self, writer: &mut Writer) {
        let due = writer.state.next_due();
        if due != writer.due {
            writer.due = due;
            self.wake.notify_one();
        }
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        self.lock().ok().and_then(|writer| writer.due)
    }

    pub(super) fn cell(&self, agent: &AgentId) -> Option<Arc<Cell>> {
        // The guard goes with this line: a search under it would make writers of the shard wait.
        self.cells.get(agent).map(|cell| Arc::clone(cell.value()))
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Recorded> {
        let open = self.lock().ok().and_then(|writer| writer.events.as_ref().map(broadcast::Sender::subscribe));
        // Without a sender: it ended.
        open.unwrap_or_else(|| broadcast::channel(1).1)
    }

    /// The ticket of a request that waits or is remembered, for the agent that `cell` still is.
    pub(super) fn ticket(&self, agent: &AgentId, cell: &Arc<Cell>, id: RequestId) -> Result<Option<Ticket>, Error> {
        let writer = self.lock()?;
        self.refuse_stranger(agent, cell)?;
        if let Some(waiting) = writer.state.pending.get(&id) {
            let answer = self.answers.entry(id).or_insert_with(|| watch::Sender::new(None));
            let state = Waiting::Open { request: Arc::clone(&waiting.request), resolution: answer.subscribe() };
            return Ok(Some(Ticket { id, state }));
        }
        let over = writer.state.resolved.get(&id);
        Ok(over.map(|resolution| Ticket { id, state: Waiting::Over(Arc::clone(resolution)) }))
    }

    /// Binds a permission to what its path really names.
    pub(super) fn pin(&self, permission: &Permission) -> Result<Right, Error> {
        match permission {
            Permission::Events | Permission::Network => Ok(Right::from(permission.clone())),
            Permission::Path(access, path) => {
                let real = self.paths.real_of(path)?;
                Ok(Right { permission: Permission::Path(*access, real.path), identity: real.identity })
            }
        }
    }

    pub(super) fn pin_all<'p>(
        &self,
        permissions: impl IntoIterator<Item = &'p Permission>,
    ) -> Result<Vec<Right>, Error> {
        let mut rights = Vec::new();
        for permission in permissions {
            let right = self.pin(permission)?;
            // Two names may lead to one thing.
            if !rights.contains(&right) {
                rights.push(right);
            }
        }
        Ok(rights)
    }

    /// Those of `agent`'s grants for `permissions` whose path leads to something else by now.
    ///
    /// Asked before the lock is taken, since the disk may be slow. The permissions are pinned, so there is no link on the
    /// way to any of their paths, nor to the roots above them; what is left to compare is the object.
    pub(super) fn broken<'p>(
        &self,
        agent: &AgentId,
        permissions: impl Iterator<Item = &'p Permission> + Clone,
    ) -> Result<Broken, Error> {
        if permissions.clone().all(|permission| permission.path().is_none()) {
            return Ok(Broken::new());
        }
        let candidates = self.look(|state, _| {
            let held = state.agents.get(agent).map(|agent| agent.held.iter());
            let pinned = held.into_iter().flatten().filter(|grant| grant.right.identity.is_some());
            let covers = |grant: &&Arc<Grant>| permissions.clone().any(|wanted| grant.right.permission.covers(wanted));
            pinned.filter(covers).cloned().collect::<Vec<_>>()
        })?;
        Ok(candidates.iter().filter(|grant| !self.still_leads_there(&grant.right)).map(|grant| grant.id).collect())
    }

    /// Whether the path of a right still names the object that it named when the right was given.
    pub(super) fn still_leads_there(&self, right: &Right) -> bool {
        let (Some(path), Some(identity)) = (right.permission.path(), right.identity) else { return true };
        let real = self.paths.real_of(path);
        real.is_ok_and(|real| real.path == *path && real.identity == Some(identity))
    }

    /// Opens a way to the user of a foreground agent; an earlier one for the same agent closes.
    pub(super) fn connect(&self, agent: &AgentId) -> Result<(u64, mpsc::Receiver<ToPerson>), Error> {
        self.under_lock(None, |shared, writer, now, stuck| {
            // Whoever was there before hears nothing of what follows.
            let before = writer.carriers.remove(agent);
            if let Err(why) = shared.carry_out(writer, Command::Connected { agent: agent.clone() }, now, stuck) {
                writer.carriers.extend(before.map(|open| (agent.clone(), open)));
                return Err(why);
            }
            let here = |route: &Route| matches!(route, Route::Carrier(carrier) if carrier == agent);
            let (open, receiver) = writer.open_surface(|waiting| here(&waiting.route));
            let generation = open.generation;
            writer.carriers.insert(agent.clone(), open);
            Ok((generation, receiver))
        })
    }

    /// Shows words to an agent's own user. Nobody hears them if nobody is there, or is far behind: talk must not cost
    /// a user the questions that wait.
    pub(super) fn say(&self, agent: &AgentId, cell: &Arc<Cell>, text: &str) -> Result<Heard, Error> {
        self.under_lock(Some((agent, cell)), |_, writer, _, _| {
            let open = writer.carriers.get(agent).filter(|open| open.sender.capacity() > surface::CAPACITY / 2);
            let said = || ToPerson::Said { from: agent.clone(), text: text.into() };
            Ok(if open.is_some_and(|open| show(open, said()).is_ok()) { Heard::Shown } else { Heard::ByNobody })
        })
    }

    pub(super) fn disconnect(&self, agent: &AgentId, generation: u64) {
        // Fails only if the engine is closed; then nobody is connected anyway.
        let _ = self.under_lock(None, |shared, writer, now, stuck| {
            if writer.carriers.get(agent).is_some_and(|open| open.generation == generation) {
                writer.carriers.remove(agent);
                shared.carry_out(writer, Command::Disconnected { agent: agent.clone() }, now, stuck)?;
            }
            Ok(())
        });
    }

    /// Opens a surface that shows everything that waits for an owner's approval.
    pub(super) fn attend(&self, owner: &OwnerId) -> Result<(u64, mpsc::Receiver<ToPerson>), Error> {
        self.under_lock(None, |shared, writer, now, stuck| {
            shared.carry_out(writer, Command::ApproverArrived { owner: owner.clone() }, now, stuck)?;
            let (open, receiver) = writer.open_surface(|waiting| waiting.request.owner == *owner);
            let generation = open.generation;
            writer.approvers.entry(owner.clone()).or_default().push(open);
            Ok((generation, receiver))
        })
    }

    pub(super) fn stop_attending(&self, owner: &OwnerId, generation: u64) {
        let _ = self.under_lock(None, |shared, writer, now, stuck| {
            let Some(open) = writer.approvers.get_mut(owner) else { return Ok(()) };
            let before = open.len();
            open.retain(|open| open.generation != generation);
            if open.len() < before {
                shared.carry_out(writer, Command::ApproverLeft { owner: owner.clone() }, now, stuck)?;
            }
            Ok(())
        });
    }
}

impl Writer {
    /// A new surface, with everything on it that should be there already.
    fn open_surface(&mut self, belongs: impl Fn(&crate::kernel::Waiting) -> bool) -> (Open, mpsc::Receiver<ToPerson>) {
        self.generation += 1;
        let waiting = self.state.pending.values().filter(|waiting| belongs(waiting));
        let asks: Vec<_> = waiting.map(|waiting| ToPerson::Ask(Arc::clone(&waiting.request))).collect();
        let (sender, receiver) = mpsc::channel(asks.len() + surface::CAPACITY);
        let open = Open { generation: self.generation, sender };
        for ask in asks {
            // There is room: the channel was made for them.
            let _ = show(&open, ask);
        }
        (open, receiver)
    }

    /// Shows an event to the people it concerns. `events` is the batch it happened in.
    fn show(&mut self, event: &Event, events: &[Event], stuck: &mut Stuck) {
        if let Event::CarrierDisconnected { agent } = event {
            self.carriers.remove(agent);
        }
        if let Event::Requested { request } = event
            && !request.asked.is_empty()
        {
            self.show_approvers(&request.owner, &ToPerson::Ask(Arc::clone(request)), stuck);
        }
        if let Event::Routed { request, route: Route::Carrier(carrier) } = event {
            self.show_carrier(carrier, ToPerson::Ask(Arc::clone(request)), stuck);
        }
        if let Event::Resolved { resolution, carrier } = event
            && !events.iter().any(|event| never_asked(event, resolution.request))
        {
            let settled = ToPerson::Settled(Arc::clone(resolution));
            if let Some(carrier) = carrier {
                self.show_carrier(carrier, settled.clone(), stuck);
            }
            self.show_approvers(&resolution.owner, &settled, stuck);
        }
    }

    fn show_carrier(&self, carrier: &AgentId, what: ToPerson, stuck: &mut Stuck) {
        if let Some(open) = self.carriers.get(carrier)
            && show(open, what).is_err()
        {
            stuck.carriers.push((carrier.clone(), open.generation));
        }
    }

    fn show_approvers(&self, owner: &OwnerId, what: &ToPerson, stuck: &mut Stuck) {
        for open in self.approvers.get(owner).into_iter().flatten() {
            if show(open, what.clone()).is_err() {
                stuck.approvers.push((owner.clone(), open.generation));
            }
        }
    }
}

/// The agents whose rights may read differently after `events`.
fn touched(events: &[Event]) -> BTreeSet<&AgentId> {
    let touched = events.iter().filter_map(|event| {
        if let Event::AgentRegistered { profile, .. } = event {
            return Some(&profile.id);
        }
        event.grant().map(|grant| &grant.to)
    });
    touched.collect()
}

/// Whether this is a request that no person was shown, since nothing was missing.
fn never_asked(event: &Event, id: RequestId) -> bool {
    matches!(event, Event::Requested { request } if request.id == id && request.asked.is_empty())
}

fn retired(event: &Event) -> Option<&AgentId> {
    if let Event::AgentRetired { agent } = event { Some(agent) } else { None }
}

/// The grants that a command issued, or found issued.
pub(super) fn granted(events: &[Event]) -> Vec<GrantId> {
    events.iter().filter_map(Event::granted).collect()
}
