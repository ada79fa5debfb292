//! The previous meaning of a policy file: a reload is compared with it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{AgentId, SanitizedPath};

/// Facts that stay valid across reloads, whatever the disk contains then. They only grow: a truncated file contains
/// fewer lines, and a line that returns later must keep its meaning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    /// The real location of each path when it was first accepted.
    pub(super) pins: BTreeMap<SanitizedPath, SanitizedPath>,
    /// The last working directory of each agent.
    pub(super) stands: BTreeMap<AgentId, SanitizedPath>,
    /// Every real location that a protected path has had: its content stays secret.
    pub(super) protected: BTreeMap<SanitizedPath, BTreeSet<SanitizedPath>>,
    /// The settings that were present, by key; those of other tables as `table.key`.
    pub(super) settings: BTreeSet<String>,
    /// The number of tests at the last load.
    pub(super) tests: usize,
}
