//! Between deciding and seeing: what was decided, and is not stored yet.
//!
//! Two states: the one that is decided on is ahead; the one that everybody sees follows when the store has stored it.
//! What takes something away is seen at once. If the store fails, what was decided is forgotten but for what took
//! something away, so that nothing is ever seen, told or acknowledged that a restart would not find.

use std::{
    collections::{BTreeSet, VecDeque},
    mem,
    sync::Arc,
};

use tokio::sync::oneshot;

use crate::{
    kernel::{Carried, Command, Refusal, State, only_takes},
    model::{AgentId, Event, ProcessEvent, Timestamp},
    seam::{Batch, Progress, Store, StoreError, StoreFault, Taken},
};

use super::{
    Error,
    shared::{Shared, Stuck, Writer},
    surface::Surface,
};

/// What became of a command. It is decided; whoever acknowledges it waits until it is stored.
#[derive(Debug)]
pub(super) struct Done {
    outcome: Result<Vec<Event>, Error>,
    stored: Option<oneshot::Receiver<Result<(), StoreError>>>,
    /// What came before could not be stored.
    in_doubt: bool,
}

impl Done {
    pub(super) fn of(outcome: Result<Done, Error>) -> Done {
        outcome.unwrap_or_else(|why| Done { outcome: Err(why), stored: None, in_doubt: false })
    }

    pub(super) fn carried_out(events: Vec<Event>) -> Done {
        Done { outcome: Ok(events), stored: None, in_doubt: false }
    }

    pub(super) fn refused(why: Refusal) -> Done {
        Done { outcome: Err(Error::Refused(why)), stored: None, in_doubt: false }
    }

    /// Without waiting: for what gives nobody anything, and is told to nobody as done.
    pub(super) fn at_once(self) -> Result<Vec<Event>, Error> {
        self.outcome
    }

    /// What is decided, stored or not.
    #[cfg(feature = "sandbox")]
    pub(super) fn events(&self) -> &[Event] {
        self.outcome.as_deref().unwrap_or_default()
    }

    /// As soon as it is stored, if events are.
    ///
    /// # Cancellation
    ///
    /// Dropping the future gives up hearing of it. It is decided, and will be stored.
    pub(super) async fn acknowledged(self) -> Result<Vec<Event>, Error> {
        match self.stored {
            None => self.outcome,
            Some(stored) => known(self.outcome, stored.await.unwrap_or_else(|_| Err(gone()))),
        }
    }

    /// The same on a thread that may wait.
    pub(super) fn wait(self) -> Result<Vec<Event>, Error> {
        match self.stored {
            None => self.outcome,
            Some(stored) => known(self.outcome, stored.blocking_recv().unwrap_or_else(|_| Err(gone()))),
        }
    }
}

impl Done {
    /// What happened is a fact and nothing else: nobody got, lost or used up anything by it. Then it is enough that it is on
    /// its way to the disk, unless the disk is known to fail; everything else waits.
    pub(super) fn noted(self) -> Result<Vec<Event>, Error> {
        let is_fact = |events: &Vec<Event>| events.iter().all(|event| matches!(event, Event::Evaluated { .. }));
        let only_facts = self.outcome.as_ref().is_ok_and(is_fact);
        if only_facts && !self.in_doubt { self.outcome } else { self.wait() }
    }
}

/// A refusal is no less one for not having been stored.
fn known(outcome: Result<Vec<Event>, Error>, stored: Result<(), StoreError>) -> Result<Vec<Event>, Error> {
    outcome.and_then(|events| stored.map(|()| events).map_err(Error::Store))
}

/// The engine ended before the store said anything.
fn gone() -> StoreError {
    StoreError::new(StoreFault::Broken, "the engine ended before this was stored, so it may or may not be")
}

/// What is decided, and where it is stored.
#[derive(Debug)]
pub(super) struct Keeping {
    pub(super) store: Arc<dyn Store>,
    /// With everything that was decided.
    ahead: State,
    /// The number of the last event decided.
    sequence: u64,
    waiting: VecDeque<Decided>,
    /// Agents that are gone for everybody but the disk.
    leaving: Vec<AgentId>,
    failures: u64,
    health: Health,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Health {
    Good,
    /// Something that gives was not stored, and nothing that gives was since.
    Failing,
    /// Nothing is stored any more.
    Broken(StoreError),
}

/// One step that is not stored yet.
#[derive(Debug)]
struct Decided {
    batch: Arc<Batch>,
    /// Whoever waits for it.
    told: Vec<oneshot::Sender<Result<(), StoreError>>>,
    /// Surfaces that were opened by it.
    surfaces: Vec<Surface>,
    /// What is left of steps that were not stored.
    again: bool,
}

impl Decided {
    fn only_takes(&self) -> bool {
        self.batch.events.iter().all(only_takes)
    }
}

impl Keeping {
    pub(super) fn new(store: Arc<dyn Store>, ahead: State, sequence: u64) -> Keeping {
        let (waiting, leaving, health) = (VecDeque::new(), Vec::new(), Health::Good);
        Keeping { store, ahead, sequence, waiting, leaving, failures: 0, health }
    }

    /// The state with what is decided and not seen, if there is something.
    pub(super) fn ahead(&self) -> Option<&State> {
        (!self.waiting.is_empty()).then_some(&self.ahead)
    }

    /// Whether `agent` is gone for everybody but the disk.
    pub(super) fn is_leaving(&self, agent: &AgentId) -> bool {
        self.leaving.contains(agent)
    }

