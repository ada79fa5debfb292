//! What a command line does, however it is written: what a no to it is about.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Digest, Said, Spoken, SpokenPart, Tier, base_name};

/// A command line as a person's no remembers it. Digests, since words may be secrets.
///
/// A yes is for the line as it is written and nothing else. A no that went by that would be got around by a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Doing {
    /// Of its text without what a shell does not mind: white space, quotes, backslashes.
    spelling: Digest,
    /// Of each command in it that is not safe and known; none if one of them is not known. What it does besides, as a
    /// redirection, is left out: whoever may not run a command may not run it with another one either.
    needs_a_word: BTreeSet<Digest>,
    /// Of all commands that are known in it.
    runs: BTreeSet<Digest>,
}

impl Doing {
    /// What a line does that was parsed into `parts`, if it was understood.
    pub(crate) fn of(text: &str, parts: Option<&[SpokenPart]>) -> Doing {
        let parts = parts.unwrap_or_default();
        let risky = parts.iter().filter(|part| part.tier > Tier::Safe).filter_map(|part| part.runs.as_ref());
        let needs_a_word = risky.map(known).collect::<Option<_>>();
        let runs = parts.iter().flat_map(|part| part.runs.iter().chain(&part.starts)).filter_map(known).collect();
        let spelling: String = text.chars().filter(|c| !c.is_whitespace() && !"'\"\\".contains(*c)).collect();
        let spelling = Digest::of_texts([spelling.as_str()]);
        Doing { spelling, needs_a_word: needs_a_word.unwrap_or_default(), runs }
    }

    /// Whether a no to this is one to `other`: it is the same but for its spelling, or does all of what was denied.
    pub(crate) fn is_in(&self, other: &Doing) -> bool {
        let does_all = !self.needs_a_word.is_empty() && self.needs_a_word.is_subset(&other.runs);
        self.spelling == other.spelling || does_all
    }
}

/// The words of a command, if all are known. A program is the same under any path.
fn known(command: &Spoken) -> Option<Digest> {
    let words: Vec<&str> =
        command.words.iter().map(Said::known).collect::<Option<_>>().filter(|_| !command.anywhere)?;
    let (program, words) = words.split_first()?;
    Some(Digest::of_texts(std::iter::once(base_name(program)).chain(words.iter().copied())))
}
