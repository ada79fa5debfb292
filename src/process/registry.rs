//! All processes of one engine: the running ones, and the latest ones that ended.

use std::{
    any::Any,
    collections::BTreeMap,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::entry::{Entry, Word};
use crate::{
    engine::Outside,
    model::{AgentId, Event, Process, ProcessEvent, ProcessId},
};
#[cfg(feature = "journal")]
use crate::{
    engine::process_order::{ProcessOrder, Processed, Unprocessed},
    engine::{Agent, Engine},
};

/// The number of ended processes of one agent that can still be read and restarted.
const ENDED: usize = 16;

/// All processes of one engine.
#[derive(Debug, Default)]
pub(super) struct Registry {
    entries: Mutex<BTreeMap<ProcessId, (AgentId, Arc<Entry>)>>,
    running: Arc<Running>,
    /// The sandbox for processes that are ordered on the command line, if the host program set one.
    #[cfg(feature = "journal")]
    sandbox: std::sync::OnceLock<crate::sandbox::Sandbox>,
    /// The number of changes to the rules that apply to agents.
    generation: AtomicU64,
}

/// The number of supervisors.
#[derive(Debug, Default)]
struct Running {
    count: Mutex<usize>,
    fewer: Condvar,
}

/// A token that counts one supervisor for its lifetime.
#[derive(Debug)]
pub(super) struct Seat(Arc<Running>);

impl Drop for Seat {
    fn drop(&mut self) {
        let mut count = self.0.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_sub(1);
        self.0.fewer.notify_all();
    }
}

impl Registry {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<ProcessId, (AgentId, Arc<Entry>)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of changes to the rules that apply to agents.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Counts one more supervisor.
    pub(super) fn seat(&self) -> Seat {
        *self.running.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Seat(Arc::clone(&self.running))
    }

    /// Registers `entry` as the process `process`. Removes the oldest ended processes of its agent if there are too
    /// many.
    pub(super) fn take(&self, process: &Process, entry: &Arc<Entry>) {
        let mut entries = self.entries();
        let before = entries.insert(process.id, (process.agent.clone(), Arc::clone(entry)));
        // An earlier step that was not stored may have used this id. Its process is ended.
        if let Some((_, other)) = before.filter(|(_, other)| !Arc::ptr_eq(other, entry)) {
            other.tell(Word::End(Duration::ZERO));
        }
        let ended = |(id, (agent, entry)): (&ProcessId, &(AgentId, Arc<Entry>))| {
            (*agent == process.agent && entry.exit().is_some()).then_some(*id)
        };
        let ended: Vec<_> = entries.iter().filter_map(ended).collect();
        for old in ended.iter().take(ended.len().saturating_sub(ENDED)) {
            entries.remove(old);
        }
    }

    /// Removes `entry`, as if it had never been registered.
    pub(super) fn let_go(&self, id: ProcessId, entry: &Arc<Entry>) {
        let mut entries = self.entries();
        if entries.get(&id).is_some_and(|(_, there)| Arc::ptr_eq(there, entry)) {
            entries.remove(&id);
        }
    }

    /// Returns the process with this id, if it belongs to `agent`.
    pub(super) fn get(&self, id: ProcessId, agent: &AgentId) -> Option<Arc<Entry>> {
        self.entries().get(&id).filter(|(whose, _)| whose == agent).map(|(_, entry)| Arc::clone(entry))
    }

    /// Returns the processes of `agent`.
    pub(super) fn of(&self, agent: &AgentId) -> Vec<Arc<Entry>> {
        self.entries().values().filter(|(whose, _)| whose == agent).map(|(_, entry)| Arc::clone(entry)).collect()
    }

    fn tell_all(&self, word: Word) {
        self.entries().values().for_each(|(_, entry)| entry.tell(word));
    }
}

#[cfg(feature = "journal")]
impl Engine {
    /// Sets the sandbox for processes that are ordered on the command line (`bestow process start`). Without this call
    /// it is the one that [`Sandbox::find`](crate::sandbox::Sandbox::find) finds. Only the first call has an effect.
    pub fn confine_processes_in(&self, sandbox: crate::sandbox::Sandbox) {
        if let Some(registry) = self.outside::<Registry>() {
            // A sandbox that is already set stays.
            let _ = registry.sandbox.set(sandbox);
        }
    }
}

/// Returns the agent of a process, among the running ones and the latest ones that ended.
#[cfg(feature = "journal")]
pub(crate) fn whose(engine: &Engine, id: ProcessId) -> Option<AgentId> {
    engine.outside::<Registry>()?.entries().get(&id).map(|(agent, _)| agent.clone())
}

/// Carries out an order of `by` as `agent`, for the host program.
#[cfg(feature = "journal")]
pub(crate) async fn carry_out_for(
    engine: &Engine,
    agent: &Agent,
    order: ProcessOrder,
    by: crate::model::Actor,
) -> Result<Processed, Unprocessed> {
    let chosen = engine.outside::<Registry>().and_then(|registry| registry.sandbox.get().cloned());
    let sandbox = match chosen {
        Some(sandbox) => sandbox,
        None => crate::sandbox::Sandbox::find()?,
    };
    super::ordered::carry_out(&sandbox, agent, order, by).await
}

impl Outside for Registry {
    fn hear(&self, events: &[Event]) {
        let mut review = false;
        for event in events {
            if let Event::Process(ProcessEvent::Stopped { process, cause }) = event
                && let Some((_, entry)) = self.entries().get(&process.id)
            {
                entry.tell(Word::End(cause.grace()));
            }
            if let Event::AgentRetired { agent } = event {
                let mut entries = self.entries();
                entries.values().filter(|(whose, _)| whose == agent).for_each(|(_, entry)| {
                    entry.tell(Word::End(Duration::ZERO));
                });
                entries.retain(|_, (whose, _)| whose != agent);
            }
            review |= may_deny(event);
        }
        if review {
            self.generation.fetch_add(1, Ordering::AcqRel);
            self.tell_all(Word::Review);
        }
    }

    fn end(&self) {
        self.tell_all(Word::End(Duration::ZERO));
    }

    fn wait(&self) {
        let mut count = self.running.count.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            count = self.running.fewer.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Returns true if an action that was allowed before may be denied after this event.
fn may_deny(event: &Event) -> bool {
    matches!(
        event,
        Event::AgentChanged { .. }
            | Event::ModeChanged { .. }
            | Event::PolicyForAll { .. }
            | Event::PolicyUpdated { .. }
            | Event::RulesChanged { .. }
            | Event::RulingMade { .. }
            | Event::SettingsChanged { .. }
    )
}
