//! The grants that one agent holds.

use std::{hash::BuildHasher, iter, ops::Deref, slice, sync::Arc};

use foldhash::fast::FixedState;

use super::compact_grant::CompactGrant;
use crate::model::{AgentId, GrantId, Hold, Origin, Permission};

/// The grants of one agent, oldest first, with the facts that each new grant is compared with. Those are kept beside
/// the grants, because reading every grant of an agent takes longer than the rest of a gift.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldGrants {
    all: Vec<Arc<CompactGrant>>,
    /// The fingerprint of the permission of each grant, without its access.
    prints: Vec<u32>,
    /// The number of grants from each agent, ordered by agent.
    givers: Vec<(AgentId, usize)>,
    /// The number of grants for passing on only.
    kept_back: usize,
}

impl Deref for HeldGrants {
    type Target = [Arc<CompactGrant>];

    fn deref(&self) -> &[Arc<CompactGrant>] {
        &self.all
    }
}

impl<'h> IntoIterator for &'h HeldGrants {
    type Item = &'h Arc<CompactGrant>;
    type IntoIter = slice::Iter<'h, Arc<CompactGrant>>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

impl HeldGrants {
    /// Adds a grant.
    pub(super) fn add(&mut self, grant: &Arc<CompactGrant>) {
        let is_newest = self.all.last().is_none_or(|last| last.id < grant.id);
        let place = if is_newest { self.all.len() } else { self.place(grant.id).unwrap_or_else(|place| place) };
        self.all.insert(place, Arc::clone(grant));
        self.prints.insert(place, print(&grant.pinned.permission));
        self.kept_back += usize::from(grant.hold == Hold::PassOn);
        let Some(from) = giver(&grant.origin) else { return };
        match self.giver(from) {
            Ok(place) => self.givers.get_mut(place).into_iter().for_each(|(_, count)| *count += 1),
            Err(place) => self.givers.insert(place, (from.clone(), 1)),
        }
    }

    /// Removes a grant.
    pub(super) fn remove(&mut self, id: GrantId) {
        let Ok(place) = self.place(id) else { return };
        let grant = self.all.remove(place);
        self.prints.remove(place);
        self.kept_back -= usize::from(grant.hold == Hold::PassOn);
        let Some(from) = giver(&grant.origin) else { return };
        let Ok(place) = self.giver(from) else { return };
        match self.givers.get_mut(place) {
            Some((_, count)) if *count > 1 => *count -= 1,
            Some(_) | None => drop(self.givers.remove(place)),
        }
    }

    /// Returns the place of the count of `from`, or the place where it would be.
    fn giver(&self, from: &AgentId) -> Result<usize, usize> {
        self.givers.binary_search_by(|(giver, _)| giver.cmp(from))
    }

    /// Returns the place of the grant `id`, or the place where it would be.
    fn place(&self, id: GrantId) -> Result<usize, usize> {
        self.all.binary_search_by_key(&id, |held| held.id)
    }

    /// Returns the number of grants that `from` gave.
    pub(super) fn given_by(&self, from: &AgentId) -> usize {
        self.giver(from).ok().and_then(|place| self.givers.get(place)).map_or(0, |(_, count)| *count)
    }

    /// Returns the number of grants that no agent gave.
    pub(super) fn given_by_people(&self) -> usize {
        self.all.len() - self.givers.iter().map(|(_, count)| count).sum::<usize>()
    }

    /// Returns true if some grants are for passing on only.
    pub(super) fn has_kept_back(&self) -> bool {
        self.kept_back > 0
    }

    /// Returns all grants for the path or the capability of `permission`, and few others.
    pub(crate) fn alike(&self, permission: &Permission) -> impl Iterator<Item = &Arc<CompactGrant>> + use<'_> {
        let print = print(permission);
        iter::zip(&self.prints, &self.all).filter(move |(other, _)| **other == print).map(|(_, grant)| grant)
    }
}

/// Returns the agent that gave a grant, if an agent gave it.
pub(super) fn giver(origin: &Origin) -> Option<&AgentId> {
    match origin {
        Origin::Agent { from } => Some(from),
        Origin::Config(_) | Origin::Operator | Origin::Person { .. } => None,
    }
}

/// Returns a fingerprint of a permission without its access.
fn print(permission: &Permission) -> u32 {
    let text = match permission {
        Permission::Path(_, path) => path.as_str(),
        Permission::Tool(name) => name.as_str(),
        Permission::Network => "@network",
        Permission::Events => "@events",
    };
    // The upper half of the hash is left out.
    FixedState::default().hash_one(text) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Grant, PinnedPermission, Scope, Timestamp};

    fn grant(id: u64, permission: &str, from: Option<&str>, hold: Hold) -> Arc<CompactGrant> {
        let origin = from.map_or(Origin::Operator, |from| Origin::Agent { from: from.parse().unwrap() });
        let since = Timestamp::from_millis(0);
        let pinned = PinnedPermission::from(permission.parse::<Permission>().unwrap());
        let (id, to) = (GrantId::new(id), "a".parse().unwrap());
        let (reason, run, until) = (None, None, None);
        let grant = Grant { id, to, pinned, hold, origin, reason, scope: Scope::Always, run, since, until, depth: 0 };
        Arc::new(CompactGrant::new(&grant, None))
    }

    #[test]
    fn what_is_kept_beside_the_grants_is_what_looking_at_each_grant_tells() {
        let permissions = ["@write:/w", "@read:/w", "@read:/w/a", "@network", "@events"];
        let givers = [None, Some("b"), Some("c"), Some("d")];
        let holds = [Hold::Use, Hold::Use, Hold::PassOn];
        let all: Vec<_> = (0..60_usize)
            .map(|number| grant(number as u64 * 7 % 60, permissions[number % 5], givers[number % 4], holds[number % 3]))
            .collect();
        let mut held = HeldGrants::default();
        let agrees = |held: &HeldGrants| {
            assert!(held.windows(2).all(|two| two[0].id < two[1].id), "oldest first");
            let count =
                |of: Option<&str>| held.iter().filter(|grant| giver(&grant.origin).map(AgentId::as_str) == of).count();
            assert_eq!(held.given_by_people(), count(None));
            for from in ["b", "c", "d", "e"] {
                assert_eq!(held.given_by(&from.parse().unwrap()), count(Some(from)), "{from}");
            }
            assert_eq!(held.has_kept_back(), held.iter().any(|grant| grant.hold == Hold::PassOn));
            for permission in permissions.map(|text| text.parse::<Permission>().unwrap()) {
                let same = |other: &Permission| match permission.path() {
                    Some(path) => other.path() == Some(path),
                    None => *other == permission,
                };
                let expected = held.iter().filter(|grant| same(&grant.pinned.permission)).count();
                assert_eq!(held.alike(&permission).filter(|grant| same(&grant.pinned.permission)).count(), expected);
            }
        };
        for grant in &all {
            held.add(grant);
            agrees(&held);
        }
        for grant in all.iter().rev() {
            held.remove(grant.id);
            held.remove(grant.id);
            agrees(&held);
        }
        assert_eq!(held, HeldGrants::default());
    }
}
