//! What a file meant when it was understood before: a reload is measured against it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{AgentId, SanitizedPath};

/// What stays, whatever the disk says at the next reload. It only grows: a file that is cut off says less, and what
/// it says again a moment later must mean what it meant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    /// Where each path led when it was first taken.
    pub(super) pins: BTreeMap<SanitizedPath, SanitizedPath>,
    /// Where each agent stood last.
    pub(super) stands: BTreeMap<AgentId, SanitizedPath>,
    /// Everywhere a protected path has led: what was a secret under it is one still.
    pub(super) protected: BTreeMap<SanitizedPath, BTreeSet<SanitizedPath>>,
    /// The settings that were written down, by key; those of other tables as `table.key`.
    pub(super) settings: BTreeSet<String>,
    /// How many tests it was tried with last.
    pub(super) tests: usize,
}
