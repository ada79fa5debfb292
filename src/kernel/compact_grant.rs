//! Grants as the state keeps them. They take a fraction of the memory of a [`Grant`].

use std::{ops::Deref, sync::Arc};

use crate::model::{
    AgentId, Anchor, FileIdentity, Grant, GrantId, Hold, Origin, Permission, PinnedPermission, Reason, RunId,
    SanitizedPath, Scope, Timestamp,
};

/// A grant. What it has in common with the grant before is kept once for both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompactGrant {
    pub(crate) id: GrantId,
    pub(crate) pinned: CompactPin,
    pub(crate) since: Timestamp,
    common: Arc<Common>,
}

/// A [`PinnedPermission`]. Most have one of the two objects at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompactPin {
    pub(crate) permission: Permission,
    identity: Option<Box<FileIdentity>>,
    anchor: Option<Box<Anchor>>,
}

/// The part of a grant that is usually the same for all grants of one step to one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    pub(crate) to: AgentId,
    pub(crate) hold: Hold,
    pub(crate) origin: Origin,
    pub(crate) reason: Option<Reason>,
    pub(crate) scope: Scope,
    pub(crate) run: Option<RunId>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) depth: u8,
}

impl Deref for CompactGrant {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

impl CompactGrant {
    /// Returns the compact form of `grant`. It shares what it has in common with `before`.
    pub(crate) fn new(grant: &Grant, before: Option<&CompactGrant>) -> CompactGrant {
        let shared = before.map(|before| &before.common).filter(|common| common.is_of(grant));
        let common = shared.map_or_else(|| Arc::new(Common::of(grant)), Arc::clone);
        CompactGrant { id: grant.id, pinned: CompactPin::of(&grant.pinned), since: grant.since, common }
    }

    /// Returns the grant as events and callers see it.
    pub(crate) fn whole(&self) -> Arc<Grant> {
        Arc::new(self.to_grant())
    }

    pub(super) fn to_grant(&self) -> Grant {
        let Common { to, hold, origin, reason, scope, run, until, depth } = Common::clone(&self.common);
        let (id, pinned, since) = (self.id, self.pinned.to_pinned(), self.since);
        Grant { id, to, pinned, hold, origin, reason, scope, run, since, until, depth }
    }

    /// Returns true if the grant is still valid at `now`: see [`Grant::is_live`].
    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Common {
    fn of(grant: &Grant) -> Common {
        let Grant { id: _, to, pinned: _, hold, origin, reason, scope, run, since: _, until, depth } = grant;
        let (to, origin, reason, run) = (to.clone(), origin.clone(), reason.clone(), run.clone());
        Common { to, hold: *hold, origin, reason, scope: *scope, run, until: *until, depth: *depth }
    }

    fn is_of(&self, grant: &Grant) -> bool {
        let Common { to, hold, origin, reason, scope, run, until, depth } = self;
        (hold, scope, until, depth) == (&grant.hold, &grant.scope, &grant.until, &grant.depth)
            && (to, origin, reason, run) == (&grant.to, &grant.origin, &grant.reason, &grant.run)
    }
}

impl PartialEq<PinnedPermission> for CompactPin {
    fn eq(&self, other: &PinnedPermission) -> bool {
        let PinnedPermission { permission, identity, anchor } = other;
        self.permission == *permission
            && self.identity.as_deref() == identity.as_ref()
            && self.anchor.as_deref() == anchor.as_ref()
    }
}

impl CompactPin {
    fn of(pinned: &PinnedPermission) -> CompactPin {
        let PinnedPermission { permission, identity, anchor } = pinned;
        let (identity, anchor) = (identity.map(Box::new), anchor.clone().map(Box::new));
        CompactPin { permission: permission.clone(), identity, anchor }
    }

    fn to_pinned(&self) -> PinnedPermission {
        let identity = self.identity.as_deref().copied();
        PinnedPermission::to(self.permission.clone(), identity).anchored(self.anchor.as_deref().cloned())
    }

    /// Returns the path and the identity that must still match: see [`PinnedPermission::pinned_object`].
    pub(crate) fn pinned_object(&self) -> Option<(&SanitizedPath, FileIdentity)> {
        let own = || Some((self.permission.path()?, **self.identity.as_ref()?));
        own().or_else(|| self.anchor.as_deref().map(|anchor| (&anchor.path, anchor.identity)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Place;

    fn grant(id: u64, line: u32) -> Grant {
        let path = |text: &str| text.parse::<SanitizedPath>().unwrap();
        let permission = Permission::write(path("/w/a"));
        let anchor = Anchor::new(path("/w"), FileIdentity::new(1, 2).born(3, 4));
        Grant {
            id: GrantId::new(id),
            to: "a".parse().unwrap(),
            pinned: PinnedPermission::to(permission, Some(FileIdentity::new(5, 6))).anchored(Some(anchor)),
            hold: Hold::PassOn,
            origin: Origin::Config(Place { file: "f".into(), line }),
            reason: Some("to test".parse().unwrap()),
            scope: Scope::Session,
            run: Some("r".parse().unwrap()),
            since: Timestamp::from_millis(7),
            until: Some(Timestamp::from_millis(8)),
            depth: 9,
        }
    }

    #[test]
    fn a_compact_grant_tells_the_whole_grant_and_shares_what_is_equal() {
        let (first, second, other) = (grant(1, 1), grant(2, 1), grant(3, 2));
        let one = CompactGrant::new(&first, None);
        let two = CompactGrant::new(&second, Some(&one));
        let three = CompactGrant::new(&other, Some(&two));
        assert_eq!([one.to_grant(), two.to_grant(), three.to_grant()], [first.clone(), second, other]);
        assert!(Arc::ptr_eq(&one.common, &two.common) && !Arc::ptr_eq(&two.common, &three.common));
        assert!(one.pinned == first.pinned && one.pinned != PinnedPermission::from(Permission::Network));
        assert_eq!(one.pinned.pinned_object(), first.pinned.pinned_object());
    }
}
