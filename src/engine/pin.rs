//! Rights and the disk: what a path really names when a right is given, and whether it still does.

use crate::{
    kernel::{Broken, Considered},
    model::{Access, AgentId, FileIdentity, Permission, Right, SanitizedPath},
    seam::{PathFailure, Real},
};

use super::{Error, consider::invalid, shared::Shared};

/// The right to use what a path really names, bound to the object there. Where there is none, [`Shared::placed`] binds it.
pub(super) fn right_to(access: Access, real: &Real) -> Right {
    Right::to(Permission::Path(access, real.path.clone()), real.identity)
}

impl Shared {
    /// Binds a permission to what its path really names.
    pub(super) fn pin(&self, permission: &Permission) -> Result<Right, Error> {
        match permission {
            Permission::Events | Permission::Network | Permission::Tool(_) => Ok(Right::from(permission.clone())),
            Permission::Path(access, path) => Ok(self.right_in_place(right_to(*access, &self.paths.real_of(path)?))?),
        }
    }

    /// The right, bound to the deepest directory on the way to its path if nothing stands there.
    fn right_in_place(&self, right: Right) -> Result<Right, PathFailure> {
        let Some(path) = right.permission.path().filter(|_| right.is_unplaced()) else { return Ok(right) };
        let anchor = self.paths.anchor(path)?;
        Ok(right.anchored(anchor))
    }

    /// The action, with all rights that it takes bound to the disk. Who holds a right already needs none of that, so it is
    /// not looked up before somebody does not.
    pub(super) fn placed(&self, mut understood: Considered) -> Considered {
        let mut failed = None;
        for right in understood.uses.iter_mut().filter_map(|used| used.takes.as_mut()) {
            match self.right_in_place(right.clone()) {
                Ok(placed) => *right = placed,
                Err(why) => failed = Some((right.permission.to_string(), why.to_string())),
            }
        }
        let understood = Considered { placed: true, ..understood };
        match failed {
            Some((permission, why)) => invalid(understood, &permission, &why),
            None => understood,
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

    /// Those grants by which `agent` may have `permissions`, or on which such a grant may rest, whose path leads to
    /// something else by now. What rests on one of them only does not count: the kernel follows the chains.
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
        let pinned = self.look(|state, _| state.pinned_chains(agent, permissions))?;
        // Most links of a chain hang on one object.
        let mut looked: Vec<(&SanitizedPath, FileIdentity, bool)> = Vec::new();
        let mut broken = Broken::new();
        for grant in &pinned {
            let Some((path, identity)) = grant.right.pinned() else { continue };
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

    /// True if a path still names this object.
    fn still_stands(&self, path: &SanitizedPath, identity: FileIdentity) -> bool {
        let real = self.paths.real_of(path);
        real.is_ok_and(|real| real.path == *path && real.identity.is_some_and(|now| identity.is_met_by(now)))
    }
}