    /// A receiver that hears when the last step that was decided is stored; none if everything is.
    pub(super) fn after_the_last(&mut self) -> Option<oneshot::Receiver<Result<(), StoreError>>> {
        self.waiting.back_mut().map(|decided| {
            let (tell, stored) = oneshot::channel();
            decided.told.push(tell);
            stored
        })
    }

    /// Gives a step to the store. It waits here until the store has it.
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
    /// The state that commands are decided on.
    pub(super) fn decided(&self) -> &State {
        self.keeping.as_ref().map_or(&self.state, |keeping| &keeping.ahead)
    }

    /// Shows what waits on a surface that was just opened, once the step that opened it is seen.
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
        stuck: &mut Stuck,
    ) -> Done {
        let Writer { keeping: Some(keeping), meter, .. } = writer else { return Done::of(Err(Error::Closed)) };
        if let Health::Broken(why) = &keeping.health {
            let why = why.clone();
            return self.carry_out_unkept(writer, command, now, why, stuck);
        }
        let narrows = command.only_narrows();
        let again = matches!(command, Command::Narrowly { last: true, .. });
        let Carried { recorded: events, answer } = keeping.ahead.carry_out(command, meter, now);
        let outcome = answer.map(|answer| answer.unwrap_or_else(|| events.clone())).map_err(Error::Refused);
        if events.is_empty() {
            // What was asked for is so already: as far as it is stored.
            let done = Done { outcome, stored: keeping.after_the_last(), in_doubt: keeping.health != Health::Good };
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
        Done { outcome, stored, in_doubt }
    }

    /// What the step decided last takes away is gone from now on, whatever becomes of the disk.
    fn show_losses(&self, writer: &mut Writer) {
        let Writer { state, keeping: Some(keeping), .. } = writer else { return };
        let Some(batch) = keeping.waiting.back().map(|decided| Arc::clone(&decided.batch)) else { return };
        batch.events.iter().for_each(|event| state.lose(event, &keeping.ahead));
        self.publish_losses(writer, &batch.events);
    }

    /// What is stored up to event number `sequence` is seen, told and acknowledged from now on.
    fn catch_up(&self, writer: &mut Writer, sequence: u64, stuck: &mut Stuck) {
        while let Some(decided) = writer.keeping.as_mut().and_then(|keeping| keeping.stored(sequence)) {
            self.see(writer, &decided.batch, stuck);
            decided.surfaces.iter().for_each(|surface| writer.fill(surface));
            // Whoever does not wait any more does not need to know.
            decided.told.into_iter().for_each(|told| drop(told.send(Ok(()))));
        }
    }

    /// A step is stored, or never will be and takes effect all the same.
    fn see(&self, writer: &mut Writer, batch: &Batch, stuck: &mut Stuck) {
        let Writer { state, keeping: Some(keeping), .. } = writer else { return };
        let mut lost_again = false;
        for event in &batch.events {
            state.catch_up(event, &keeping.ahead);
            lost_again |= matches!(event, Event::GrantIssued { grant } if !state.grants.contains_key(&grant.id));
        }
        if lost_again {
            let there = |event: &&Event| !matches!(event, Event::GrantIssued { grant } if !state.grants.contains_key(&grant.id));
            let rest: Vec<_> = batch.events.iter().filter(there).cloned().collect();
            self.publish(writer, &rest);
        } else {
            self.publish(writer, &batch.events);
        }
        self.tell(writer, &batch.events, batch.at, stuck);
        self.set_alarm(writer);
    }

    /// The store is not trusted any more: what takes something away takes effect here, and is reported as not stored.
    fn carry_out_unkept(
        &self,
        writer: &mut Writer,
        command: Command,
        now: Timestamp,
        why: StoreError,
        stuck: &mut Stuck,
    ) -> Done {
        let (attempt, narrows) = (command.attempt(), command.only_narrows());
        let not_stored = |why| Done::of(Err(Error::Store(why)));
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
                return Done::refused(refusal);
            }
        };
        if let Some(keeping) = &mut writer.keeping {
            events.iter().for_each(|event| keeping.ahead.apply(event));
        }
        self.publish(writer, &events);
        self.tell(writer, &events, now, stuck);
        self.set_alarm(writer);
        if events.is_empty() { Done::carried_out(events) } else { not_stored(why) }
    }

    /// Carries out a change of a file or of policies. If it cannot be stored, what of it only takes away takes effect all
    /// the same, stored if anything can be, and whoever waits is told that the rest does not.
    pub(super) async fn change(&self, change: Command) -> Result<Vec<Event>, Error> {
        let done = self.execute(change.clone()).acknowledged().await;
        if !matches!(done, Err(Error::Store(_))) {
            return done;
        }
        // The first may fall with what it came together with; after the last, nothing is stored any more.
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

    /// Whether nothing is stored any more, so that what takes something away takes effect without.
    fn is_broken(&self) -> bool {
        let broken = |writer: &Writer| {
            writer.keeping.as_ref().is_some_and(|keeping| matches!(keeping.health, Health::Broken(_)))
        };
        self.lock().is_ok_and(|writer| broken(&writer))
    }

    /// Forgets what was decided and not stored; what took something away is stored again, or takes effect without.
    fn forget(&self, writer: &mut Writer, why: &StoreError, stuck: &mut Stuck) {
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

    fn take_away(&self, writer: &mut Writer, takes: Vec<Event>, at: Timestamp, broken: bool, stuck: &mut Stuck) {
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

impl Keeping {
    /// The oldest step that waits, if it is stored by now.
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
        // Fails only if the engine is closed; then nobody waits.
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

/// What `events` took away from what is stored. What they gave first and took then never was.
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
