//! Writes that happen once, however often a client sends them: each has a key, and its steps are remembered with it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::model::{KeyedWrite, Timestamp, WriteKey};

/// The time for which a key is remembered, by the times of the records.
const REMEMBERED_FOR: Duration = Duration::from_secs(600);

/// The most steps of one client that are remembered. The oldest is forgotten first.
const MAX_STEPS_PER_CALLER: usize = 256;

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
    pub(super) fn steps<'s>(&'s self, key: &'s WriteKey, now: Timestamp) -> impl Iterator<Item = &'s Arc<KeyedWrite>> {
        let own = self.0.get(&key.caller).into_iter().flatten();
        own.filter(move |step| step.has_key(key) && now < step.at.after(REMEMBERED_FOR))
    }
}
