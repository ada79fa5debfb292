//! The result of a hook of the host program.

use std::sync::Arc;

use crate::model::{Escaped, Quoted, Verdict};

/// The result of a hook of the host program.
#[derive(Clone, Debug)]
pub(crate) struct HookVerdict {
    pub(crate) hook: Arc<str>,
    pub(crate) verdict: Verdict,
    /// True if the hook failed. A failure requires an approval, and no mode skips it.
    pub(crate) failed: bool,
    /// The index of the use that the result is about. Index 0 is the action's own use.
    pub(crate) about: usize,
    /// The reason, with secrets redacted. For a failed hook, the reason of the failure.
    pub(crate) why: Option<Arc<str>>,
}

impl HookVerdict {
    /// Returns the result as a sentence for people.
    pub(crate) fn told(&self) -> String {
        let does = match (self.failed, self.verdict) {
            (true, _) => "failed",
            (false, Verdict::Deny) => "denies it",
            (false, Verdict::Ask) => "requires a person to decide",
            (false, Verdict::Allow) => "allows it",
        };
        let why = self.why.as_ref().map(|why| format!(": {}", Quoted(why))).unwrap_or_default();
        format!("the hook {} {does}{why}", Escaped(&self.hook))
    }
}
