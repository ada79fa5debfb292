//! The queue between deciding and publishing: decisions that are not stored yet.
//!
//! There are two states. Decisions are made on the state ahead. The published state follows when the store has stored
//! each step. Changes that take permissions away are published at once. If the store fails, all unstored decisions are
//! forgotten, except those that take permissions away. So the engine never publishes, reports or acknowledges a change
//! that a restart would lose.

use std::{
    collections::{BTreeSet, VecDeque},
    mem,
    sync::Arc,
};

use tokio::sync::oneshot;

use crate::{
    kernel::{Carried, Command, Refusal, State, only_takes},
    model::{AgentId, Event, ProcessEvent, Timestamp},
    ports::{Batch, Progress, Store, StoreError, StoreFault, Taken},
};

use super::{
    Error,
    shared::{Shared, StalledChannels, Writer},
    user_channel::Surface,
};

/// The result of a command. The command is decided; a caller that needs the acknowledgement waits until it is stored.
#[derive(Debug)]
pub(super) struct CommitHandle {
    outcome: Result<Vec<Event>, Error>,
    stored: Option<oneshot::Receiver<Result<(), StoreError>>>,
    /// Earlier steps could not be stored.
    in_doubt: bool,
}

impl CommitHandle {
    pub(super) fn of(outcome: Result<CommitHandle, Error>) -> CommitHandle {
        outcome.unwrap_or_else(|why| CommitHandle { outcome: Err(why), stored: None, in_doubt: false })
    }

    pub(super) fn carried_out(events: Vec<Event>) -> CommitHandle {
        CommitHandle { outcome: Ok(events), stored: None, in_doubt: false }
    }

    pub(super) fn refused(why: Refusal) -> CommitHandle {
        CommitHandle { outcome: Err(Error::Refused(why)), stored: None, in_doubt: false }
    }

    /// Returns without waiting, for steps that give no permission and that are not reported as done.
    pub(super) fn at_once(self) -> Result<Vec<Event>, Error> {
        self.outcome
    }

    /// Returns the decided events, stored or not.
    #[cfg(feature = "sandbox")]
    pub(super) fn events(&self) -> &[Event] {
        self.outcome.as_deref().unwrap_or_default()
    }

    /// Waits until the events are stored, if the engine stores events.
    ///
    /// # Cancellation
    ///
    /// Dropping the future only gives up waiting. The command is decided, and will be stored.
    pub(super) async fn acknowledged(self) -> Result<Vec<Event>, Error> {
        match self.stored {
            None => self.outcome,
            Some(stored) => known(self.outcome, stored.await.unwrap_or_else(|_| Err(gone()))),
        }
    }

    /// Waits like `acknowledged`, on a thread that may block.
    pub(super) fn wait(self) -> Result<Vec<Event>, Error> {
        match self.stored {
            None => self.outcome,
            Some(stored) => known(self.outcome, stored.blocking_recv().unwrap_or_else(|_| Err(gone()))),
        }
    }
}

impl CommitHandle {
    /// Returns without waiting if the events only record evaluations: no permission was given, taken or consumed. Such
    /// events may reach the disk later, unless the disk is known to fail. All other events are waited for.
    pub(super) fn noted(self) -> Result<Vec<Event>, Error> {
        let is_fact = |events: &Vec<Event>| events.iter().all(|event| matches!(event, Event::Evaluated { .. }));
        let only_facts = self.outcome.as_ref().is_ok_and(is_fact);
        if only_facts && !self.in_doubt { self.outcome } else { self.wait() }
    }
}

/// Combines the outcome with the result of storing. A refusal stays a refusal even if it was not stored.
fn known(outcome: Result<Vec<Event>, Error>, stored: Result<(), StoreError>) -> Result<Vec<Event>, Error> {
    outcome.and_then(|events| stored.map(|()| events).map_err(Error::Store))
}

/// The store error for an engine that ended before the store answered.
fn gone() -> StoreError {
    StoreError::new(
        StoreFault::Broken,
        "the engine ended before it confirmed this change, so the change may or may not be stored",
    )
}

/// The decided state and the queue of steps for the store.
#[derive(Debug)]
pub(super) struct CommitQueue {
    pub(super) store: Arc<dyn Store>,
    /// The state with every decision.
    ahead: State,
    /// The number of the last event decided.
    sequence: u64,
    waiting: VecDeque<Decided>,
    /// Agents that are retired in the decided state, but not stored as retired yet.
    leaving: Vec<AgentId>,
    failures: u64,
    health: Health,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// A step that gives permissions was not stored, and none was stored since.
    Failing,
    /// The store accepts no more steps.
    Broken(StoreError),
}

