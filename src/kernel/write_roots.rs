//! An index of the write grants by path.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use crate::model::{Access, Grant, GrantId, Permission, SanitizedPath};

/// All write grants, indexed by path. The index is derived from the grants and changes with them.
///
/// A lookup takes time proportional to the depth of the path, and not to the number of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteRoots(BTreeMap<Arc<str>, Writers>);

/// The grants for one path. Most paths have one grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Writers {
    One(GrantId),
    Several(BTreeSet<GrantId>),
}

impl Writers {
    pub(super) fn iter(&self) -> impl Iterator<Item = &GrantId> {
        let (one, several) = match self {
            Writers::One(id) => (Some(id), None),
            Writers::Several(all) => (None, Some(all)),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }
}

fn write_root(grant: &Grant) -> Option<&SanitizedPath> {
    match &grant.pinned.permission {
        Permission::Path(Access::Write, root) => Some(root),
        Permission::Path(Access::Read, _) | Permission::Network | Permission::Events | Permission::Tool(_) => None,
    }
}

impl WriteRoots {
    pub(super) fn insert(&mut self, grant: &Grant) {
        let Some(root) = write_root(grant) else { return };
        match self.0.get_mut(root.as_str()) {
            None => drop(self.0.insert(root.as_str().into(), Writers::One(grant.id))),
            Some(Writers::One(id)) if *id == grant.id => {}
            Some(writers @ Writers::One(_)) => {
                *writers = Writers::Several(writers.iter().copied().chain([grant.id]).collect());
            }
            Some(Writers::Several(all)) => drop(all.insert(grant.id)),
        }
    }

    pub(super) fn remove(&mut self, grant: &Grant) {
        let Some(root) = write_root(grant) else { return };
        let Some(writers) = self.0.get_mut(root.as_str()) else { return };
        if let Writers::Several(all) = writers {
            all.remove(&grant.id);
            if let (1, Some(last)) = (all.len(), all.first()) {
                *writers = Writers::One(*last);
            }
        } else if *writers == Writers::One(grant.id) {
            self.0.remove(root.as_str());
        }
    }

    /// Returns the roots at `path` and above it, with the grants for each.
    pub(super) fn at_and_above<'r>(&'r self, path: &'r SanitizedPath) -> impl Iterator<Item = (&'r str, &'r Writers)> {
        path.way().filter_map(|root| Some((root, self.0.get(root)?)))
    }

    /// Returns the grants for paths below `path`.
    pub(super) fn below(&self, path: &SanitizedPath) -> impl Iterator<Item = &GrantId> {
        // All paths below `path` are adjacent in the map.
        let start = if path.as_str() == "/" { "/".to_owned() } else { [path.as_str(), "/"].concat() };
        let from = self.0.range::<str, _>((Bound::Excluded(&*start), Bound::Unbounded));
        from.take_while(move |(root, _)| root.starts_with(&*start)).flat_map(|(_, writers)| writers.iter())
    }
}
