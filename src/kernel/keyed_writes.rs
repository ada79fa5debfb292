//! Writes that happen once, however often a client sends them: each has a key, and its steps are remembered with it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{Carried, Command, Meter, Refusal, State};
use crate::model::{Event, KeyedWrite, Timestamp, WriteKey};

/// The time for which a key is remembered, by the times of the records.
const REMEMBERED_FOR: Duration = Duration::from_secs(600);

/// The most steps of one client that are remembered. The oldest is forgotten first.
const MAX_STEPS_PER_CALLER: usize = 256;

/// The write that a command is a part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurrentWrite<'k> {
    pub(crate) key: &'k WriteKey,
    /// The number that the first event of this step gets.
    pub(crate) first: u64,
    /// The first event of the write, if earlier steps of it are part of the same call.
    pub(crate) begun: Option<u64>,
}

/// The recent steps of writes with a key, by client and oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct KeyedWrites(BTreeMap<Arc<str>, VecDeque<Arc<KeyedWrite>>>);

impl KeyedWrites {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Remembers a step, and forgets those that are too old by now.
    pub(super) fn remember(&mut self, step: &Arc<KeyedWrite>) {
        self.0.retain(|_, steps| {
            while steps.front().is_some_and(|old| old.at.after(REMEMBERED_FOR) <= step.at) {
                steps.pop_front();
            }
            !steps.is_empty()
        });
        let own = self.0.entry(Arc::clone(&step.caller)).or_default();
        if own.len() == MAX_STEPS_PER_CALLER {
            own.pop_front();
        }
        own.push_back(Arc::clone(step));
    }

    /// Returns the steps of the write with this key, oldest first.
    fn steps<'s>(&'s self, key: &'s WriteKey, now: Timestamp) -> impl Iterator<Item = &'s Arc<KeyedWrite>> {
        let own = self.0.get(&key.caller).into_iter().flatten();
        own.filter(move |step| step.has_key(key) && now < step.at.after(REMEMBERED_FOR))
    }
}

impl State {
    /// Returns the steps of the write with this key that are remembered, oldest first.
    pub(crate) fn keyed_steps(&self, key: &WriteKey, now: Timestamp) -> Vec<Arc<KeyedWrite>> {
        self.keyed_writes.steps(key, now).cloned().collect()
    }

    /// Carries out a command that is a part of `write`. The key is remembered in the same step as the effect. A write
    /// whose key was used before is refused.
    pub(crate) fn carry_out_once(
        &mut self,
        write: Option<CurrentWrite<'_>>,
        command: Command,
        meter: &mut Meter,
        now: Timestamp,
    ) -> Carried {
        let Some(CurrentWrite { key, first, begun }) = write else { return self.carry_out(command, meter, now) };
        let before = self.keyed_writes.steps(key, now).next();
        if let Some(before) = before.filter(|before| before.request != key.request || begun != Some(before.first)) {
            return Carried { recorded: Vec::new(), answer: Err(Refusal::WrittenBefore(Arc::clone(before))) };
        }
        let mut carried = self.carry_out(command, meter, now);
        if carried.answer.is_ok() && !carried.recorded.is_empty() {
            let WriteKey { caller, key, request } = key.clone();
            let event = Event::WriteKeyed { write: Arc::new(KeyedWrite { caller, key, request, first, at: now }) };
            self.apply(&event);
            carried.recorded.push(event);
        }
        carried
    }
}
