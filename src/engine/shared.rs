//! What all handles share: the one lock, and everything that is published from under it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use dashmap::DashMap;
use foldhash::fast::RandomState;
use tokio::sync::{Notify, broadcast, watch};

use crate::{
    command::Classifier,
    kernel::{Carried, Command, Ground, Known, Meter, Refusal, State},
    model::{AgentId, Event, GrantId, OwnerId, Recorded, RequestId, Resolution, RuntimeId, Timestamp, Tools},
    seam::{Clock, Paths},
};

use super::{
    Error, Ticket,
    cell::Cell,
    hooks::Registered,
    keep::{Done, Keeping},
    lines::Reader,
    outside::Outside,
    subscription::CAPACITY,
    surface::Open,
    ticket::Waiting,
};

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) paths: Arc<dyn Paths>,
    /// What the host program has to say about actions. Changed as a whole.
    pub(super) hooks: ArcSwap<Vec<Registered>>,
    /// Which engine this is, for those who hear from several.
    pub(super) runtime: RuntimeId,
    /// Sorts commands into tiers, as the settings in force say.
    pub(super) classifier: ArcSwap<Reader>,
    /// The tools that the host program declared, besides those of the settings.
    pub(super) host_tools: ArcSwap<Tools>,
    /// The only lock. Only short, pure, non-async calls run under it.
    pub(super) writer: Mutex<Writer>,
    /// Where each agent's rights are published. The map is for finding a cell; nobody searches rights under its guard.
    pub(super) cells: DashMap<AgentId, Arc<Cell>, RandomState>,
    pub(super) answers: DashMap<RequestId, watch::Sender<Option<Arc<Resolution>>>>,
    /// Rung when the next deadline changes.
    pub(super) wake: Arc<Notify>,
    /// What goes on outside, and ends with what it rests on.
    pub(super) outside: OnceLock<Arc<dyn Outside>>,
    /// Once this is false, nothing is held and nothing is carried out.
    pub(super) open: AtomicBool,
    /// Makes fingerprints differ from engine to engine.
    pub(super) seed: u64,
    /// Processes of the host program at which a person sits: number, and when each began.
    #[cfg(feature = "journal")]
    pub(super) surfaces: Arc<Mutex<Vec<(u32, u64)>>>,
}

#[derive(Debug)]
pub(super) struct Writer {
    /// What everybody sees. If events are stored, what is decided may be ahead of it.
    pub(super) state: State,
    /// Where events are stored, if they are.
    pub(super) keeping: Option<Keeping>,
    pub(super) sequence: u64,
    /// None once the engine ended, so that subscribers hear that too.
    pub(super) events: Option<broadcast::Sender<Recorded>>,
    /// The facts that each family caused lately.
    pub(super) meter: Meter,
    pub(super) ground: Arc<Ground>,
    pub(super) due: Option<Timestamp>,
    pub(super) generation: u64,
    pub(super) carriers: HashMap<AgentId, Open>,
    pub(super) approvers: HashMap<OwnerId, Vec<Open>>,
    /// To write on while publishing.
    pub(super) scratch: Vec<u8>,
}

