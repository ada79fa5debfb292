//! The sender of a command, and the write with a key that the command is a part of.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    kernel::CurrentWrite,
    model::{Means, WriteKey},
};

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
    /// Creates the write with this key. Its steps before, if there are any, began with event `begun`.
    pub(super) fn new(key: WriteKey, begun: Option<u64>) -> OpenWrite {
        OpenWrite { key, begun: AtomicU64::new(begun.unwrap_or_default()) }
    }

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
