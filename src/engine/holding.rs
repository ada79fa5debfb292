//! What somebody starts with.

use crate::model::{Hold, Permission, PermissionSet};

/// What a new agent starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    pub(super) permissions: Vec<(Permission, Hold)>,
}

impl Holding {
    /// Nothing.
    pub fn nothing() -> Holding {
        Holding::default()
    }

    /// These, for using and for passing on.
    pub fn of(permissions: impl IntoIterator<Item = Permission>) -> Holding {
        Holding::nothing().and(permissions, Hold::Use)
    }

    /// These besides, for passing on and nothing else (`grant_only`).
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
