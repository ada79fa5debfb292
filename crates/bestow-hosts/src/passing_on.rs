//! The permissions that a session or subagent begins with.

use bestow::{
    Agent, Error, Permission,
    decision::Refusal,
    grant::{Hold, Origin, PermissionSet, Reads, Scope},
};

/// Returns the permissions that a session has from its host, and still holds. What a person gave to the session is not
/// for its subagents.
pub(crate) fn begun_with(session: &Agent, host: &Agent) -> Result<PermissionSet, Error> {
    let of_host = |origin: &Origin| matches!(origin, Origin::Agent { from } if from == host.id());
    let mut set = PermissionSet::empty(session.profile()?.working_dir.clone());
    for grant in session.grants()? {
        if of_host(&grant.origin) && grant.hold == Hold::Use && grant.scope != Scope::Once {
            set.insert(grant.pinned.permission.clone());
        }
    }
    Ok(set)
}

/// Returns the permission that an agent cannot pass on, if that is the reason for a refusal.
pub(crate) fn not_passed_on(why: &Error) -> Option<&Permission> {
    if let Error::Replaced { permission, .. } = why {
        return Some(permission);
    }
    let Error::Refused(refusal) = why else { return None };
    if let Refusal::NotHeld { permission, .. }
    | Refusal::HeldOnce { permission, .. }
    | Refusal::Protected(permission)
    | Refusal::Governs(permission)
    | Refusal::Sensitive { permission, .. }
    | Refusal::TooDeep { permission, .. } = refusal
    {
        return Some(permission);
    }
    None
}

/// Returns the permissions that both sets cover. That every agent may read is no permission of a set.
pub(crate) fn shared(one: &PermissionSet, other: &PermissionSet) -> Vec<Permission> {
    let of = |from: &PermissionSet, within: &PermissionSet| -> Vec<Permission> {
        let readable = |permission: &Permission| match permission {
            Permission::Path(_, path) => Some(Permission::read(path.clone())),
            Permission::Network | Permission::Events | Permission::Tool(_) => None,
        };
        let all = from.iter().flat_map(|permission| readable(&permission).into_iter().chain([permission]));
        all.filter(|permission| within.covers(permission, Reads::Granted)).collect()
    };
    let mut both = of(one, other);
    for permission in of(other, one) {
        if !both.contains(&permission) {
            both.push(permission);
        }
    }
    both
}
