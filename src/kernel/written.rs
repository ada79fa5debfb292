//! Directories that agents could write once: what they left there stays when the right is gone.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::model::{Access, Permission, SanitizedPath, SensitiveName, sensitive_part};

/// How many are kept. Where there were more, agents could write anywhere.
const MOST_KEPT: usize = 16_384;

/// The roots of rights to write that were for one use, or have ended: each with the number of the last end of a right to it,
/// zero before the first. Ends are counted from one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenOnce {
    roots: BTreeMap<Arc<str>, u64>,
    /// The number of ends so far.
    ends: u64,
}

impl WrittenOnce {
    /// Returns true if nothing was ever writable that is not now.
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The number of ends so far.
    pub(super) fn ends(&self) -> u64 {
        self.ends
    }

    /// Keeps the root of a right to write that is for one use.
    pub(super) fn keep(&mut self, right: &Permission) {
        let Permission::Path(Access::Write, root) = right else { return };
        self.roots.entry(root.as_str().into()).or_default();
        self.bound();
    }

    /// Keeps the root of a right to write that ends.
    pub(super) fn end(&mut self, right: &Permission) {
        let Permission::Path(Access::Write, root) = right else { return };
        self.ends = self.ends.saturating_add(1);
        self.roots.insert(root.as_str().into(), self.ends);
        self.bound();
    }

    fn bound(&mut self) {
        if self.roots.len() > MOST_KEPT {
            self.roots = BTreeMap::from([("/".into(), self.ends)]);
        }
    }

    /// Returns true if an agent could once write `path`, or something below it.
    pub(super) fn reaches(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> bool {
        self.below(path).next().is_some() || self.above(path, sensitive).next().is_some()
    }

    /// The number of the last end of a right to write `path`, or something below it; zero if there was none.
    pub(super) fn last_end(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> u64 {
        self.above(path, sensitive).chain(self.below(path)).max().unwrap_or_default()
    }

    /// The ends of rights to what lies below `path`.
    fn below(&self, path: &SanitizedPath) -> impl Iterator<Item = u64> {
        // All that begins so stands together.
        let start = [path.as_str().trim_end_matches('/'), "/"].concat();
        let from = self.roots.range::<str, _>((Bound::Included(&*start), Bound::Unbounded));
        from.take_while(move |(root, _)| root.starts_with(&*start)).map(|(_, end)| *end)
    }

    /// The ends of rights to `path`: the root of each contains it, and names what is sensitive about it.
    fn above(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> impl Iterator<Item = u64> {
        let above = path.as_path().ancestors().filter_map(|above| above.to_str());
        let mut roots = above.filter_map(|root| Some((root.len(), *self.roots.get(root)?))).collect::<Vec<_>>();
        if !roots.is_empty() {
            let part = sensitive_part(path, sensitive).map(str::len);
            roots.retain(|(root, _)| part.is_none_or(|part| part <= *root));
        }
        roots.into_iter().map(|(_, end)| end)
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
        let written =
            WrittenOnce { roots: BTreeMap::from([("/ws".into(), 1), ("/other/.git/hooks".into(), 2)]), ends: 2 };
        for reached in ["/ws", "/ws/a", "/ws/pyproject.toml", "/", "/other/.git/hooks/x", "/other/.git"] {
            assert!(written.reaches(&path(reached), &[]), "{reached}");
        }
        for other in ["/wsx", "/ws/.git/config", "/other/a", "/other/.git/config"] {
            assert!(!written.reaches(&path(other), &[]), "{other}");
        }
    }

    #[test]
    fn every_end_counts_for_what_it_was_a_right_to_and_for_nothing_else() {
        let mut written = WrittenOnce::default();
        written.keep(&Permission::write(path("/once")));
        for (root, end) in [("/ws", 1), ("/ws/a", 2), ("/b/c", 3), ("/b", 4)] {
            written.end(&Permission::write(path(root)));
            assert_eq!(written.ends(), end);
        }
        for (at, end) in [("/ws/a/x", 2), ("/ws/b", 1), ("/b/c/d", 4), ("/b/e", 4), ("/c", 0), ("/", 4), ("/once", 0)] {
            assert_eq!(written.last_end(&path(at), &[]), end, "{at}");
        }
        assert!(written.reaches(&path("/once/x"), &[]) && !written.reaches(&path("/c"), &[]));
    }
}
