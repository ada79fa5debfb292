//! The text of the policy file that is in force, for callers of the engine.

use std::sync::Arc;

use super::{Engine, Error, policy_texts::PolicyTexts};

impl Engine {
    /// Returns the text of the policy file that took effect last as a whole. If a change waits for a person, it is the
    /// text before the change. `None` if the engine follows no file, or if it began while a change waited.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn policy_text(&self) -> Result<Option<Arc<str>>, Error> {
        let waits = self.change_that_waits()?;
        let mut texts = self.shared.policy_texts.lock().map_err(|_| Error::Closed)?;
        texts.settle(waits);
        Ok(texts.in_force.clone())
    }

    /// Notes that a text was given to the engine and is in force now, or waits for a person.
    pub(crate) fn note_policy_text(&self, text: Arc<str>) -> Result<(), Error> {
        let waits = self.change_that_waits()?;
        let mut texts = self.shared.policy_texts.lock().map_err(|_| Error::Closed)?;
        match waits {
            Some(change) => texts.waiting = Some((change, text)),
            None => *texts = PolicyTexts { in_force: Some(text), waiting: None },
        }
        Ok(())
    }

    fn change_that_waits(&self) -> Result<Option<u64>, Error> {
        self.shared.look(|state, _| state.change_that_waits())
    }
}
