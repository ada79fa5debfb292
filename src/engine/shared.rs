//! The state that all handles share: the one lock, and everything that is published under it.

use std::{
    borrow::Borrow,
    collections::{BTreeSet, HashMap},
    hash::Hash,
    num::NonZero,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use arc_swap::ArcSwap;
use dashmap::DashMap;
use foldhash::fast::RandomState;
use tokio::sync::{Notify, Semaphore, watch};

use crate::{
    command::Classifier,
    kernel::{Command, Credentials, Known, Meter, Refusal, SharedLimits, State},
    model::{AgentId, Event, GrantId, OwnerId, RequestId, Resolution, RuntimeId, SanitizedPath, Timestamp, Tools},
    ports::{Clock, Paths},
};

#[cfg(feature = "stdio")]
use super::agent_events::AgentEvents;
#[cfg(feature = "config")]
use super::policy_texts::PolicyTexts;
use super::{
    Error, Subscription, Ticket,
    agent_slot::AgentSlot,
    command_source::CommandSource,
    commit_handle::CommitHandle,
    commit_queue::CommitQueue,
    events::{Bell, Events},
    fresh::{RequestIds, fresh_runtime},
    lines::Reader,
    outside::Outside,
    registered_hook::RegisteredHook,
    surface::Open,
    ticket::Waiting,
};

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) paths: Arc<dyn Paths>,
    /// The hooks of the host program. The list is replaced as a whole.
    pub(super) hooks: ArcSwap<Vec<RegisteredHook>>,
    /// The id of this engine, for subscribers of several engines.
    pub(super) runtime: RuntimeId,
    /// The credentials of the clients of a server, for readers without a lock.
    pub(super) credentials: ArcSwap<Credentials>,
    /// Classifies commands into tiers, by the settings in force.
    pub(super) classifier: ArcSwap<Reader>,
    /// The tools that the host program declared, besides those of the settings.
    pub(super) host_tools: ArcSwap<Tools>,
    /// The turns of agents that search directories.
    pub(super) searches: Arc<Semaphore>,
    /// The only lock. Only short, pure, non-async calls run under it.
    pub(super) writer: Mutex<Writer>,
    /// The published permissions of each agent. The map is locked only to find a cell, not while permissions are
    /// searched.
    pub(super) cells: DashMap<AgentId, Arc<AgentSlot>, RandomState>,
    /// The senders of resolutions to the tickets of waiting requests.
    pub(super) answers: DashMap<RequestId, watch::Sender<Option<Arc<Resolution>>>, RandomState>,
    /// Notified when the next deadline changes.
    pub(super) wake: Arc<Notify>,
    /// Wakes the subscribers.
    pub(super) bell: Arc<Bell>,
    /// The work outside the engine that ends when its permissions end.
    pub(super) outside: OnceLock<Arc<dyn Outside>>,
    /// Once this is false, every check fails and no command is executed.
    pub(super) open: AtomicBool,
    pub(super) request_ids: RequestIds,
    /// The directories in which programs are found, in order.
    pub(super) program_directories: Vec<SanitizedPath>,
    /// The directories around these. A Python environment is one of them.
    pub(super) around_programs: Vec<SanitizedPath>,
    /// The variables of the environment whose values lead to code that programs load.
    pub(super) program_variables: Vec<(String, String)>,
    /// The random seed that makes fingerprints differ between engines.
    pub(super) seed: u64,
    /// The texts of the policy file that the engine follows.
    #[cfg(feature = "config")]
    pub(super) policy_texts: Mutex<PolicyTexts>,
    /// The host program's processes that a person uses: the process number and its start time.
    #[cfg(feature = "journal")]
    pub(super) surfaces: Arc<Mutex<Vec<(u32, u64)>>>,
}

