//! Where one agent's rights are published: swapped whole, read without waiting.

use arc_swap::ArcSwapAny;

use crate::kernel::{Check, Rights, check, extend};
use crate::model::{Grant, Timestamp, Want};

/// What everybody who asks about one agent reads. Only the writer swaps it.
#[derive(Debug)]
pub(super) struct Cell(ArcSwapAny<Rights>);

impl Cell {
    pub(super) fn new(rights: Rights) -> Cell {
        Cell(ArcSwapAny::new(rights))
    }

    pub(super) fn publish(&self, rights: Rights) {
        self.0.store(rights);
    }

    /// Publishes one grant more, if what is there can simply be extended.
    pub(super) fn publish_more(&self, grant: &Grant, scratch: &mut Vec<u8>) -> bool {
        let more = extend(&self.0.load(), grant, scratch);
        more.map(|rights| self.0.store(rights)).is_some()
    }

    #[inline]
    pub(super) fn check(&self, want: Want<'_>, now: impl Fn() -> Option<Timestamp>) -> Check {
        check(&self.0.load(), want, now)
    }
}

#[cfg(test)]
mod tests;
