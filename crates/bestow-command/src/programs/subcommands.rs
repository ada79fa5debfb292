//! The subcommands of a record.

use memchr::memmem;

use crate::{hash::hash, parts::parts};

/// Alternatives of a subcommand, each of one or more words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subcommands {
    /// The alternatives, separated by `|`.
    text: &'static str,
    firsts: Firsts,
}

/// A set of first words. Other words with equal hashes are in it too.
///
/// Each word takes one bit of either half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Firsts(u64, u64);

impl Firsts {
    pub(crate) const ALL: Firsts = Firsts(u64::MAX, u64::MAX);
    pub(crate) const NONE: Firsts = Firsts(0, 0);

    pub(crate) const fn of(word: &[u8]) -> Firsts {
        let hash = hash(word);
        Firsts(1 << (hash % 64), 1 << (hash / 64 % 64))
    }

    pub(crate) const fn or(self, other: Firsts) -> Firsts {
        Firsts(self.0 | other.0, self.1 | other.1)
    }

    /// Returns false if no word is in both sets.
    pub(crate) fn may_share(self, other: Firsts) -> bool {
        self.0 & other.0 != 0 && self.1 & other.1 != 0
    }
}

impl Subcommands {
    pub(crate) const fn of(text: &'static str) -> Subcommands {
        let (mut firsts, mut rest, mut begins) = (Firsts::NONE, text.as_bytes(), true);
        // The alternative behind the last `|` may be empty.
        loop {
            if begins {
                firsts = firsts.or(first_of(rest));
            }
            let [byte, behind @ ..] = rest else { break };
            begins = *byte == b'|';
            rest = behind;
        }
        Subcommands { text, firsts }
    }

    /// Returns the first words of the alternatives.
    pub(crate) const fn firsts(self) -> Firsts {
        self.firsts
    }

    /// Returns true if there is no alternative.
    pub(crate) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'static str> {
        parts(self.text, b'|')
    }

    /// Returns false if no alternative has this word.
    pub(crate) fn mention(self, word: &str) -> bool {
        memmem::find(self.text.as_bytes(), word.as_bytes()).is_some() || self.text.contains('*')
    }

    /// Returns false if no alternative begins with one of these words.
    pub(crate) fn may_begin_with(self, words: Firsts) -> bool {
        self.firsts.may_share(words)
    }
}

/// Returns the first word of an alternative at the beginning of a text. A pattern stands for all words.
const fn first_of(text: &[u8]) -> Firsts {
    let mut rest = text;
    while let [byte, behind @ ..] = rest {
        match byte {
            b'*' => return Firsts::ALL,
            b' ' | b'|' => break,
            _ => rest = behind,
        }
    }
    Firsts::of(text.split_at(text.len() - rest.len()).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::has_form;

    #[test]
    fn the_first_word_of_every_alternative_is_in_the_set() {
        for text in ["", "status", "stash list|log|remote -v", "a|", "delete-*|x", "x y*"] {
            let subcommands = Subcommands::of(text);
            for word in ["", "status", "stash", "log", "remote", "a", "delete-all", "x"] {
                let begins = |one: &str| one.split(' ').next().is_some_and(|first| has_form(word, first));
                if subcommands.iter().any(begins) {
                    assert!(subcommands.may_begin_with(Firsts::of(word.as_bytes())), "{text}: {word}");
                }
            }
        }
        assert!(!Subcommands::of("status|log").may_begin_with(Firsts::of(b"push")));
        assert!(!Subcommands::of("status|log").may_begin_with(Firsts::default()));
    }
}
