//! The connection of a handle to its engine. It may belong to one write with a key, and then so does every command that
//! the handle gives.

use std::{ops::Deref, sync::Arc};

use crate::{
    kernel::Command,
    model::{AgentId, Means, WriteKey},
};

use super::{
    agent_slot::AgentSlot,
    command_source::{CommandSource, OpenWrite},
    commit_handle::CommitHandle,
    shared::Shared,
};

/// The engine of a handle, and the write with a key that the handle carries out.
#[derive(Clone, Debug)]
pub(super) struct EngineLink {
    shared: Arc<Shared>,
    write: Option<Arc<OpenWrite>>,
}

impl From<Arc<Shared>> for EngineLink {
    fn from(shared: Arc<Shared>) -> EngineLink {
        EngineLink { shared, write: None }
    }
}

impl Deref for EngineLink {
    type Target = Arc<Shared>;

    fn deref(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl EngineLink {
    /// Returns the link for the write with this key. Its steps before, if there are any, began with event `begun`.
    pub(super) fn for_write(&self, key: WriteKey, begun: Option<u64>) -> EngineLink {
        EngineLink { shared: Arc::clone(&self.shared), write: Some(Arc::new(OpenWrite::new(key, begun))) }
    }

    pub(super) fn source<'s>(&'s self, via: Option<&'s Means>) -> CommandSource<'s> {
        CommandSource { via, write: self.write.as_deref() }
    }

    /// Executes a command of the host program or of a person.
    pub(super) fn execute(&self, command: Command) -> CommitHandle {
        self.execute_via(command, None)
    }

    /// Executes a command of a sender who acts by these means.
    pub(super) fn execute_via(&self, command: Command, via: Option<&Means>) -> CommitHandle {
        self.shared.execute_from(command, self.source(via))
    }

    /// Executes a command of an agent, if `cell` still belongs to that agent: another agent may have taken its id.
    pub(super) fn execute_as(
        &self,
        agent: &AgentId,
        cell: &Arc<AgentSlot>,
        via: Option<&Means>,
        command: Command,
    ) -> CommitHandle {
        self.shared.execute_as(agent, cell, self.source(via), command)
    }
}
