//! Where one agent's rights are published: swapped whole, read without waiting.

use arc_swap::ArcSwapAny;

use crate::kernel::{Check, Rights, check};
use crate::model::{Timestamp, Want};

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

    pub(super) fn check(&self, want: Want<'_>, now: impl Fn() -> Option<Timestamp>) -> Check {
        check(&self.0.load(), want, now)
    }
}
