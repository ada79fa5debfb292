//! Commands that are a part of a write with a key: the key is remembered in the same step as the effect.

use std::sync::Arc;

use super::{Carried, Command, Meter, Refusal, State};
use crate::model::{Event, KeyedWrite, Timestamp, WriteKey};

/// The write that a command is a part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurrentWrite<'k> {
    pub(crate) key: &'k WriteKey,
    /// The number that the first event of this step gets.
    pub(crate) first: u64,
    /// The first event of the write, if earlier steps of it are part of the same call.
    pub(crate) begun: Option<u64>,
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
