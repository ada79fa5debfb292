//! The connection of a handle to its engine. It may belong to one write with a key, and then so does every command that
//! the handle gives.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    kernel::{Command, CurrentWrite},
    model::{AgentId, Means, WriteKey},
};

use super::{agent_slot::AgentSlot, commit_handle::CommitHandle, shared::Shared};

/// The engine of a handle, and the write with a key that the handle carries out.
#[derive(Clone, Debug)]
pub(super) struct EngineLink {
    shared: Arc<Shared>,
    write: Option<Arc<OpenWrite>>,
}

/// A write with a key that is being carried out. It may have several steps.
#[derive(Debug)]
pub(super) struct OpenWrite {
    key: WriteKey,
    /// The number of its first event; 0 before its first step.
    begun: AtomicU64,
}

/// The sender of a command: the means by which it acts, and the write that the command is a part of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommandSource<'s> {
    pub(super) via: Option<&'s Means>,
    pub(super) write: Option<&'s OpenWrite>,
}

impl OpenWrite {
    /// Returns the write for a step whose first event will have the number `first`.
    pub(super) fn step(&self, first: u64) -> CurrentWrite<'_> {
        let begun = Some(self.begun.load(Ordering::Acquire)).filter(|begun| *begun != 0);
        CurrentWrite { key: &self.key, first, begun }
    }

    /// Remembers the first step. The engine calls it under its lock.
    pub(super) fn begin_at(&self, first: u64) {
        // Later steps leave it as it is.
        let _ = self.begun.compare_exchange(0, first, Ordering::AcqRel, Ordering::Acquire);
    }
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
        let write = OpenWrite { key, begun: AtomicU64::new(begun.unwrap_or_default()) };
        EngineLink { shared: Arc::clone(&self.shared), write: Some(Arc::new(write)) }
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
