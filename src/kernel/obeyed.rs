//! An index of the agents that may write the implicit configuration files of a program. A read-only program is safe
//! only if no agent may write these files.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use crate::model::{Access, AgentId, Grant, GrantId, Hold, Permission, SanitizedPath, Timestamp};

use super::State;

/// All write grants, indexed by path. The index is derived from the grants and changes with them.
///
/// A lookup takes time proportional to the depth of the path, and not to the number of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteRoots(BTreeMap<Arc<str>, Writers>);

/// The grants for one path. Most paths have one grant.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Writers {
    One(GrantId),
    Several(BTreeSet<GrantId>),
}

impl Writers {
    fn iter(&self) -> impl Iterator<Item = &GrantId> {
        let (one, several) = match self {
            Writers::One(id) => (Some(id), None),
            Writers::Several(all) => (None, Some(all)),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }
}

fn write_root(grant: &Grant) -> Option<&SanitizedPath> {
    match &grant.right.permission {
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
    fn at_and_above<'r>(&'r self, path: &'r SanitizedPath) -> impl Iterator<Item = (&'r str, &'r Writers)> {
        path.way().filter_map(|root| Some((root, self.0.get(root)?)))
    }

    /// Returns the grants for paths below `path`.
    fn below(&self, path: &SanitizedPath) -> impl Iterator<Item = &GrantId> {
        // All paths below `path` are adjacent in the map.
        let start = if path.as_str() == "/" { "/".to_owned() } else { [path.as_str(), "/"].concat() };
        let from = self.0.range::<str, _>((Bound::Excluded(&*start), Bound::Unbounded));
        from.take_while(move |(root, _)| root.starts_with(&*start)).flat_map(|(_, writers)| writers.iter())
    }
}

impl State {
    /// Returns an agent of this engine that may write one of `paths` now, or something below it, with the path. The
    /// owner of that agent does not matter, because a program reads its configuration without regard to owners.
    ///
    /// A right to a directory does not include the sensitive paths below it. In an ordinary checkout, no agent may
    /// therefore write the configuration that a program reads there.
    pub(crate) fn writer_of<'p>(
        &self,
        paths: &'p [SanitizedPath],
        now: Timestamp,
    ) -> Option<(&AgentId, &'p SanitizedPath)> {
        // These files usually share one directory, and usually no grant reaches into it.
        let mut closed = None;
        paths.iter().find_map(|path| {
            let directory = path.as_str().rsplit_once('/').map(|(above, _)| above).filter(|above| !above.is_empty());
            if directory.is_some() && directory == closed {
                return None;
            }
            if let Some(directory) = directory.filter(|directory| !self.reaches_into(directory)) {
                closed = Some(directory);
                return None;
            }
            Some((self.writer(path, now)?, path))
        })
    }

    /// Returns true if a write grant covers `directory` or a path below it. The grant may have ended already.
    fn reaches_into(&self, directory: &str) -> bool {
        let Ok(directory) = directory.parse::<SanitizedPath>() else { return true };
        let part = self.sensitive_in(&Permission::write(directory.clone())).map(str::len);
        let mut above = self.write_roots.at_and_above(&directory);
        above.any(|(root, _)| part.is_none_or(|part| part <= root.len()))
            || self.write_roots.below(&directory).next().is_some()
    }

    fn writer(&self, path: &SanitizedPath, now: Timestamp) -> Option<&AgentId> {
        let permission = Permission::write(path.clone());
        if self.is_protected(&permission) {
            return None;
        }
        let part = self.sensitive_in(&permission);
        // The sensitive part is named by all grants for one root, or by none of them.
        let names = |root: &str| part.is_none_or(|part| part.len() <= root.len());
        let above = self.write_roots.at_and_above(path).filter(|(root, _)| names(root));
        let above = above.flat_map(|(_, writers)| writers.iter());
        above.chain(self.write_roots.below(path)).find_map(|id| self.uses_now(*id, now))
    }

    /// Returns the holder of a grant, if the grant is usable and has not ended.
    fn uses_now(&self, id: GrantId, now: Timestamp) -> Option<&AgentId> {
        let grant = self.grants.get(&id).filter(|grant| grant.hold == Hold::Use && grant.is_live(now))?;
        Some(&grant.to)
    }

    /// Returns the first of `paths` that an agent could write earlier. The content that the agent wrote may still be
    /// there.
    ///
    /// A program therefore does not become more trusted when a right is given up or ends, or when its holder is
    /// retired.
    pub(crate) fn written_once<'p>(&self, paths: &'p [SanitizedPath]) -> Option<&'p SanitizedPath> {
        if self.written_once.is_empty() {
            return None;
        }
        let is_open = |path: &&SanitizedPath| !self.is_protected(&Permission::write((*path).clone()));
        paths.iter().filter(is_open).find(|path| self.written_once.reaches(path, &self.settings.sensitive))
    }
}
