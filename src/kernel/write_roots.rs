//! An index of the write grants by path.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use super::compact_grant::CompactGrant;
use crate::model::{Access, GrantId, Permission, SanitizedPath};

/// All write grants, indexed by path. The index is derived from the grants and changes with them.
///
/// A lookup takes time proportional to the depth of the path, and not to the number of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteRoots {
    roots: BTreeMap<Root, Writers>,
    /// True if nothing is added: see [`WriteRoots::off`].
    is_off: bool,
}

/// A path that is found by its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Root(SanitizedPath);

impl Borrow<str> for Root {
    fn borrow(&self) -> &str {
        self.0.as_str()
    }
}

/// The grants for one path. Most paths have one grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Writers {
    One(GrantId),
    #[expect(clippy::box_collection, reason = "most entries are `One`, and a pointer makes them smaller")]
    Several(Box<BTreeSet<GrantId>>),
}

impl Writers {
    pub(super) fn iter(&self) -> impl Iterator<Item = &GrantId> {
        let (one, several) = match self {
            Writers::One(id) => (Some(id), None),
            Writers::Several(all) => (None, Some(&**all)),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }
}

fn write_root(grant: &CompactGrant) -> Option<&SanitizedPath> {
    match &grant.pinned.permission {
        Permission::Path(Access::Write, root) => Some(root),
        Permission::Path(Access::Read, _) | Permission::Network | Permission::Events | Permission::Tool(_) => None,
    }
}

impl WriteRoots {
    /// Returns the index of `grants`. It is more compact than one that grew.
    #[cfg(any(feature = "journal", all(test, feature = "property-tests")))]
    pub(super) fn of<'g>(grants: impl Iterator<Item = &'g CompactGrant>) -> WriteRoots {
        let mut roots: Vec<_> = grants.filter_map(|grant| Some((Root(write_root(grant)?.clone()), grant.id))).collect();
        roots.sort_unstable();
        let writers = roots.chunk_by(|(one, _), (other, _)| one == other).filter_map(|same| match same {
            [] => None,
            [(root, id)] => Some((root.clone(), Writers::One(*id))),
            [(root, _), ..] => {
                let all = same.iter().map(|(_, id)| *id).collect();
                Some((root.clone(), Writers::Several(Box::new(all))))
            }
        });
        WriteRoots { roots: writers.collect(), is_off: false }
    }

    /// Returns an index that stays empty, for a state in which nothing is looked up.
    #[cfg(any(feature = "journal", all(test, feature = "property-tests")))]
    pub(super) fn off() -> WriteRoots {
        WriteRoots { roots: BTreeMap::new(), is_off: true }
    }

    pub(super) fn insert(&mut self, grant: &CompactGrant) {
        let Some(root) = write_root(grant).filter(|_| !self.is_off) else { return };
        match self.roots.get_mut(root.as_str()) {
            None => drop(self.roots.insert(Root(root.clone()), Writers::One(grant.id))),
            Some(Writers::One(id)) if *id == grant.id => {}
            Some(writers @ Writers::One(_)) => {
                *writers = Writers::Several(Box::new(writers.iter().copied().chain([grant.id]).collect()));
            }
            Some(Writers::Several(all)) => drop(all.insert(grant.id)),
        }
    }

    pub(super) fn remove(&mut self, grant: &CompactGrant) {
        let Some(root) = write_root(grant) else { return };
        let Some(writers) = self.roots.get_mut(root.as_str()) else { return };
        if let Writers::Several(all) = writers {
            all.remove(&grant.id);
            if let (1, Some(last)) = (all.len(), all.first()) {
                *writers = Writers::One(*last);
            }
        } else if *writers == Writers::One(grant.id) {
            self.roots.remove(root.as_str());
        }
    }

    /// Returns the roots at `path` and above it, with the grants for each.
    pub(super) fn at_and_above<'r>(&'r self, path: &'r SanitizedPath) -> impl Iterator<Item = (&'r str, &'r Writers)> {
        path.way().filter_map(|root| Some((root, self.roots.get(root)?)))
    }

    /// Returns the grants for paths below `path`.
    pub(super) fn below(&self, path: &SanitizedPath) -> impl Iterator<Item = &GrantId> {
        // All paths below `path` are adjacent in the map.
        let start = if path.as_str() == "/" { "/".to_owned() } else { [path.as_str(), "/"].concat() };
        let from = self.roots.range::<str, _>((Bound::Excluded(&*start), Bound::Unbounded));
        from.take_while(move |(root, _)| root.0.as_str().starts_with(&*start)).flat_map(|(_, writers)| writers.iter())
    }
}
