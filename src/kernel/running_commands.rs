//! The running commands in the kernel state. A command that has no end when its engine starts again ended with it.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::model::{AgentId, Cause, CommandId, Event, ProcessExit};

/// A running command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Running {
    agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Arc<Cause>>,
}

/// All running commands, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunningCommands {
    running: BTreeMap<CommandId, Running>,
    next: u64,
}

impl RunningCommands {
    /// Returns true if no command has run.
    pub(super) fn is_new(&self) -> bool {
        *self == RunningCommands::default()
    }

    #[cfg(feature = "sandbox")]
    pub(super) fn next(&self) -> CommandId {
        CommandId::new(self.next)
    }

    /// Returns the end of a command. The end of an unknown command was recorded earlier.
    pub(super) fn ended(&self, command: CommandId, exit: ProcessExit) -> Option<Event> {
        let Running { agent, cause } = self.running.get(&command)?.clone();
        Some(Event::SandboxEnded { agent, command, exit, cause })
    }

    /// Returns the ends of the commands of an earlier engine. None of them is still running.
    pub(super) fn of_before(&self) -> impl Iterator<Item = Event> + '_ {
        self.running.keys().filter_map(|command| self.ended(*command, ProcessExit::WithEngine))
    }

    pub(super) fn begin(&mut self, agent: &AgentId, command: Option<CommandId>, cause: Option<&Arc<Cause>>) {
        let Some(command) = command else { return };
        self.next = self.next.max(command.number().saturating_add(1));
        self.running.insert(command, Running { agent: agent.clone(), cause: cause.cloned() });
    }

    pub(super) fn end(&mut self, command: CommandId) {
        self.running.remove(&command);
    }
}
