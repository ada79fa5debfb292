//! The link between permissions and the disk: the object of a path when a permission is given, and if it is still
//! there.

use crate::{
    kernel::{ResolvedAction, StaleGrants},
    model::{Access, AgentId, FileIdentity, Permission, PinnedPermission, SanitizedPath},
    ports::{PathFailure, Real},
};

use super::{Error, plain_action::invalid, shared::Shared};

/// Creates a permission to the real path, bound to the object there. If the path does not exist, [`Shared::placed`]
/// binds the permission.
pub(super) fn pinned_to(access: Access, real: &Real) -> PinnedPermission {
    PinnedPermission::to(Permission::Path(access, real.path.clone()), real.identity)
}

impl Shared {
    /// Binds a permission to the real path and its object.
    pub(super) fn pin(&self, permission: &Permission) -> Result<PinnedPermission, Error> {
        match permission {
            Permission::Events | Permission::Network | Permission::Tool(_) => {
                Ok(PinnedPermission::from(permission.clone()))
            }
            Permission::Path(access, path) => Ok(self.pinned_in_place(pinned_to(*access, &self.paths.real_of(path)?))?),
        }
    }

    /// Binds a permission whose path does not exist to the deepest existing directory above it.
    fn pinned_in_place(&self, pinned: PinnedPermission) -> Result<PinnedPermission, PathFailure> {
        let Some(path) = pinned.permission.path().filter(|_| pinned.is_unplaced()) else { return Ok(pinned) };
        let anchor = self.paths.anchor(path)?;
        Ok(pinned.anchored(anchor))
    }

    /// Binds all permissions that the action needs to the disk. An agent that holds a permission does not need this, so
    /// the disk is read only when one is missing.
    pub(super) fn placed(&self, mut understood: ResolvedAction) -> ResolvedAction {
        let mut failed = None;
        for pinned in understood.uses.iter_mut().filter_map(|used| used.takes.as_mut()) {
            match self.pinned_in_place(pinned.clone()) {
                Ok(placed) => *pinned = placed,
                Err(why) => failed = Some((pinned.permission.to_string(), why.to_string())),
            }
        }
        let understood = ResolvedAction { placed: true, ..understood };
        match failed {
            Some((permission, why)) => invalid(understood, &permission, &why),
            None => understood,
        }
    }

    pub(super) fn pin_all<'p>(
        &self,
        permissions: impl IntoIterator<Item = &'p Permission>,
    ) -> Result<Vec<PinnedPermission>, Error> {
        let mut all = Vec::new();
        for permission in permissions {
            let pinned = self.pin(permission)?;
            // Two names may lead to the same object.
            if !all.contains(&pinned) {
                all.push(pinned);
            }
        }
        Ok(all)
    }

    /// Returns the stale grants: those whose path leads to another object by now, among the grants that give `agent`
    /// one of `permissions` and the grants they depend on. The kernel ignores a grant that depends on stale grants
    /// alone.
    ///
    /// This runs before the lock is taken, since the disk may be slow. The permissions are pinned, so the way to their
    /// paths and to the roots above has no link. Only the object must be compared.
    pub(super) fn broken<'p>(
        &self,
        agent: &AgentId,
        permissions: impl Iterator<Item = &'p Permission> + Clone,
    ) -> Result<StaleGrants, Error> {
        if permissions.clone().all(|permission| permission.path().is_none()) {
            return Ok(StaleGrants::new());
        }
        let pinned = self.look(|state, _| state.pinned_chains(agent, permissions))?;
        // Most grants of a chain refer to the same object.
        let mut looked: Vec<(&SanitizedPath, FileIdentity, bool)> = Vec::new();
        let mut broken = StaleGrants::new();
        for grant in &pinned {
            let Some((path, identity)) = grant.pinned.pinned_object() else { continue };
            let known = looked.iter().find(|(there, was, _)| *there == path && *was == identity);
            let stands = known.map_or_else(|| self.still_stands(path, identity), |(.., stands)| *stands);
            if known.is_none() {
                looked.push((path, identity, stands));
            }
            if !stands {
                broken.insert(grant.id);
            }
        }
        Ok(broken)
    }

    /// Returns true if a path still names this object.
    fn still_stands(&self, path: &SanitizedPath, identity: FileIdentity) -> bool {
        let real = self.paths.real_of(path);
        real.is_ok_and(|real| real.path == *path && real.identity.is_some_and(|now| identity.is_met_by(now)))
    }
}
