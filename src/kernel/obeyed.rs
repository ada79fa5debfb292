//! Who may write what a program obeys: a program that only reads is safe only where nobody may.

use crate::model::{Access, AgentId, Permission, SanitizedPath, Timestamp};

use super::{State, support::for_use};

impl State {
    /// An agent of this engine that may write one of `paths` now, or something below it, with the path. Of which owner
    /// it is does not matter: what
    /// runs there does not ask.
    ///
    /// A right to a directory is none to what is sensitive below it, so an ordinary checkout is obeyed by nobody's
    /// leave.
    pub(crate) fn writer_of<'p>(
        &self,
        paths: &'p [SanitizedPath],
        now: Timestamp,
    ) -> Option<(&AgentId, &'p SanitizedPath)> {
        let wanted: Vec<_> = paths.iter().map(|path| (path, Permission::write(path.clone()))).collect();
        let open = wanted.iter().filter(|(_, permission)| !self.is_protected(permission));
        let gives: Vec<_> = open.map(|(path, permission)| (*path, self.gives(permission))).collect();
        self.agents.values().find_map(|agent| {
            let mut held = for_use(&agent.held).filter(|grant| {
                matches!(grant.right.permission, Permission::Path(Access::Write, _)) && grant.is_live(now)
            });
            held.find_map(|grant| {
                let root = grant.right.permission.path();
                let reaches = |path: &SanitizedPath| root.is_some_and(|root| path.contains(root));
                let mut written = gives.iter().filter(|(path, gives)| gives(grant) || reaches(path));
                let (path, _) = written.next()?;
                Some((&agent.profile.id, *path))
            })
        })
    }

    /// The first of `paths` that an agent could write once: what it left there may be there still.
    ///
    /// Giving up a right, its end and the end of its holder therefore make no program more trusted.
    pub(crate) fn written_once<'p>(&self, paths: &'p [SanitizedPath]) -> Option<&'p SanitizedPath> {
        let is_open = |path: &&SanitizedPath| !self.is_protected(&Permission::write((*path).clone()));
        paths.iter().filter(is_open).find(|path| self.written_once.reaches(path, &self.settings.sensitive))
    }
}
