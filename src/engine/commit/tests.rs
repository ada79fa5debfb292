//! Engines without a store, with a store that stores at once, and with one that stores later, compared step by step.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, Weak},
};

use proptest::prelude::*;

use super::*;
use crate::{
    command::Classifier,
    engine::{Subscription, commit_queue::CommitQueue},
    kernel::{
        Check, State,
        tests::scenario::{Scenario, Step, TAGS},
    },
    model::{Actor, AgentId, GrantId, Permission, PermissionRef, Reads, Recorded, Settings},
    ports::{AsWritten, ManualClock, MemoryStore, Store, StoreFault, Stored},
};

/// A store that stores only on demand.
#[derive(Debug, Default)]
struct SlowStore {
    waiting: Mutex<VecDeque<Arc<Batch>>>,
}

impl SlowStore {
    /// Stores the oldest `count` batches. Returns the number of their last event.
    fn store(&self, count: usize) -> Option<u64> {
        let mut waiting = self.waiting.lock().unwrap();
        let count = count.min(waiting.len());
        waiting.drain(..count).next_back().map(|batch| batch.last())
    }
}

impl Store for SlowStore {
    fn load(&self, _: &mut dyn FnMut(Stored) -> Result<(), StoreError>) -> Result<(), StoreError> {
        Ok(())
    }

    fn report_to(&self, _: Weak<dyn Progress>) {}

    fn commit(&self, batch: Arc<Batch>) -> Taken {
        self.waiting.lock().unwrap().push_back(batch);
        Taken::Waits
    }

    fn close(&self) {}
}

/// An engine with everything that its subscribers heard.
struct Observed {
    shared: Shared,
    subscriber: Subscription,
    heard: Vec<Recorded>,
}

impl Observed {
    fn new(queue: CommitQueue, clock: &Arc<ManualClock>) -> Observed {
        let shared = Shared::new(queue, Classifier::default(), clock.clone(), Arc::new(AsWritten), 7);
        let published = shared.locked(|shared, writer, _| {
            shared.publish_all(writer);
            shared.set_alarm(writer);
        });
        published.unwrap();
        Observed { subscriber: shared.subscribe(), shared, heard: Vec::new() }
    }

    fn state(&self) -> State {
        self.shared.look(|state, _| state.clone()).unwrap()
    }

    fn hear(&mut self) -> &[Recorded] {
        self.heard.extend(std::iter::from_fn(|| self.subscriber.try_next().ok().flatten()));
        &self.heard
    }

    /// Returns the published answer for each agent and permission.
    fn checks(&self, agents: impl Iterator<Item = AgentId>) -> Vec<(AgentId, &'static str, Option<Check>)> {
        let now = || self.shared.clock.now().ok();
        let of_agent = |agent: AgentId| {
            TAGS.map(|tag| {
                let wanted: Permission = tag.parse().unwrap();
                let cell = self.shared.cell(&agent);
                (agent.clone(), tag, cell.map(|cell| cell.check(PermissionRef::from(&wanted), now)))
            })
        };
        agents.flat_map(of_agent).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::property_cases::cases(96), ..ProptestConfig::default() })]

    #[test]
    fn an_engine_without_a_store_publishes_exactly_what_an_engine_with_a_store_publishes(
        steps in prop::collection::vec((any::<Step>(), 0..4_usize), 1..60),
    ) {
        let mut tale = Scenario::new(Reads::Granted);
        let clock = Arc::new(ManualClock::at(tale.now));
        let (at_once, later) = (Arc::new(MemoryStore::new()), Arc::new(SlowStore::default()));
        let first = || tale.state.clone();
        let mut memory = Observed::new(CommitQueue::in_memory(first()), &clock);
        let mut stored = Observed::new(CommitQueue::stored_in(at_once.clone(), first(), 0), &clock);
        let mut behind = Observed::new(CommitQueue::stored_in(later.clone(), first(), 0), &clock);
        for (step, count) in steps {
            let before = tale.now;
            let command = tale.command(step);
            clock.advance(before.until(tale.now));
            let done = memory.shared.execute_own(command.clone());
            prop_assert!(done.stored.is_none(), "nothing to wait for");
            let done = format!("{:?}", done.at_once());
            prop_assert_eq!(&done, &format!("{:?}", stored.shared.execute_own(command.clone()).wait()));
            prop_assert_eq!(&done, &format!("{:?}", behind.shared.execute_own(command).at_once()));
            tale.state = memory.state();
            prop_assert!(tale.state == stored.state());
            prop_assert_eq!(memory.checks(tale.agents()), stored.checks(tale.agents()));
            prop_assert_eq!(memory.hear(), stored.hear());
            if let Some(last) = later.store(count) {
                behind.shared.stored(last);
            }
            // The store that stores later lags, and tells the same in the same order.
            let told = behind.hear();
            prop_assert_eq!(Some(told), memory.heard.get(..told.len()));
        }
        if let Some(last) = later.store(usize::MAX) {
            behind.shared.stored(last);
        }
        prop_assert!(tale.state == behind.state());
        prop_assert_eq!(memory.checks(tale.agents()), behind.checks(tale.agents()));
        prop_assert_eq!(memory.hear(), behind.hear());
        prop_assert_eq!(&at_once.events(), &memory.heard);
    }
}

/// Without this, the timer would find the same number due again and again.
#[test]
fn facts_that_were_only_counted_are_told_although_the_store_is_broken() {
    let mut tale = Scenario::new(Reads::Granted);
    let settings = Settings { max_facts_per_minute: 1, ..tale.first.clone() };
    tale.state.apply(&Event::SettingsChanged { settings: Arc::new(settings) });
    let clock = Arc::new(ManualClock::at(tale.now));
    let mut engine = Observed::new(CommitQueue::stored_in(Arc::new(MemoryStore::new()), tale.state.clone(), 0), &clock);
    let refused = || {
        let (from, grant) = ("b".parse().unwrap(), GrantId::new(u64::MAX));
        let command = Command::Revoke { grant, by: Actor::Agent(from), owner: None, reason: None };
        assert!(engine.shared.execute_own(command).at_once().is_err());
    };
    (0..4).for_each(|_| refused());
    engine.shared.failed(StoreError::new(StoreFault::Broken, "gone"));
    let due = engine.shared.lock().unwrap().due.expect("a number that is not told yet");
    clock.advance(tale.now.until(due));
    // What is due is told before the command, which then has nothing to tell.
    assert_eq!(engine.shared.execute_own(Command::Tick).at_once().unwrap(), []);
    assert_eq!(engine.hear().last().map(|recorded| recorded.event.kind()), Some("facts.merged"));
    assert_ne!(engine.shared.lock().unwrap().due, Some(due));
}
