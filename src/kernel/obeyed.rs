//! Who may write what a program obeys: a program that only reads is safe only where nobody may.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use crate::model::{Access, AgentId, Grant, GrantId, Hold, Permission, SanitizedPath, Timestamp};

use super::State;

/// Every grant of a write, by the path that it is for. Worked out from the grants; changed with them.
///
/// Finding who may write a path takes time with its depth, and not with the number of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteRoots(BTreeMap<Arc<str>, Writers>);

/// The grants for one path. Most paths have one.
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

    /// The roots at `path` and above it, with the grants for each.
    fn at_and_above<'r>(&'r self, path: &'r SanitizedPath) -> impl Iterator<Item = (&'r str, &'r Writers)> {
        path.way().filter_map(|root| Some((root, self.0.get(root)?)))
    }

    /// The grants for what lies below `path`.
    fn below(&self, path: &SanitizedPath) -> impl Iterator<Item = &GrantId> {
        // All that begins so stands together.
        let start = if path.as_str() == "/" { "/".to_owned() } else { [path.as_str(), "/"].concat() };
        let from = self.0.range::<str, _>((Bound::Excluded(&*start), Bound::Unbounded));
        from.take_while(move |(root, _)| root.starts_with(&*start)).flat_map(|(_, writers)| writers.iter())
    }
}

impl State {
    /// An agent of this engine that may write one of `paths` now, or something below it, with the path. Of which owner
    /// it is does not matter: what runs there does not ask.
    ///
    /// A right to a directory is none to what is sensitive below it, so an ordinary checkout is obeyed by nobody's
    /// leave.
    pub(crate) fn writer_of<'p>(
        &self,
        paths: &'p [SanitizedPath],
        now: Timestamp,
    ) -> Option<(&AgentId, &'p SanitizedPath)> {
        // What a program obeys mostly lies in one directory, and mostly nobody has a right that reaches into that.
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

    /// Returns true if somebody was given a write to something in `directory`, or to all of it, that counts or may have
    /// ended.
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
        // All grants for one root name the same, or all do not.
        let names = |root: &str| part.is_none_or(|part| part.len() <= root.len());
        let above = self.write_roots.at_and_above(path).filter(|(root, _)| names(root));
        let above = above.flat_map(|(_, writers)| writers.iter());
        above.chain(self.write_roots.below(path)).find_map(|id| self.uses_now(*id, now))
    }

    /// Who holds a grant, if it is for using and counts now.
    fn uses_now(&self, id: GrantId, now: Timestamp) -> Option<&AgentId> {
        let grant = self.grants.get(&id).filter(|grant| grant.hold == Hold::Use && grant.is_live(now))?;
        Some(&grant.to)
    }

    /// The first of `paths` that an agent could write once: what it left there may be there still.
    ///
    /// Giving up a right, its end and the end of its holder therefore make no program more trusted.
    pub(crate) fn written_once<'p>(&self, paths: &'p [SanitizedPath]) -> Option<&'p SanitizedPath> {
        if self.written_once.is_empty() {
            return None;
        }
        let is_open = |path: &&SanitizedPath| !self.is_protected(&Permission::write((*path).clone()));
        paths.iter().filter(is_open).find(|path| self.written_once.reaches(path, &self.settings.sensitive))
    }
}
