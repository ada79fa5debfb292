//! Fingerprints of command lines, independent of their spelling. Denials refer to them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Digest, Said, Spoken, SpokenPart, Tier, base_name};

/// The fingerprint of a command line that a person denied. It has digests, because words may be secrets.
///
/// An approval is valid for the literal command line only. A denial of the literal line could be bypassed with one more
/// space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CommandFingerprint {
    /// The digest of the text without white space, quotes and backslashes. Different spellings have an equal digest.
    spelling: Digest,
    /// The digests of the commands in the line that are known and not safe. Empty if one of these commands is unknown.
    /// Redirections and other parts are left out: a denied command stays denied in combination with another one.
    needs_a_word: BTreeSet<Digest>,
    /// The digests of all known commands in the line.
    runs: BTreeSet<Digest>,
}

impl CommandFingerprint {
    /// Computes the fingerprint of a line that was parsed into `parts`. `parts` is none if the line was not understood.
    pub(crate) fn of(text: &str, parts: Option<&[SpokenPart]>) -> CommandFingerprint {
        let parts = parts.unwrap_or_default();
        let risky = parts.iter().filter(|part| part.tier > Tier::Safe).filter_map(|part| part.runs.as_ref());
        let needs_a_word = risky.map(known).collect::<Option<_>>();
        let runs = parts.iter().flat_map(|part| part.runs.iter().chain(&part.starts)).filter_map(known).collect();
        let spelling: String = text.chars().filter(|c| !c.is_whitespace() && !"'\"\\".contains(*c)).collect();
        let spelling = Digest::of_texts([spelling.as_str()]);
        CommandFingerprint { spelling, needs_a_word: needs_a_word.unwrap_or_default(), runs }
    }

    /// Returns true if a denial of this fingerprint applies to `other`: only the spelling differs, or `other` runs all
    /// denied commands.
    pub(crate) fn is_in(&self, other: &CommandFingerprint) -> bool {
        let does_all = !self.needs_a_word.is_empty() && self.needs_a_word.is_subset(&other.runs);
        self.spelling == other.spelling || does_all
    }
}

/// Returns the digest of a command, if all its words are known. The path of the program is ignored.
fn known(command: &Spoken) -> Option<Digest> {
    let words: Vec<&str> =
        command.words.iter().map(Said::known).collect::<Option<_>>().filter(|_| !command.anywhere)?;
    let (program, words) = words.split_first()?;
    Some(Digest::of_texts(std::iter::once(base_name(program)).chain(words.iter().copied())))
}