#[derive(Debug)]
pub(super) struct Writer {
    /// The published state, the state ahead of it, and the steps between them.
    pub(super) queue: CommitQueue,
    /// The number of the last event published.
    pub(super) sequence: u64,
    /// The sender to subscribers.
    pub(super) events: Events,
    /// The recent events that each family of agents caused.
    pub(super) meter: Meter,
    pub(super) ground: Arc<SharedLimits>,
    /// The next deadline.
    pub(super) due: Option<Timestamp>,
    /// The deadline that the background task waits for. It may lie before the next one, but never after it.
    pub(super) alarm: Option<Timestamp>,
    pub(super) generation: u64,
    pub(super) carriers: HashMap<AgentId, Open>,
    pub(super) approvers: HashMap<OwnerId, Vec<Open>>,
    /// A buffer for publishing.
    pub(super) scratch: Vec<u8>,
}

/// Surfaces that could not be shown a prompt, and are therefore closed.
#[derive(Debug, Default)]
pub(super) struct StalledChannels {
    pub(super) carriers: Vec<(AgentId, u64)>,
    pub(super) approvers: Vec<(OwnerId, u64)>,
}

/// The held lock. If the work under it does not finish, for example by a panic, the engine ends and denies everything.
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
        queue: CommitQueue,
        classifier: Classifier,
        clock: Arc<dyn Clock>,
        paths: Arc<dyn Paths>,
        seed: u64,
    ) -> Shared {
        let state = queue.published();
        let program_directories = paths.program_directories();
        let around =
            program_directories.iter().filter_map(|directory| directory.as_path().parent()?.to_str()?.parse().ok());
        let around_programs = around.collect::<BTreeSet<_>>().into_iter().collect();
        let program_variables = paths.program_variables();
        let ground = Arc::new(SharedLimits::new(state.settings.reads, &state.protected, seed));
        let bell = Arc::<Bell>::default();
        let writer = Writer {
            sequence: queue.sequence(),
            queue,
            events: Events::new(Arc::clone(&bell)),
            meter: Meter::default(),
            ground,
            due: None,
            alarm: None,
            generation: 0,
            carriers: HashMap::new(),
            approvers: HashMap::new(),
            scratch: Vec::new(),
        };
        Shared {
            clock,
            program_directories,
            around_programs,
            program_variables,
            paths,
            hooks: ArcSwap::default(),
            credentials: ArcSwap::default(),
            runtime: fresh_runtime(),
            classifier: ArcSwap::from_pointee(Reader::new(classifier)),
            host_tools: ArcSwap::default(),
            writer: Mutex::new(writer),
            cells: DashMap::default(),
            answers: DashMap::default(),
            wake: Arc::default(),
            bell,
            outside: OnceLock::new(),
            searches: search_limit(),
            open: AtomicBool::new(true),
            request_ids: RequestIds::default(),
            seed,
            #[cfg(feature = "config")]
            policy_texts: Mutex::default(),
            #[cfg(feature = "journal")]
            surfaces: Arc::default(),
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Cancels every request and then closes the engine, in one step without other commands in between. Stored requests
    /// stay open for the next engine.
    pub(super) fn shut_down(&self) {
        let shut_down = |shared: &Shared, writer: &mut Writer, now, stuck: &mut StalledChannels| {
            let done = if writer.queue.store().is_some() {
                Ok(())
            } else {
                shared.tell_numbers(writer, now, stuck);
                shared.carry_out(writer, Command::Shutdown, now, stuck).at_once().map(drop)
            };
            shared.end(writer);
            done
        };
        if self.under_lock(None, shut_down).is_err() {
            // The clock cannot be read, or the engine ended before. Waiting callers must be released anyway.
            self.end(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Closes the engine and releases all waiting callers.
    fn end(&self, writer: &mut Writer) {
        self.open.store(false, Ordering::Release);
        self.outside.get().into_iter().for_each(|outside| outside.end());
        self.answers.clear();
        self.cells.iter().for_each(|cell| cell.close_mail());
        writer.events.close();
        writer.queue.close();
        writer.carriers.clear();
        writer.approvers.clear();
        self.wake.notify_one();
    }

    /// Executes a command of the engine itself.
    pub(super) fn execute_own(&self, command: Command) -> CommitHandle {
        self.execute_from(command, CommandSource::default())
    }

    /// Executes a command of this sender.
    pub(super) fn execute_from(&self, command: Command, source: CommandSource<'_>) -> CommitHandle {
        CommitHandle::of(self.under_lock(None, |shared, writer, now, stuck| {
            Ok(shared.carry_out_from(writer, command, source, now, stuck))
        }))
    }

    /// Executes a command of an agent, if `cell` still belongs to that agent: another agent may have taken its id.
    pub(super) fn execute_as(
        &self,
        agent: &AgentId,
        cell: &Arc<AgentSlot>,
        source: CommandSource<'_>,
        command: Command,
    ) -> CommitHandle {
        CommitHandle::of(self.under_lock(Some((agent, cell)), |shared, writer, now, stuck| {
            Ok(shared.carry_out_from(writer, command, source, now, stuck))
        }))
    }

    /// Reads the published state, for facts that a snapshot does not contain.
    pub(super) fn look<T>(&self, look: impl FnOnce(&State, Timestamp) -> T) -> Result<T, Error> {
        let now = self.clock.now()?;
        Ok(look(self.lock()?.queue.published(), now))
    }

    /// Reads the state on behalf of an agent, if `cell` still belongs to that agent.
    pub(super) fn look_as<T>(
        &self,
        agent: &AgentId,
        cell: &Arc<AgentSlot>,
        look: impl FnOnce(&State, &Known, Timestamp) -> T,
    ) -> Result<T, Error> {
        let now = self.clock.now()?;
        let writer = self.lock()?;
        self.refuse_stranger(agent, cell)?;
        let state = writer.queue.published();
        Ok(look(state, state.agent(agent)?, now))
    }

    pub(super) fn refuse_stranger(&self, agent: &AgentId, cell: &Arc<AgentSlot>) -> Result<(), Refusal> {
        let same = self.cell(agent).is_some_and(|there| Arc::ptr_eq(&there, cell));
        if same { Ok(()) } else { Err(Refusal::Gone(agent.clone())) }
    }

    /// Takes the lock. This is the only place that does so, except for ending the engine.
    pub(super) fn lock(&self) -> Result<MutexGuard<'_, Writer>, Error> {
        let writer = self.writer.lock().map_err(|_| Error::Closed)?;
        // The flag is read under the lock, so that no command is executed after the end.
        if self.is_open() { Ok(writer) } else { Err(Error::Closed) }
    }

    pub(super) fn under_lock<T>(
        &self,
        caller: Option<(&AgentId, &Arc<AgentSlot>)>,
        work: impl FnOnce(&Shared, &mut Writer, Timestamp, &mut StalledChannels) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.locked(|shared, writer, stuck| shared.at_this_moment(caller, writer, stuck, work))?
    }

    /// Works under the lock without reading the clock, for steps that were decided before.
    pub(super) fn locked<T>(
        &self,
        work: impl FnOnce(&Shared, &mut Writer, &mut StalledChannels) -> T,
    ) -> Result<T, Error> {
        let mut stuck = StalledChannels::default();
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
        caller: Option<(&AgentId, &Arc<AgentSlot>)>,
        writer: &mut Writer,
        stuck: &mut StalledChannels,
        work: impl FnOnce(&Shared, &mut Writer, Timestamp, &mut StalledChannels) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // The clock is read under the lock, so that no event is older than the one before it.
        let now = self.clock.now()?;
        // Deadlines that have passed take effect before the next decision, even if the timer has not handled them yet.
        if writer.due.is_some_and(|due| due <= now) {
            writer.queue.resume_at(now);
            self.carry_out(writer, Command::Tick, now, stuck);
        }
        caller.map_or(Ok(()), |(agent, cell)| self.refuse_stranger(agent, cell))?;
        work(self, writer, now, stuck)
    }

    /// Reports the events that were only counted until now, since no later event will report them.
    pub(super) fn tell_numbers(
        &self,
        writer: &mut Writer,
        now: Timestamp,
        stuck: &mut StalledChannels,
    ) -> CommitHandle {
        writer.meter.tell_all(now);
        self.carry_out(writer, Command::Tick, now, stuck)
    }

    pub(super) fn set_alarm(&self, writer: &mut Writer) {
        let decided = writer.queue.decided().next_due();
        let due = decided.into_iter().chain(writer.meter.next_due()).chain(writer.queue.retry_at()).min();
        writer.due = due;
        // The task is woken for a sooner deadline only. A later one is found when the current one is reached.
        if due.is_some_and(|due| writer.alarm.is_none_or(|alarm| due < alarm)) {
            writer.alarm = due;
            self.wake.notify_one();
        }
    }

    /// Returns the deadline that the background task has to wait for.
    pub(super) fn next_alarm(&self) -> Option<Timestamp> {
        let mut writer = self.lock().ok()?;
        writer.alarm = writer.due;
        writer.alarm
    }

    pub(super) fn cell<Q>(&self, agent: &Q) -> Option<Arc<AgentSlot>>
    where
        AgentId: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        // The map guard is dropped on this line: a search under it would block writers of the shard.
        self.cells.get(agent).map(|cell| Arc::clone(cell.value()))
    }

    pub(super) fn subscribe(&self) -> Subscription {
        self.lock().map_or_else(|_| Subscription::over(), |mut writer| writer.events.subscribe())
    }

    /// Subscribes to the events of an agent, if `cell` still belongs to it.
    #[cfg(feature = "stdio")]
    pub(super) fn listen_to(&self, agent: &AgentId, cell: &Arc<AgentSlot>) -> AgentEvents {
        let Ok(mut writer) = self.lock() else { return AgentEvents::over() };
        let is_known = self.refuse_stranger(agent, cell).is_ok();
        if is_known { writer.events.listen_to(agent) } else { AgentEvents::over() }
    }

    /// Returns a request id that was never used before.
    pub(super) fn fresh_request(&self) -> RequestId {
        // If the clock cannot be read, the request itself is refused.
        self.request_ids.next(self.clock.now().unwrap_or(Timestamp::from_millis(0)))
    }

    pub(super) fn last_sequence(&self) -> Result<u64, Error> {
        self.lock().map(|writer| writer.sequence)
    }

    /// Returns the ticket of a waiting or remembered request, if `cell` still belongs to the agent.
    pub(super) fn ticket(
        &self,
        agent: &AgentId,
        cell: &Arc<AgentSlot>,
        id: RequestId,
    ) -> Result<Option<Ticket>, Error> {
        let writer = self.lock()?;
        self.refuse_stranger(agent, cell)?;
        let state = writer.queue.published();
        let owner = &state.agent(agent)?.profile.owner;
        if let Some(waiting) = state.pending.get(&id) {
            let answer = self.answers.entry(id).or_insert_with(|| watch::Sender::new(None));
            let (request, is_stored) = (Arc::clone(&waiting.request), writer.queue.store().is_some());
            let waiting = Waiting::Open { request, resolution: answer.subscribe(), is_stored };
            return Ok(Some(Ticket { id, state: waiting }));
        }
        // An earlier agent with this name may have belonged to another owner.
        let over = state.resolved.get(&id).filter(|resolution| resolution.owner == *owner);
        Ok(over.map(|resolution| Ticket { id, state: Waiting::Over(Arc::clone(resolution)) }))
    }
}

/// Returns the grants that a command issued, or that existed already.
pub(super) fn granted(events: &[Event]) -> Vec<GrantId> {
    events.iter().filter_map(Event::granted).collect()
}

/// Returns the limit of searches at one time: some processors stay free.
fn search_limit() -> Arc<Semaphore> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    Arc::new(Semaphore::new((processors / 2).max(1)))
}
