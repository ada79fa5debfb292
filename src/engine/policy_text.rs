//! The text of the policy file that is in force.

use std::sync::Arc;

use super::{Engine, Error};

/// The text that took effect last, and the text of the change that waits for a person.
#[derive(Debug, Default)]
pub(super) struct PolicyTexts {
    in_force: Option<Arc<str>>,
    waiting: Option<(u64, Arc<str>)>,
}

impl PolicyTexts {
    /// Takes the waiting text as in force if its change waits no more: a person agreed to it.
    fn settle(&mut self, waits: Option<u64>) {
        if let Some((_, text)) = self.waiting.take_if(|(change, _)| Some(*change) != waits) {
            self.in_force = Some(text);
        }
    }
}

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
