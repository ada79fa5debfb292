//! The queue between deciding and publishing: the two states, and the steps that are decided and not stored yet.
//!
//! Every command is decided on the state ahead. Its step stays in the queue until the store confirms it. Without a
//! store, every step counts as confirmed at once, so no step waits.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use tokio::sync::oneshot;

use crate::{
    kernel::{Carried, Command, Meter, State, only_takes},
    model::{AgentId, Event, Means, Settings, Timestamp},
    ports::{Batch, Store, StoreError, StoreFault, Taken},
};

use super::{Error, command_source::OpenWrite, states::States, surface::Surface};

/// The published state, the state ahead, and the steps between them, which the store has not confirmed.
#[derive(Debug)]
pub(super) struct CommitQueue {
    /// The store. Without one, the events live as long as the engine.
    store: Option<Arc<dyn Store>>,
    states: States,
    /// The number of the last event decided.
    sequence: u64,
    waiting: VecDeque<Step>,
    /// Agents that are retired in the decided state, but not stored as retired yet.
    leaving: Vec<AgentId>,
    failures: u64,
    health: Health,
    retry: Retry,
}

/// The time between two attempts to store what the store refused.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The most events that wait for another attempt. Beyond them, refusals are not recorded.
const MAX_WAITING_EVENTS: usize = 10_000;

/// The next attempt to store steps that the store has refused although they only take permissions away. They are in
/// force, and wait in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    /// Every step in the queue was passed to the store.
    None,
    /// The steps of a failure are being collected, and are not passed to the store yet.
    Collects(Timestamp),
    /// The steps in the queue are passed to the store at this time, or before the next step.
    At(Timestamp),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// A step was not stored, and none that gives permissions was stored since.
    Failing,
    /// The store accepts no more steps. Steps that take permissions away take effect without being stored.
    Broken(StoreError),
}

/// A command that is decided and applied to the state ahead.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) outcome: Result<Vec<Event>, Error>,
    pub(super) events: Vec<Event>,
    pub(super) part: Part,
    /// The command that takes the place of this one, if its step cannot be stored.
    pub(super) restriction: Option<Command>,
}

/// The part of a decision that a step contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// Only the part that takes permissions away, because the whole could not be stored. If this part cannot be stored
    /// either, it waits for another attempt.
    Restrictive,
}

/// One step that is not stored yet.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) batch: Arc<Batch>,
    part: Part,
    /// The commands to decide if the step cannot be stored.
    restrictions: Vec<Command>,
    pub(super) callers: Vec<Caller>,
    /// Surfaces that were opened by this step.
    pub(super) surfaces: Vec<Surface>,
}

/// A caller that waits until a step is stored.
#[derive(Debug)]
pub(super) struct Caller {
    tell: oneshot::Sender<Result<(), StoreError>>,
    /// The failure of the caller's own step, if the caller now waits for the part of it that takes permissions away.
    failed: Option<StoreError>,
}

impl Caller {
    /// Reports the end of the step. A caller that stopped waiting needs no result.
    pub(super) fn told(self, stored: Result<(), StoreError>) {
        drop(self.tell.send(self.failed.map_or(stored, Err)));
    }
}

/// The contents of steps that could not be stored, as far as they still matter.
#[derive(Debug)]
pub(super) struct RolledBack {
    /// The time of the last of these steps.
    pub(super) at: Timestamp,
    /// The events that take stored permissions away. They are applied to the state ahead.
    pub(super) takes: Vec<Event>,
    pub(super) restrictions: Vec<Command>,
    pub(super) changed_settings: bool,
    pub(super) callers: Vec<Caller>,
    pub(super) surfaces: Vec<Surface>,
}

impl CommitQueue {
    /// Creates the queue of an engine without a store.
    pub(super) fn in_memory(state: State) -> CommitQueue {
        CommitQueue::new(None, States::one(state), 0)
    }

    /// Creates the queue of an engine whose store contains `state`, with `sequence` events.
    pub(super) fn stored_in(store: Arc<dyn Store>, state: State, sequence: u64) -> CommitQueue {
        CommitQueue::new(Some(store), States::two(state), sequence)
    }

