//! The match of a command with the pattern of a deny or ask rule.

use crate::model::{CommandPattern, SpokenPart, may_match};

/// The likelihood that an action runs a command which a rule describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likelihood {
    /// The action does not run it.
    None,
    /// A text of the action may be such a command, or may only tell about it.
    Possible,
    /// The action runs it, as far as its words are known.
    Certain,
}

/// Returns true if a command may match the pattern of a deny or ask rule, in any of its spellings. A command that was
/// not parsed may match any pattern.
pub(super) fn meets(pattern: &CommandPattern, parts: Option<&[SpokenPart]>) -> bool {
    let Some(parts) = parts else { return true };
    let mut commands = parts.iter().flat_map(|part| part.runs.iter().chain(&part.starts));
    commands.any(|command| may_match(pattern, command))
}
