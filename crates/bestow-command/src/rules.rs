//! The rules that a classifier adds to those that are built in.

use crate::{addition::Additions, tier::Profile, values::Shell};

/// The profile and the custom rules of a person.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) profile: Profile,
    pub(crate) additions: Additions,
    /// True if earlier calls may have set variables of the shell.
    pub(crate) used_shell: bool,
    /// The shell that runs a line.
    pub(crate) shell: Shell,
}
