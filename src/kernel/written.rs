//! Directories that agents could write once: what they left there stays when the right is gone.

use std::{collections::BTreeSet, ops::Bound, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::model::{Access, Permission, SanitizedPath, SensitiveName, sensitive_part};

/// How many are kept. Where there were more, agents could write anywhere.
const MOST_KEPT: usize = 4096;

/// The roots of rights to write that have ended, the outermost of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenOnce(BTreeSet<Arc<str>>);

impl WrittenOnce {
    /// Returns true if nothing was ever writable that is not now.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the root of a right to write that ends, or is for one use.
    pub(super) fn keep(&mut self, right: &Permission, sensitive: &[SensitiveName]) {
        let Permission::Path(Access::Write, root) = right else { return };
        if self.gives(root, sensitive) {
            return;
        }
        self.0.insert(root.as_str().into());
        if self.0.len() > MOST_KEPT {
            self.0 = BTreeSet::from(["/".into()]);
        }
    }

    /// Returns true if an agent could once write `path`, or something below it.
    pub(super) fn reaches(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> bool {
        self.gives(path, sensitive) || self.is_below(path)
    }

    /// Returns true if one of the roots lies below `path`, or is it.
    fn is_below(&self, path: &SanitizedPath) -> bool {
        // All that begins so stands together.
        let start = [path.as_str().trim_end_matches('/'), "/"].concat();
        let first = self.0.range::<str, _>((Bound::Included(&*start), Bound::Unbounded)).next();
        self.0.contains(path.as_str()) || first.is_some_and(|root| root.starts_with(&*start))
    }

    /// Returns true if one of the roots is a right to `path`: it contains it, and names what is sensitive about it.
    fn gives(&self, path: &SanitizedPath, sensitive: &[SensitiveName]) -> bool {
        let above = path.as_path().ancestors().filter_map(|above| above.to_str());
        let mut roots = above.filter(|root| self.0.contains(*root)).peekable();
        if roots.peek().is_none() {
            return false;
        }
        let part = sensitive_part(path, sensitive).map(str::len);
        roots.any(|root| part.is_none_or(|part| part <= root.len()))
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
        let written = WrittenOnce(BTreeSet::from(["/ws".into(), "/other/.git/hooks".into()]));
        for reached in ["/ws", "/ws/a", "/ws/pyproject.toml", "/", "/other/.git/hooks/x", "/other/.git"] {
            assert!(written.reaches(&path(reached), &[]), "{reached}");
        }
        for other in ["/wsx", "/ws/.git/config", "/other/a", "/other/.git/config"] {
            assert!(!written.reaches(&path(other), &[]), "{other}");
        }
    }
}