/// One step that is not stored yet.
#[derive(Debug)]
struct Decided {
    batch: Arc<Batch>,
    /// Callers that wait until the step is stored.
    told: Vec<oneshot::Sender<Result<(), StoreError>>>,
    /// Surfaces that were opened by this step.
    surfaces: Vec<Surface>,
    /// True for the remainder of steps that could not be stored.
    again: bool,
}

impl Decided {
    fn only_takes(&self) -> bool {
        self.batch.events.iter().all(only_takes)
    }
}

impl CommitQueue {
    pub(super) fn new(store: Arc<dyn Store>, ahead: State, sequence: u64) -> CommitQueue {
        let (waiting, leaving, health) = (VecDeque::new(), Vec::new(), Health::Good);
        CommitQueue { store, ahead, sequence, waiting, leaving, failures: 0, health }
    }

    /// Returns the state with the unpublished decisions, if there are any.
    pub(super) fn ahead(&self) -> Option<&State> {
        (!self.waiting.is_empty()).then_some(&self.ahead)
    }

    /// Returns true if `agent` is retired in the decided state, but not stored as retired yet.
    pub(super) fn is_leaving(&self, agent: &AgentId) -> bool {
        self.leaving.contains(agent)
    }

    /// Returns a receiver that resolves when the last decided step is stored. Returns none if every step is stored.
    pub(super) fn after_the_last(&mut self) -> Option<oneshot::Receiver<Result<(), StoreError>>> {
        self.waiting.back_mut().map(|decided| {
            let (tell, stored) = oneshot::channel();
            decided.told.push(tell);
            stored
        })
    }

    /// Passes a step to the store, and waits until the store accepts it.
    fn commit(&mut self, events: Vec<Event>, at: Timestamp, narrows: bool, again: bool) -> Taken {
        let first = self.sequence + 1;
        let only_takes = narrows || events.iter().all(only_takes);
        let batch = Arc::new(Batch { at, first, events, only_takes, failures: self.failures });
        self.sequence = batch.last();
        self.leaving.extend(batch.events.iter().filter_map(Event::retired).cloned());
        self.waiting.push_back(Decided { batch: Arc::clone(&batch), told: Vec::new(), surfaces: Vec::new(), again });
        self.store.commit(batch)
    }
}

impl Writer {
    /// Returns the state on which commands are decided.
    pub(super) fn decided(&self) -> &State {
        self.keeping.as_ref().map_or(&self.state, |keeping| &keeping.ahead)
    }

    /// Fills a newly opened surface with its waiting requests, once the step that opened it is published.
    pub(super) fn fill_when_seen(&mut self, surface: Surface) {
        match self.keeping.as_mut().and_then(|keeping| keeping.waiting.back_mut()) {
            Some(decided) => decided.surfaces.push(surface),
            None => self.fill(&surface),
        }
    }
}

impl Shared {
    pub(super) fn carry_out_and_keep(
        &self,
        writer: &mut Writer,
        command: Command,
        now: Timestamp,
        stuck: &mut StalledChannels,
    ) -> CommitHandle {
        let Writer { keeping: Some(keeping), meter, .. } = writer else { return CommitHandle::of(Err(Error::Closed)) };
        if let Health::Broken(why) = &keeping.health {
            let why = why.clone();
            return self.carry_out_unkept(writer, command, now, why, stuck);
        }
        let narrows = command.only_narrows();
        let again = matches!(command, Command::Narrowly { last: true, .. });
        let Carried { recorded: events, answer } = keeping.ahead.carry_out(command, meter, now);
        let outcome = answer.map(|answer| answer.unwrap_or_else(|| events.clone())).map_err(Error::Refused);
        if events.is_empty() {
            // The requested state is reached already, once the earlier steps are stored.
            let done =
                CommitHandle { outcome, stored: keeping.after_the_last(), in_doubt: keeping.health != Health::Good };
            self.set_alarm(writer);
            return done;
        }
        let taken = keeping.commit(events, now, narrows, again);
        let (stored, last) = (keeping.after_the_last(), keeping.sequence);
        let in_doubt = keeping.health != Health::Good;
        self.show_losses(writer);
        self.set_alarm(writer);
        if taken == Taken::Stored {
            self.catch_up(writer, last, stuck);
        }
        CommitHandle { outcome, stored, in_doubt }
    }

    /// Publishes at once the permissions that the last decided step takes away, even if storing it fails.
    fn show_losses(&self, writer: &mut Writer) {
        let Writer { state, keeping: Some(keeping), .. } = writer else { return };
        let Some(batch) = keeping.waiting.back().map(|decided| Arc::clone(&decided.batch)) else { return };
        batch.events.iter().for_each(|event| state.lose(event, &keeping.ahead));
        self.publish_losses(writer, &batch.events);
    }

