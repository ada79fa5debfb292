//! The initial permissions of an agent.

use crate::model::{Hold, Permission, PermissionSet};

/// The initial permissions of a new agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitialGrants {
    pub(super) permissions: Vec<(Permission, Hold)>,
}

impl InitialGrants {
    /// Creates an empty set.
    pub fn nothing() -> InitialGrants {
        InitialGrants::default()
    }

    /// Creates a set of permissions that the agent may use and pass on.
    pub fn of(permissions: impl IntoIterator<Item = Permission>) -> InitialGrants {
        InitialGrants::nothing().and(permissions, Hold::Use)
    }

    /// Adds permissions that the agent may pass on but not use (`grant_only`).
    #[must_use]
    pub fn passing_on(self, permissions: impl IntoIterator<Item = Permission>) -> InitialGrants {
        self.and(permissions, Hold::PassOn)
    }

    fn and(mut self, permissions: impl IntoIterator<Item = Permission>, hold: Hold) -> InitialGrants {
        self.permissions.extend(permissions.into_iter().map(|permission| (permission, hold)));
        self
    }
}

impl From<&PermissionSet> for InitialGrants {
    fn from(set: &PermissionSet) -> InitialGrants {
        InitialGrants::of(set.iter())
    }
}
