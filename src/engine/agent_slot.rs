//! The parts of one agent that no later agent of the same name inherits: its published permissions and its mail.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapAny;

use super::inbox;
use crate::kernel::{Check, CompactGrant, CompiledPermissions, HeldGrants, check, extend, revise};
use crate::model::{Permission, PermissionRef, Timestamp};

/// The published permissions and the mail of one agent. Readers take a snapshot without waiting; only the writer
/// replaces it.
#[derive(Debug)]
pub(super) struct AgentSlot {
    compiled: ArcSwapAny<CompiledPermissions>,
    /// Created on first use, since most agents of a large engine never get mail.
    mail: OnceLock<Arc<inbox::Box>>,
}

impl AgentSlot {
    pub(super) fn new(compiled: CompiledPermissions) -> AgentSlot {
        AgentSlot { compiled: ArcSwapAny::new(compiled), mail: OnceLock::new() }
    }

    pub(super) fn publish(&self, compiled: CompiledPermissions) {
        self.compiled.store(compiled);
    }

    /// Publishes one more grant, if its root is new. Returns false if other grants have to be looked at.
    pub(super) fn publish_more(&self, grant: &CompactGrant, scratch: &mut Vec<u8>) -> bool {
        let more = extend(&self.compiled.load(), grant, scratch);
        more.map(|compiled| self.compiled.store(compiled)).is_some()
    }

    /// Publishes the changes of the grants for `permissions`, all at once. `held` contains all grants of the agent.
    /// Returns false if they have to be compiled.
    pub(super) fn publish_changes(
        &self,
        held: &HeldGrants,
        permissions: &[&Permission],
        scratch: &mut Vec<u8>,
    ) -> bool {
        let before = self.compiled.load_full();
        let mut permissions = permissions.iter();
        let changed =
            permissions.try_fold(before, |compiled, changed| revise(&compiled, held.alike(changed), changed, scratch));
        changed.map(|compiled| self.compiled.store(compiled)).is_some()
    }

    #[inline]
    pub(super) fn check(&self, want: PermissionRef<'_>, now: impl Fn() -> Option<Timestamp>) -> Check {
        check(&self.compiled.load(), want, now)
    }

    /// Closes the mailbox, because the agent or the engine is gone.
    pub(super) fn close_mail(&self) {
        self.mail().close();
    }

    pub(super) fn mail(&self) -> &Arc<inbox::Box> {
        self.mail.get_or_init(Arc::default)
    }
}

#[cfg(test)]
mod tests;
