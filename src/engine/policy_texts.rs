//! The texts of the policy file that the engine follows.

use std::sync::Arc;

/// The text that took effect last, and the text of the change that waits for a person.
#[derive(Debug, Default)]
pub(super) struct PolicyTexts {
    pub(super) in_force: Option<Arc<str>>,
    pub(super) waiting: Option<(u64, Arc<str>)>,
}

impl PolicyTexts {
    /// Takes the waiting text as in force if its change waits no more: a person agreed to it.
    pub(super) fn settle(&mut self, waits: Option<u64>) {
        if let Some((_, text)) = self.waiting.take_if(|(change, _)| Some(*change) != waits) {
            self.in_force = Some(text);
        }
    }
}
