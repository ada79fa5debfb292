//! The agents that may write the implicit configuration files of a program. A read-only program is safe
//! only if no agent may write these files.

use crate::model::{AgentId, GrantId, Hold, Permission, SanitizedPath, Timestamp, part_kept_from_commands};

use super::State;

impl State {
    /// Returns an agent of this engine that may write one of `paths` now, or something below it, with the path. The
    /// owner of that agent does not matter, because a program reads its configuration without regard to owners.
    ///
    /// A permission to a directory does not include the sensitive paths below it, except those that a confined command
    /// may write. In an ordinary checkout, no agent may therefore write the configuration that a program reads there.
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
        let part = part_kept_from_commands(&directory, &self.settings.sensitive).map(str::len);
        let mut above = self.write_roots.at_and_above(&directory);
        above.any(|(root, _)| part.is_none_or(|part| part <= root.len()))
            || self.write_roots.below(&directory).next().is_some()
    }

    fn writer(&self, path: &SanitizedPath, now: Timestamp) -> Option<&AgentId> {
        if self.is_protected(&Permission::write(path.clone())) {
            return None;
        }
        let part = part_kept_from_commands(path, &self.settings.sensitive);
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

    /// Returns true if a confined command may have made `path`, if it exists.
    pub(crate) fn may_be_made_by_commands(&self, path: &SanitizedPath) -> bool {
        !self.is_protected(&Permission::write(path.clone())) && self.confined_roots.may_have_made(path)
    }

    /// Returns the first of `paths` that an agent could write earlier. The content that the agent wrote may still be
    /// there.
    ///
    /// A program therefore does not become more trusted when a permission is given up or ends, or when its holder is
    /// retired.
    pub(crate) fn written_once<'p>(&self, paths: &'p [SanitizedPath]) -> Option<&'p SanitizedPath> {
        if self.written_once.is_empty() {
            return None;
        }
        let is_open = |path: &&SanitizedPath| !self.is_protected(&Permission::write((*path).clone()));
        paths.iter().filter(is_open).find(|path| self.written_once.reaches(path, &self.settings.sensitive))
    }
}
