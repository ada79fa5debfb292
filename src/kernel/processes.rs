//! The running processes in the kernel state.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::model::{AgentId, Event, Process, ProcessEvent, ProcessExit, ProcessId, StopCause};

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Going {
    pub(crate) process: Arc<Process>,
    /// True if the process was ordered to stop and its end has not been observed yet.
    pub(crate) is_stopped: bool,
}

impl Going {
    pub(super) fn stopped(&self, cause: StopCause) -> Event {
        Event::Process(ProcessEvent::Stopped { process: Arc::clone(&self.process), cause })
    }

    pub(super) fn exited(&self, exit: ProcessExit) -> Event {
        Event::Process(ProcessEvent::Exited { process: Arc::clone(&self.process), exit })
    }
}

/// All running processes, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Processes {
    going: BTreeMap<ProcessId, Going>,
    next: u64,
}

#[cfg_attr(not(feature = "sandbox"), allow(dead_code, reason = "only a sandbox starts processes"))]
impl Processes {
    pub(super) fn next(&self) -> ProcessId {
        ProcessId::new(self.next)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    pub(crate) fn get(&self, id: ProcessId) -> Option<&Going> {
        self.going.get(&id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Going> {
        self.going.values()
    }

    pub(super) fn of<'a>(&'a self, agent: &'a AgentId) -> impl Iterator<Item = &'a Going> {
        self.all().filter(move |going| going.process.agent == *agent)
    }

    pub(super) fn apply(&mut self, event: &ProcessEvent) {
        match event {
            ProcessEvent::Started { process } | ProcessEvent::Restarted { process, .. } => {
                self.next = self.next.max(process.id.number().saturating_add(1));
                let going = Going { process: Arc::clone(process), is_stopped: false };
                self.going.insert(process.id, going);
            }
            ProcessEvent::Stopped { process, .. } => {
                if let Some(going) = self.going.get_mut(&process.id) {
                    going.is_stopped = true;
                }
            }
            ProcessEvent::Exited { process, .. } => {
                self.going.remove(&process.id);
            }
        }
    }
}
