//! The initial permissions of an agent.

use crate::model::{Hold, Permission, PermissionSet};

/// The initial permissions of a new agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    pub(super) permissions: Vec<(Permission, Hold)>,
}

impl Holding {
    /// Creates an empty set.
    pub fn nothing() -> Holding {
        Holding::default()
    }

    /// Creates a set of permissions that the agent may use and pass on.
    pub fn of(permissions: impl IntoIterator<Item = Permission>) -> Holding {
        Holding::nothing().and(permissions, Hold::Use)
    }

    /// Adds permissions that the agent may pass on but not use (`grant_only`).
    #[must_use]
    pub fn passing_on(self, permissions: impl IntoIterator<Item = Permission>) -> Holding {
        self.and(permissions, Hold::PassOn)
    }

    fn and(mut self, permissions: impl IntoIterator<Item = Permission>, hold: Hold) -> Holding {
        self.permissions.extend(permissions.into_iter().map(|permission| (permission, hold)));
        self
    }
}

impl From<&PermissionSet> for Holding {
    fn from(set: &PermissionSet) -> Holding {
        Holding::of(set.iter())
    }
}
