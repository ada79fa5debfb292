//! Rights and the disk: what a path really names when a right is given, and whether it still does.

use std::sync::Arc;

use crate::{
    kernel::Broken,
    model::{AgentId, Grant, Permission, Right},
};

use super::{Error, shared::Shared};

impl Shared {
    /// Binds a permission to what its path really names.
    pub(super) fn pin(&self, permission: &Permission) -> Result<Right, Error> {
        match permission {
            Permission::Events | Permission::Network | Permission::Tool(_) => Ok(Right::from(permission.clone())),
            Permission::Path(access, path) => {
                let real = self.paths.real_of(path)?;
                Ok(Right { permission: Permission::Path(*access, real.path), identity: real.identity })
            }
        }
    }

    pub(super) fn pin_all<'p>(
        &self,
        permissions: impl IntoIterator<Item = &'p Permission>,
    ) -> Result<Vec<Right>, Error> {
        let mut rights = Vec::new();
        for permission in permissions {
            let right = self.pin(permission)?;
            // Two names may lead to one thing.
            if !rights.contains(&right) {
                rights.push(right);
            }
        }
        Ok(rights)
    }

    /// Those of `agent`'s grants for `permissions` whose path leads to something else by now.
    ///
    /// Asked before the lock is taken, since the disk may be slow. The permissions are pinned, so there is no link on the
    /// way to any of their paths, nor to the roots above them; what is left to compare is the object.
    pub(super) fn broken<'p>(
        &self,
        agent: &AgentId,
        permissions: impl Iterator<Item = &'p Permission> + Clone,
    ) -> Result<Broken, Error> {
        if permissions.clone().all(|permission| permission.path().is_none()) {
            return Ok(Broken::new());
        }
        let candidates = self.look(|state, _| {
            let held = state.agents.get(agent).map(|agent| agent.held.iter());
            let pinned = held.into_iter().flatten().filter(|grant| grant.right.identity.is_some());
            let covers = |grant: &&Arc<Grant>| permissions.clone().any(|wanted| grant.right.permission.covers(wanted));
            pinned.filter(covers).cloned().collect::<Vec<_>>()
        })?;
        Ok(candidates.iter().filter(|grant| !self.still_leads_there(&grant.right)).map(|grant| grant.id).collect())
    }

    /// Whether the path of a right still names the object that it named when the right was given.
    pub(super) fn still_leads_there(&self, right: &Right) -> bool {
        let (Some(path), Some(identity)) = (right.permission.path(), right.identity) else { return true };
        let real = self.paths.real_of(path);
        real.is_ok_and(|real| real.path == *path && real.identity == Some(identity))
    }
}
