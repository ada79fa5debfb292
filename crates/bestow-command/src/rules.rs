//! The rules that a classifier adds to those that are built in.

use std::sync::Arc;

use crate::{addition::Additions, surroundings::Surroundings, tier::Profile, values::Shell};

/// The profile and the custom rules of a person.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) profile: Profile,
    pub(crate) additions: Additions,
    /// True if earlier calls may have set variables of the shell.
    pub(crate) used_shell: bool,
    /// The shell that runs a line.
    pub(crate) shell: Shell,
    /// The directories of the agent, as far as they are known.
    pub(crate) surroundings: Arc<Surroundings>,
}
