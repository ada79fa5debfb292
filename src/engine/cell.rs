//! What belongs to one agent and to no later one of the same name: its published rights, and its mail.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapAny;

use super::mail;
use crate::kernel::{Check, Rights, check, extend};
use crate::model::{Grant, Timestamp, Want};

/// What everybody who asks about one agent reads, swapped whole and read without waiting. Only the writer swaps it.
#[derive(Debug)]
pub(super) struct Cell {
    rights: ArcSwapAny<Rights>,
    /// Made when somebody writes or reads; most agents of a large engine never do.
    mail: OnceLock<Arc<mail::Box>>,
}

impl Cell {
    pub(super) fn new(rights: Rights) -> Cell {
        Cell { rights: ArcSwapAny::new(rights), mail: OnceLock::new() }
    }

    pub(super) fn publish(&self, rights: Rights) {
        self.rights.store(rights);
    }

    /// Publishes one grant more, if what is there can simply be extended.
    pub(super) fn publish_more(&self, grant: &Grant, scratch: &mut Vec<u8>) -> bool {
        let more = extend(&self.rights.load(), grant, scratch);
        more.map(|rights| self.rights.store(rights)).is_some()
    }

    #[inline]
    pub(super) fn check(&self, want: Want<'_>, now: impl Fn() -> Option<Timestamp>) -> Check {
        check(&self.rights.load(), want, now)
    }

    /// Its agent is gone, or the engine: nothing more reaches it.
    pub(super) fn close_mail(&self) {
        self.mail().close();
    }

    pub(super) fn mail(&self) -> &Arc<mail::Box> {
        self.mail.get_or_init(Arc::default)
    }
}

#[cfg(test)]
mod tests;