    fn new(store: Option<Arc<dyn Store>>, states: States, sequence: u64) -> CommitQueue {
        let (waiting, leaving, health) = (VecDeque::new(), Vec::new(), Health::Good);
        CommitQueue { store, states, sequence, waiting, leaving, failures: 0, health, retry: Retry::None }
    }

    pub(super) fn store(&self) -> Option<&Arc<dyn Store>> {
        self.store.as_ref()
    }

    /// Returns the state on which commands are decided.
    pub(super) fn decided(&self) -> &State {
        self.states.ahead()
    }

    /// Returns the state that readers see.
    pub(super) fn published(&self) -> &State {
        self.states.published()
    }

    /// Returns the state with the unpublished decisions, if there are any.
    pub(super) fn ahead(&self) -> Option<&State> {
        (!self.waiting.is_empty()).then_some(self.decided())
    }

    /// Returns the settings in force: the published ones, narrowed by the changes that are decided and not published.
    pub(super) fn settings_in_force<'s>(&'s self) -> Arc<Settings> {
        let waiting = self.waiting.iter().flat_map(|step| &step.batch.events);
        let settings =
            |event: &'s Event| if let Event::SettingsChanged { settings } = event { Some(&**settings) } else { None };
        self.published().settings_narrowed_by(waiting.filter_map(settings))
    }

    /// Returns the number of the last event decided.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns true if `agent` is retired in the decided state, but not stored as retired yet.
    pub(super) fn is_leaving(&self, agent: &AgentId) -> bool {
        self.leaving.contains(agent)
    }

    /// Returns true if earlier steps could not be stored.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.health != Health::Good
    }

    /// Returns the newest step that is not stored.
    pub(super) fn last(&mut self) -> Option<&mut Step> {
        self.waiting.back_mut()
    }

    /// Returns a receiver that resolves when the last decided step is stored. Returns none if every step is stored.
    pub(super) fn after_the_last(&mut self) -> Option<oneshot::Receiver<Result<(), StoreError>>> {
        // Who waits gets the result of an attempt.
        self.resume();
        self.last().map(|step| {
            let (tell, stored) = oneshot::channel();
            step.callers.push(Caller { tell, failed: None });
            stored
        })
    }

    /// Decides a command on the state ahead, and applies it there. If it is a part of `write`, the key of that write
    /// gets into the same step.
    pub(super) fn decide(
        &mut self,
        command: Command,
        write: Option<&OpenWrite>,
        meter: &mut Meter,
        now: Timestamp,
    ) -> Decided {
        let broken = if let Health::Broken(why) = &self.health { Some(why.clone()) } else { None };
        if let Some(why) = broken.as_ref().filter(|_| self.gives(&command, now)) {
            return self.decide_without_store(&command, why, meter, now);
        }
        let part = if command.only_narrows() { Part::Restrictive } else { Part::Whole };
        let restriction = command.restriction();
        let first = self.sequence + 1;
        let step = write.map(|write| write.step(first));
        let Carried { recorded: events, answer } = self.states.ahead_mut().carry_out_once(step, command, meter, now);
        if answer.is_ok() && !events.is_empty() {
            write.into_iter().for_each(|write| write.begin_at(first));
        }
        let outcome = answer.map(|answer| answer.unwrap_or_else(|| events.clone())).map_err(Error::Refused);
        // A step that a broken store does not contain takes effect, but is reported as not stored.
        let outcome = match broken.filter(|_| !events.is_empty()) {
            Some(why) => outcome.and(Err(Error::Store(why))),
            None => outcome,
        };
        Decided { restriction: restriction.filter(|_| outcome.is_ok()), outcome, events, part }
    }

    fn gives(&self, command: &Command, now: Timestamp) -> bool {
        !command.only_narrows()
            && self.decided().would(command.clone(), now).is_ok_and(|events| !events.iter().all(only_takes))
    }

    /// Decides a command that gives permissions while the store is broken. Only its restrictive part takes effect.
    fn decide_without_store(
        &mut self,
        command: &Command,
        why: &StoreError,
        meter: &mut Meter,
        now: Timestamp,
    ) -> Decided {
        let attempt = command.attempt();
        let (by, attempt) = (attempt.by.clone(), attempt.to_string().into());
        let mut events = vec![Event::Refused { by, attempt, why: why.to_string().into() }];
        events.iter().for_each(|event| self.states.ahead_mut().apply(event));
        if let Some(restriction) = command.restriction() {
            events.extend(self.states.ahead_mut().carry_out(restriction, meter, now).recorded);
        }
        Decided { outcome: Err(Error::Store(why.clone())), events, part: Part::Restrictive, restriction: None }
    }

    /// Adds a step to the queue, and passes it to the store. It waits until the store accepts the step. A step that no
    /// store has to confirm counts as stored.
    pub(super) fn commit(&mut self, events: Vec<Event>, part: Part, at: Timestamp, via: Option<Means>) -> Taken {
        let first = self.sequence + 1;
        let only_takes = part == Part::Restrictive || events.iter().all(only_takes);
        let batch = Arc::new(Batch { at, first, events, via, only_takes, failures: self.failures });
        self.resume();
        self.sequence = batch.last();
        self.leaving.extend(batch.events.iter().filter_map(Event::retired).cloned());
        let (restrictions, callers, surfaces) = (Vec::new(), Vec::new(), Vec::new());
        self.waiting.push_back(Step { batch: Arc::clone(&batch), part, restrictions, callers, surfaces });
        match &self.store {
            Some(_) if matches!(self.health, Health::Broken(_)) => Taken::Stored,
            Some(_) if matches!(self.retry, Retry::Collects(_)) => Taken::Waits,
            Some(store) => store.commit(batch),
            None => Taken::Stored,
        }
    }

    /// Returns the time of the next attempt to store what the store refused.
    pub(super) fn retry_at(&self) -> Option<Timestamp> {
        if let Retry::At(time) = self.retry { Some(time) } else { None }
    }

    /// Passes the steps that wait for another attempt to the store, if its time has come.
    pub(super) fn resume_at(&mut self, now: Timestamp) {
        if self.retry_at().is_some_and(|time| time <= now) {
            self.resume();
        }
    }

    /// Passes the steps that wait for another attempt to the store.
    fn resume(&mut self) {
        let Retry::At(_) = self.retry else { return };
        self.retry = Retry::None;
        let Some(store) = &self.store else { return };
        for step in &mut self.waiting {
            step.batch = Arc::new(Batch { failures: self.failures, ..Batch::clone(&step.batch) });
            // A store that refused a step before answers later, and this is called while a step is decided.
            store.commit(Arc::clone(&step.batch));
        }
    }

    /// Ends the collection of the steps that wait for another attempt. Returns false if none was collected.
    pub(super) fn wait_for_retry(&mut self) -> bool {
        let Retry::Collects(time) = self.retry else { return false };
        self.retry = if self.waiting.is_empty() { Retry::None } else { Retry::At(time) };
        true
    }

    /// Keeps the steps that the store has refused for another attempt, if all of them only take permissions away. The
    /// states stay as they are. Returns the callers and surfaces of these steps; none if the steps must be rolled back.
    pub(super) fn keep_for_retry(&mut self, why: &StoreError, now: Timestamp) -> Option<(Vec<Caller>, Vec<Surface>)> {
        let events: usize = self.waiting.iter().map(|step| step.batch.events.len()).sum();
        let only_takes = self.waiting.iter().all(|step| step.batch.only_takes) && events <= MAX_WAITING_EVENTS;
        if why.fault() == StoreFault::Broken || self.health != Health::Failing || !only_takes {
            return None;
        }
        self.failures += 1;
        self.retry = if self.waiting.is_empty() { Retry::None } else { Retry::At(now.after(RETRY_AFTER)) };
        let (mut callers, mut surfaces) = (Vec::new(), Vec::new());
        for step in &mut self.waiting {
            callers.append(&mut step.callers);
            surfaces.append(&mut step.surfaces);
        }
        Some((callers, surfaces))
    }

    /// Adds the command that takes the place of the last step's decision, if that step cannot be stored.
    pub(super) fn restrict_on_failure(&mut self, restriction: Option<Command>) {
        self.last().into_iter().for_each(|step| step.restrictions.extend(restriction.clone()));
    }

    /// Takes out of the published state the permissions that the last decided step takes away. Returns the step.
    pub(super) fn lose(&mut self) -> Option<Arc<Batch>> {
        let batch = Arc::clone(&self.waiting.back()?.batch);
        self.states.lose(&batch.events);
        Some(batch)
    }

    /// Takes the oldest waiting step from the queue, and applies it to the published state, if it is stored by now.
    pub(super) fn stored(&mut self, sequence: u64) -> Option<Step> {
        self.waiting.front().filter(|step| step.batch.last() <= sequence)?;
        let step = self.waiting.pop_front()?;
        self.states.catch_up(&step.batch.events);
        if self.health == Health::Failing && !step.batch.only_takes {
            self.health = Health::Good;
        }
        for gone in step.batch.events.iter().filter_map(Event::retired) {
            if let Some(place) = self.leaving.iter().position(|leaving| leaving == gone) {
                self.leaving.swap_remove(place);
            }
        }
        Some(step)
    }

    /// Forgets the steps that are not stored: the state ahead becomes the published state again, whose last
    /// event has the number `published`. Callers whose step is lost as a whole get the error at once.
    pub(super) fn roll_back(&mut self, published: u64, why: &StoreError, now: Timestamp) -> RolledBack {
        let failed = mem::take(&mut self.waiting);
        self.failures += 1;
        self.leaving.clear();
        let at = failed.back().map_or(now, |step| step.batch.at);
        let events = failed.iter().flat_map(|step| &step.batch.events);
        let changed_settings = events.clone().any(is_settings);
        let mut takes = self.states.roll_back(events, at);
        if self.health == Health::Good {
            takes.push(Event::StoreFailed { why: why.to_string().into() });
        }
        let failed_twice = failed.iter().any(|step| step.part == Part::Restrictive);
        let is_broken = why.fault() == StoreFault::Broken;
        self.health = if is_broken { Health::Broken(why.clone()) } else { Health::Failing };
        self.retry = if failed_twice && !is_broken { Retry::Collects(now.after(RETRY_AFTER)) } else { Retry::None };
        if MAX_WAITING_EVENTS < takes.len() {
            takes.retain(|event| !matches!(event, Event::Refused { .. } | Event::PeerRefused { .. }));
        }
        self.sequence = published;
        let (restrictions, callers, surfaces) = (Vec::new(), Vec::new(), Vec::new());
        let mut back = RolledBack { at, takes, restrictions, changed_settings, callers, surfaces };
        failed.into_iter().for_each(|step| back.add(step, why));
        back
    }

    /// Passes callers and surfaces of rolled back steps to the last step. Returns them if no step waits.
    pub(super) fn hand_over(&mut self, callers: Vec<Caller>, surfaces: Vec<Surface>) -> (Vec<Caller>, Vec<Surface>) {
        let Some(last) = self.last() else { return (callers, surfaces) };
        last.callers.extend(callers);
        last.surfaces.extend(surfaces);
        (Vec::new(), Vec::new())
    }

    /// Returns the error of a broken store.
    pub(super) fn result_of_unstored(&self) -> Result<(), StoreError> {
        if let Health::Broken(why) = &self.health { Err(why.clone()) } else { Ok(()) }
    }

    /// Drops the waiting steps and the store, because the engine ends. The callers learn about that.
    pub(super) fn close(&mut self) {
        self.waiting.clear();
        self.store = None;
    }
}

impl RolledBack {
    fn add(&mut self, step: Step, why: &StoreError) {
        let only_takes = step.batch.events.iter().all(only_takes);
        for mut caller in step.callers {
            if only_takes {
                self.callers.push(caller);
            } else if step.restrictions.is_empty() {
                caller.told(Err(why.clone()));
            } else {
                caller.failed.get_or_insert_with(|| why.clone());
                self.callers.push(caller);
            }
        }
        self.restrictions.extend(step.restrictions);
        self.surfaces.extend(step.surfaces);
    }
}

/// Returns true for a change of the settings.
pub(super) fn is_settings(event: &Event) -> bool {
    matches!(event, Event::SettingsChanged { .. })
}