    /// Publishes, reports and acknowledges every step up to event number `sequence`, which the store has stored.
    fn catch_up(&self, writer: &mut Writer, sequence: u64, stuck: &mut StalledChannels) {
        while let Some(decided) = writer.keeping.as_mut().and_then(|keeping| keeping.stored(sequence)) {
            self.see(writer, &decided.batch, stuck);
            decided.surfaces.iter().for_each(|surface| writer.fill(surface));
            // A caller that stopped waiting needs no result.
            decided.told.into_iter().for_each(|told| drop(told.send(Ok(()))));
        }
    }

    /// Publishes a step that is stored, or that takes effect although it can never be stored.
    fn see(&self, writer: &mut Writer, batch: &Batch, stuck: &mut StalledChannels) {
        let Writer { state, keeping: Some(keeping), .. } = writer else { return };
        let mut lost_again = false;
        for event in &batch.events {
            state.catch_up(event, &keeping.ahead);
            lost_again |= matches!(event, Event::GrantIssued { grant } if !state.grants.contains_key(&grant.id));
        }
        if lost_again {
            let there = |event: &&Event| {
                if let Event::GrantIssued { grant } = event { state.grants.contains_key(&grant.id) } else { true }
            };
            let rest: Vec<_> = batch.events.iter().filter(there).cloned().collect();
            self.publish(writer, &rest);
        } else {
            self.publish(writer, &batch.events);
        }
        self.tell(writer, &batch.events, batch.at, stuck);
        self.set_alarm(writer);
    }

    /// Executes a command while the store is broken. Only changes that take permissions away take effect, and they are
    /// reported as not stored.
    fn carry_out_unkept(
        &self,
        writer: &mut Writer,
        command: Command,
        now: Timestamp,
        why: StoreError,
        stuck: &mut StalledChannels,
    ) -> CommitHandle {
        let (attempt, narrows) = (command.attempt(), command.only_narrows());
        let not_stored = |why| CommitHandle::of(Err(Error::Store(why)));
        let events = match writer.state.would(command.clone(), now) {
            Ok(events) if narrows || events.iter().all(only_takes) => {
                writer.state.execute(command, now).unwrap_or_default()
            }
            Ok(_) => {
                let refused = Event::Refused {
                    by: attempt.by.clone(),
                    attempt: attempt.to_string().into(),
                    why: why.to_string().into(),
                };
                self.tell(writer, &[refused], now, stuck);
                return not_stored(why);
            }
            Err(refusal) => {
                self.tell(writer, &[attempt.refused(&refusal)], now, stuck);
                return CommitHandle::refused(refusal);
            }
        };
        if let Some(keeping) = &mut writer.keeping {
            events.iter().for_each(|event| keeping.ahead.apply(event));
        }
        self.publish(writer, &events);
        self.tell(writer, &events, now, stuck);
        self.set_alarm(writer);
        if events.is_empty() { CommitHandle::carried_out(events) } else { not_stored(why) }
    }

    /// Executes a change of a policy file or of policies. If it cannot be stored, its restrictive part takes effect
    /// anyway, stored if possible. The caller learns that the rest does not take effect.
    pub(super) async fn change(&self, change: Command) -> Result<Vec<Event>, Error> {
        let done = self.execute(change.clone()).acknowledged().await;
        if !matches!(done, Err(Error::Store(_))) {
            return done;
        }
        // The first attempt may fail together with earlier steps. After the last attempt, the store is broken.
        for last in [false, false, true, true] {
            let takes_effect = self.is_broken();
            let narrowly = Command::Narrowly { change: Box::new(change.clone()), last };
            let narrowed = self.execute(narrowly).acknowledged().await;
            if takes_effect || !matches!(narrowed, Err(Error::Store(_))) {
                break;
            }
        }
        done
    }

    /// Returns true if the store is broken. Then changes that take permissions away take effect without being stored.
    fn is_broken(&self) -> bool {
        let broken = |writer: &Writer| {
            writer.keeping.as_ref().is_some_and(|keeping| matches!(keeping.health, Health::Broken(_)))
        };
        self.lock().is_ok_and(|writer| broken(&writer))
    }

