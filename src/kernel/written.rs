//! The roots that agents could write earlier. Content that they left remains after the permission is gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::model::{Access, Permission, SanitizedPath, SensitiveName, held_in_place, part_kept_from_commands};

/// The maximum number of roots. Beyond it, the record is replaced by the root `/`.
const MOST_KEPT: usize = 16_384;

/// The roots of write permissions that were for one use or have ended, with the number of ended permissions. The order
/// in which permissions end does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenOnce(BTreeMap<Arc<str>, u64>);

impl WrittenOnce {
    /// Returns true if no ended or one-time write permission is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records the root of a write permission for one use.
    pub(super) fn keep(&mut self, permission: &Permission) {
        self.add(permission, 0);
    }

    /// Records the root of a write permission that ends.
    pub(super) fn end(&mut self, permission: &Permission) {
        self.add(permission, 1);
    }

    fn add(&mut self, permission: &Permission, ends: u64) {
        let Permission::Path(Access::Write, root) = permission else { return };
        let so_far = self.0.entry(root.as_str().into()).or_default();
        *so_far = so_far.saturating_add(ends);
        if self.0.len() > MOST_KEPT {
            self.0 = BTreeMap::from([("/".into(), self.0.values().copied().fold(0, u64::saturating_add))]);
        }
    }

    /// Returns true if an agent could earlier write `path` or something below it.
    pub(super) fn reaches(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> bool {
        self.below(path).next().is_some() || self.above(path, sensitive).next().is_some()
    }

    /// Returns the number of ended permissions to write `path` or something below it.
    pub(super) fn ends(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> u64 {
        self.above(path, sensitive).chain(self.below(path)).fold(0, u64::saturating_add)
    }

    /// Returns the counts of ended permissions to paths below `path`.
    fn below(&self, path: &SanitizedPath) -> impl Iterator<Item = u64> {
        // All paths below `path` are adjacent in the map.
        let start = [path.as_str().trim_end_matches('/'), "/"].concat();
        let from = self.0.range::<str, _>((Bound::Included(&*start), Bound::Unbounded));
        from.take_while(move |(root, _)| root.starts_with(&*start)).map(|(_, end)| *end)
    }

    /// Returns the counts of ended permissions to `path`: the root of each contains it and names the part of it that is
    /// kept from commands.
    fn above(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> impl Iterator<Item = u64> {
        let above = path.as_path().ancestors().filter_map(|above| above.to_str());
        let mut roots = above.filter_map(|root| Some((root.len(), *self.0.get(root)?))).collect::<Vec<_>>();
        if !roots.is_empty() {
            let part = part_kept_from_commands(path, sensitive).map(str::len);
            roots.retain(|(root, _)| part.is_none_or(|part| part <= *root));
        }
        roots.into_iter().map(|(_, end)| end)
    }
}

/// The directories that confined commands could write. The sandbox keeps such a command from the sensitive files that
/// exist below them, and from those that it holds in place at their top. It can make others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ConfinedRoots(BTreeSet<Arc<str>>);

impl ConfinedRoots {
    /// Returns true if no confined command could write anything.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, roots: &[SanitizedPath]) {
        for root in roots.iter().filter(|root| !self.0.contains(root.as_str())).collect::<Vec<_>>() {
            self.0.insert(root.as_str().into());
        }
        if self.0.len() > MOST_KEPT {
            self.0 = BTreeSet::from(["/".into()]);
        }
    }

    /// Returns true if a confined command may have made `path`, if it exists.
    pub(super) fn may_have_made(&self, path: &SanitizedPath) -> bool {
        let above = path.as_path().ancestors().filter_map(|above| above.to_str());
        above.filter(|root| self.0.contains(*root)).any(|root| {
            let inside = path.as_str().strip_prefix(root).unwrap_or_default().trim_start_matches('/');
            let begins_with =
                |name: &str| inside.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            !held_in_place().any(|(name, _)| begins_with(&name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> SanitizedPath {
        text.parse().unwrap()
    }

    #[test]
    fn a_root_reaches_what_lies_below_it_but_for_what_is_sensitive_there() {
        let written = WrittenOnce(BTreeMap::from([("/ws".into(), 1), ("/other/.git/hooks".into(), 2)]));
        for reached in ["/ws", "/ws/a", "/ws/pyproject.toml", "/", "/other/.git/hooks/x", "/other/.git"] {
            assert!(written.reaches(&path(reached), &[]), "{reached}");
        }
        for other in ["/wsx", "/ws/.git/config", "/other/a", "/other/.git/config"] {
            assert!(!written.reaches(&path(other), &[]), "{other}");
        }
    }

    #[test]
    fn a_confined_command_may_have_made_what_is_not_held_at_the_top_of_its_roots() {
        let mut confined = ConfinedRoots::default();
        confined.add(&[path("/ws"), path("/ws/in")]);
        for made in ["/ws/q/.git/config", "/ws/rust-toolchain.toml", "/ws/a", "/ws/in/x", "/ws/.gitx"] {
            assert!(confined.may_have_made(&path(made)), "{made}");
        }
        for held in ["/ws/.git/config", "/ws/.vscode/tasks.json", "/other/.git/config", "/wsx/a", "/"] {
            assert!(!confined.may_have_made(&path(held)), "{held}");
        }
        assert!(confined.may_have_made(&path("/ws/in/.git/config")), "the outer root does not hold it");
    }

    #[test]
    fn every_end_counts_for_what_it_was_a_permission_to_and_for_nothing_else() {
        let mut written = WrittenOnce::default();
        written.keep(&Permission::write(path("/once")));
        for root in ["/ws", "/ws/a", "/b/c", "/b", "/b"] {
            written.end(&Permission::write(path(root)));
        }
        for (at, ends) in [("/ws/a/x", 2), ("/ws/b", 1), ("/b/c/d", 3), ("/b/e", 2), ("/c", 0), ("/", 5), ("/once", 0)]
        {
            assert_eq!(written.ends(&path(at), &[]), ends, "{at}");
        }
        assert!(written.reaches(&path("/once/x"), &[]) && !written.reaches(&path("/c"), &[]));
    }
}