/// Surfaces that could not be shown something, and are therefore gone.
#[derive(Debug, Default)]
pub(super) struct Stuck {
    pub(super) carriers: Vec<(AgentId, u64)>,
    pub(super) approvers: Vec<(OwnerId, u64)>,
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
    pub(super) fn new(
        state: State,
        classifier: Classifier,
        clock: Arc<dyn Clock>,
        paths: Arc<dyn Paths>,
        seed: u64,
    ) -> Shared {
        let ground = Arc::new(Ground::new(state.settings.reads, &state.protected, seed));
        let writer = Writer {
            state,
            keeping: None,
            sequence: 0,
            events: Some(broadcast::Sender::new(CAPACITY)),
            meter: Meter::default(),
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
            hooks: ArcSwap::default(),
            runtime: super::fresh_runtime(),
            classifier: ArcSwap::from_pointee(Reader::new(classifier)),
            host_tools: ArcSwap::default(),
            writer: Mutex::new(writer),
            cells: DashMap::default(),
            answers: DashMap::new(),
            wake: Arc::default(),
            outside: OnceLock::new(),
            open: AtomicBool::new(true),
            seed,
            #[cfg(feature = "journal")]
            surfaces: Arc::default(),
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Takes back every question, then says no to everything, in one step: nothing comes in between. Questions that are
    /// stored stand: the next engine asks them.
    pub(super) fn shut_down(&self) {
        let shut_down = |shared: &Shared, writer: &mut Writer, now, stuck: &mut Stuck| {
            let kept = writer.keeping.is_some();
            let done = if kept {
                Ok(())
            } else {
                shared.tell_numbers(writer, now, stuck);
                shared.carry_out(writer, Command::Shutdown, now, stuck).at_once().map(drop)
            };
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
        self.outside.get().into_iter().for_each(|outside| outside.end());
        self.answers.clear();
        self.cells.iter().for_each(|cell| cell.close_mail());
        writer.events = None;
        writer.keeping = None;
        writer.carriers.clear();
        writer.approvers.clear();
        self.wake.notify_one();
    }

    /// Carries out a command of the host program or of a person.
    pub(super) fn execute(&self, command: Command) -> Done {
        Done::of(self.under_lock(None, |shared, writer, now, stuck| Ok(shared.carry_out(writer, command, now, stuck))))
    }

    /// Carries out a command of an agent, if `cell` still is that agent's: another one may have taken its id.
    pub(super) fn execute_as(&self, agent: &AgentId, cell: &Arc<Cell>, command: Command) -> Done {
        let caller = Some((agent, cell));
        Done::of(
            self.under_lock(caller, |shared, writer, now, stuck| Ok(shared.carry_out(writer, command, now, stuck))),
        )
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

    pub(super) fn refuse_stranger(&self, agent: &AgentId, cell: &Arc<Cell>) -> Result<(), Refusal> {
        let same = self.cell(agent).is_some_and(|there| Arc::ptr_eq(&there, cell));
        if same { Ok(()) } else { Err(Refusal::Gone(agent.clone())) }
    }

    /// The only place that takes the lock, but for ending.
    pub(super) fn lock(&self) -> Result<MutexGuard<'_, Writer>, Error> {
        let writer = self.writer.lock().map_err(|_| Error::Closed)?;
        // Asked under the lock, so that nothing is carried out after the end.
        if self.is_open() { Ok(writer) } else { Err(Error::Closed) }
    }

    pub(super) fn under_lock<T>(
        &self,
        caller: Option<(&AgentId, &Arc<Cell>)>,
        work: impl FnOnce(&Shared, &mut Writer, Timestamp, &mut Stuck) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.locked(|shared, writer, stuck| shared.at_this_moment(caller, writer, stuck, work))?
    }

    /// The same without looking at the clock, for what was decided before.
    pub(super) fn locked<T>(&self, work: impl FnOnce(&Shared, &mut Writer, &mut Stuck) -> T) -> Result<T, Error> {
        let mut stuck = Stuck::default();
        let mut locked = Locked { shared: self, writer: self.lock()?, came_to_its_end: false };
        let result = work(self, &mut locked.writer, &mut stuck);
        locked.came_to_its_end = true;
        drop(locked);
        stuck.carriers.iter().for_each(|(agent, generation)| self.disconnect(agent, *generation));
        stuck.approvers.iter().for_each(|(owner, generation)| self.stop_attending(owner, *generation));
        Ok(result)
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
            self.carry_out(writer, Command::Tick, now, stuck);
        }
        caller.map_or(Ok(()), |(agent, cell)| self.refuse_stranger(agent, cell))?;
        work(self, writer, now, stuck)
    }

    /// Decides, changes the state, publishes, tells: in this order, so that whoever is told finds it in force. If events
    /// are stored, that comes before what gives anybody anything is published, and before anything is told.
    pub(super) fn carry_out(&self, writer: &mut Writer, command: Command, now: Timestamp, stuck: &mut Stuck) -> Done {
        if writer.keeping.is_some() {
            return self.carry_out_and_keep(writer, command, now, stuck);
        }
        let Carried { recorded, answer } = writer.state.carry_out(command, &mut writer.meter, now);
        self.publish(writer, &recorded);
        self.tell(writer, &recorded, now, stuck);
        self.set_alarm(writer);
        match answer {
            Ok(events) => Done::carried_out(events.unwrap_or(recorded)),
            Err(refusal) => Done::refused(refusal),
        }
    }

    /// Tells what was only counted until now, since nothing comes after it.
    pub(super) fn tell_numbers(&self, writer: &mut Writer, now: Timestamp, stuck: &mut Stuck) -> Done {
        writer.meter.tell_all(now);
        self.carry_out(writer, Command::Tick, now, stuck)
    }

    pub(super) fn set_alarm(&self, writer: &mut Writer) {
        let due = writer.decided().next_due().into_iter().chain(writer.meter.next_due()).min();
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
        let owner = &writer.state.agent(agent)?.profile.owner;
        if let Some(waiting) = writer.state.pending.get(&id) {
            let answer = self.answers.entry(id).or_insert_with(|| watch::Sender::new(None));
            let (request, is_stored) = (Arc::clone(&waiting.request), writer.keeping.is_some());
            let state = Waiting::Open { request, resolution: answer.subscribe(), is_stored };
            return Ok(Some(Ticket { id, state }));
        }
        // One that had this name before may have belonged to somebody else.
        let over = writer.state.resolved.get(&id).filter(|resolution| resolution.owner == *owner);
        Ok(over.map(|resolution| Ticket { id, state: Waiting::Over(Arc::clone(resolution)) }))
    }
}

/// The grants that a command issued, or found issued.
pub(super) fn granted(events: &[Event]) -> Vec<GrantId> {
    events.iter().filter_map(Event::granted).collect()
}