    /// Forgets the steps that were decided but not stored. Changes that take permissions away are stored again, or take
    /// effect without being stored.
    fn forget(&self, writer: &mut Writer, why: &StoreError, stuck: &mut StalledChannels) {
        let Writer { state, keeping: Some(keeping), .. } = writer else { return };
        let decided = mem::take(&mut keeping.waiting);
        keeping.failures += 1;
        keeping.leaving.clear();
        let at = decided.back().map(|decided| decided.batch.at);
        let failed_again = decided.iter().any(|decided| decided.again);
        let events = decided.iter().flat_map(|decided| &decided.batch.events);
        let (mut takes, changed) = (what_takes(events.clone()), events.into_iter().any(is_settings));
        let (mut told, mut surfaces) = (Vec::new(), Vec::new());
        for decided in decided {
            if decided.only_takes() {
                told.extend(decided.told);
            } else {
                decided.told.into_iter().for_each(|told| drop(told.send(Err(why.clone()))));
            }
            surfaces.extend(decided.surfaces);
        }
        if keeping.health == Health::Good {
            takes.push(Event::StoreFailed { why: why.to_string().into() });
        }
        keeping.ahead = state.clone();
        keeping.sequence = writer.sequence;
        takes.iter().for_each(|event| keeping.ahead.apply(event));
        let broken = why.fault() == StoreFault::Broken || failed_again;
        keeping.health = if broken { Health::Broken(why.clone()) } else { Health::Failing };
        let now = at.or_else(|| self.clock.now().ok()).unwrap_or(Timestamp::from_millis(0));
        if changed {
            self.publish_settings(writer);
        }
        self.take_away(writer, takes, now, broken, stuck);
        let Some(keeping) = &mut writer.keeping else { return };
        match keeping.waiting.back_mut() {
            Some(last) => {
                last.told.extend(told);
                last.surfaces.extend(surfaces);
            }
            None => {
                let outcome = || if broken { Err(why.clone()) } else { Ok(()) };
                told.into_iter().for_each(|told| drop(told.send(outcome())));
                surfaces.iter().for_each(|surface| writer.fill(surface));
            }
        }
        self.set_alarm(writer);
    }

    fn take_away(
        &self,
        writer: &mut Writer,
        takes: Vec<Event>,
        at: Timestamp,
        broken: bool,
        stuck: &mut StalledChannels,
    ) {
        let Some(keeping) = writer.keeping.as_mut().filter(|_| !takes.is_empty()) else { return };
        if broken {
            let first = keeping.sequence + 1;
            let batch = Batch { at, first, events: takes, only_takes: true, failures: keeping.failures };
            keeping.sequence = batch.last();
            return self.see(writer, &batch, stuck);
        }
        let (taken, last) = (keeping.commit(takes, at, true, true), keeping.sequence);
        if taken == Taken::Stored {
            self.catch_up(writer, last, stuck);
        }
    }
}

impl CommitQueue {
    /// Takes the oldest waiting step from the queue, if it is stored by now.
    fn stored(&mut self, sequence: u64) -> Option<Decided> {
        self.waiting.front().filter(|decided| decided.batch.last() <= sequence)?;
        let decided = self.waiting.pop_front()?;
        if !decided.batch.only_takes {
            self.health = Health::Good;
        }
        for gone in decided.batch.events.iter().filter_map(Event::retired) {
            if let Some(place) = self.leaving.iter().position(|leaving| leaving == gone) {
                self.leaving.swap_remove(place);
            }
        }
        Some(decided)
    }
}

impl Progress for Shared {
    fn stored(&self, sequence: u64) {
        // This fails only if the engine is closed; then no caller waits.
        let _ = self.locked(|shared, writer, stuck| shared.catch_up(writer, sequence, stuck));
    }

    fn failed(&self, why: StoreError) {
        let _ = self.locked(|shared, writer, stuck| shared.forget(writer, &why, stuck));
    }
}

fn only_starts(event: &ProcessEvent) -> bool {
    matches!(event, ProcessEvent::Started { .. })
}

fn is_settings(event: &Event) -> bool {
    matches!(event, Event::SettingsChanged { .. })
}

/// Returns the `events` that take stored permissions away. Objects that the same events first created are left out.
fn what_takes<'e>(events: impl Iterator<Item = &'e Event>) -> Vec<Event> {
    let (mut grants, mut requests, mut agents) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut processes = BTreeSet::new();
    let mut takes = Vec::new();
    for event in events {
        let never_was = if let Event::GrantIssued { grant } = event {
            !grants.insert(grant.id)
        } else if let Event::Requested { request } = event {
            !requests.insert(request.id)
        } else if let Event::AgentRegistered { profile, .. } = event {
            !agents.insert(&profile.id)
        } else if let Event::AgentRetired { agent } = event {
            agents.remove(agent)
        } else if let Event::Process(event) = event {
            if only_starts(event) {
                !processes.insert(event.process().id)
            } else {
                processes.contains(&event.process().id)
            }
        } else if let Event::RunBegan { agent, .. } | Event::RunEnded { agent, .. } = event {
            agents.contains(agent)
        } else if let Event::Routed { request, .. } = event {
            requests.contains(&request.id)
        } else if let Event::Resolved { resolution, .. } = event {
            requests.contains(&resolution.request)
        } else {
            event.grant().is_some_and(|grant| grants.contains(&grant.id))
        };
        if only_takes(event) && !never_was {
            takes.push(event.clone());
        }
    }
    takes
}
