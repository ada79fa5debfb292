//! Directories that agents could write once: what they left there stays when the right is gone.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::model::{Access, Permission, SanitizedPath, SensitiveName, sensitive_part};

/// How many are kept. Where there were more, agents could write anywhere.
const MOST_KEPT: usize = 4096;

/// The roots of rights to write that have ended, the outermost of each, with the number of the last end of a right to it or
/// to what lies below it. Ends are counted from one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenOnce(BTreeMap<Arc<str>, u64>);

impl WrittenOnce {
    /// Returns true if nothing was ever writable that is not now.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of ends so far.
    pub(super) fn ends(&self) -> u64 {
        self.0.values().copied().max().unwrap_or_default()
    }

    /// Keeps the root of a right to write that ends, or is for one use.
    pub(super) fn keep(&mut self, right: &Permission, sensitive: &[SensitiveName]) {
        let Permission::Path(Access::Write, root) = right else { return };
        let end = self.ends().saturating_add(1);
        let outermost = self.giving(root, sensitive).map(|(root, _)| root.to_owned()).last();
        self.0.insert(outermost.as_deref().unwrap_or(root.as_str()).into(), end);
        if self.0.len() > MOST_KEPT {
            self.0 = BTreeMap::from([("/".into(), end)]);
        }
    }

    /// Returns true if an agent could once write `path`, or something below it.
    pub(super) fn reaches(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> bool {
        0 < self.last_end(path, sensitive)
    }

    /// The number of the last end of a right to write `path`, or something below it; zero if there was none.
    pub(super) fn last_end(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> u64 {
        let above = self.giving(path, sensitive).map(|(_, end)| end);
        let start = if path.as_str() == "/" { "/".to_owned() } else { [path.as_str(), "/"].concat() };
        let from = self.0.range::<str, _>((Bound::Included(&*start), Bound::Unbounded));
        let below = from.take_while(|(root, _)| root.starts_with(&*start)).map(|(_, end)| *end);
        above.chain(below).max().unwrap_or_default()
    }

    /// The roots that are a right to `path`, the innermost first: each contains it, and names what is sensitive about it.
    fn giving<'r>(
        &'r self,
        path: &'r SanitizedPath,
        sensitive: &[SensitiveName],
    ) -> impl Iterator<Item = (&'r str, u64)> + use<'r> {
        let part = sensitive_part(path, sensitive).map(str::len);
        let above = path.as_path().ancestors().filter_map(|above| above.to_str());
        let names = move |root: &&str| part.is_none_or(|part| part <= root.len());
        above.filter(names).filter_map(|root| Some((root, *self.0.get(root)?)))
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
    fn every_end_counts_for_what_it_was_a_right_to_and_for_nothing_else() {
        let mut written = WrittenOnce::default();
        for (root, end) in [("/ws", 1), ("/ws/a", 2), ("/b/c", 3), ("/b", 4)] {
            written.keep(&Permission::write(path(root)), &[]);
            assert_eq!(written.ends(), end);
        }
        for (at, end) in [("/ws/a/x", 2), ("/ws/b", 2), ("/b/c/d", 4), ("/b/e", 4), ("/c", 0), ("/", 4)] {
            assert_eq!(written.last_end(&path(at), &[]), end, "{at}");
        }
    }
}
