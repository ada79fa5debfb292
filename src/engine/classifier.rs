//! The classifier of an engine.

use crate::{
    command::{Classifier, InvalidAddition},
    model::Settings,
};

/// Creates a classifier from the command rules, the tools and the sensitive names of `settings`.
pub(super) fn classifier_for(settings: &Settings) -> Result<Classifier, InvalidAddition> {
    let classifier = Classifier::with_rules(&settings.commands)?;
    Ok(classifier.with_tools(settings.tools.clone()).guarding(&settings.sensitive))
}
