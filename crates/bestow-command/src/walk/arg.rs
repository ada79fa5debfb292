//! A word after expansion, as far as the text alone determines it.

use smol_str::SmolStr;

use crate::answer::Span;

/// A marker in [`Arg::text`] for unknown text that may be empty.
pub(crate) const UNKNOWN: char = '\0';
/// A marker for unknown text that is not empty.
pub(crate) const SOMETHING: char = '\u{2}';
/// A marker for the home directory.
pub(crate) const HOME: char = '\u{1}';

/// The limit of words from the output of a command that replace the command.
const MAX_PRINTED_WORDS: usize = 64;

/// The part of a word that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// Every character is known.
    #[default]
    Fully,
    /// The unknown part comes from the environment, or from a program whose output has a known form.
    Environment,
    /// The unknown part may be any text.
    Partly,
}

/// One argument.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arg {
    pub(crate) text: SmolStr,
    pub(crate) span: Span,
    pub(crate) known: Known,
    /// True if the word has a glob outside quotes.
    pub(crate) glob: bool,
    /// True if the word may become several words, or no word.
    pub(crate) splits: bool,
    /// True if the word is the result of an expansion, even if the value is known.
    pub(crate) expanded: bool,
    /// True if the word contains the output of a command.
    pub(crate) substituted: bool,
    /// True if the unknown part comes from environment variables whose names say that they hold an address, a number or
    /// a name.
    pub(crate) named: bool,
    /// True if the unknown part consists of numbers from arithmetic.
    pub(crate) reckoned: bool,
    /// True if the word contains a variable that may be secret, by its name or because the text has set it.
    pub(crate) private: bool,
    /// True if the word becomes an unknown number of unknown words.
    pub(crate) open: bool,
    /// The content of the file that the word names, if a process substitution determines it.
    pub(crate) content: Option<String>,
}

impl Arg {
    /// Creates a word of which every character is known.
    pub(crate) fn literal(text: impl Into<SmolStr>, span: Span) -> Self {
        Arg { text: text.into(), span, ..Arg::default() }
    }

    /// Returns the words that the output of a command becomes, as far as it is known. Otherwise returns the word
    /// itself.
    pub(crate) fn printed_words(&self) -> Vec<Arg> {
        match &self.content {
            Some(text) if self.substituted && !self.text.contains("/dev/fd/63") => {
                let words = text.split_whitespace().take(MAX_PRINTED_WORDS);
                // The text around the output stays: before its first word and after its last word.
                let (before, behind) = self.text.split_once([UNKNOWN, SOMETHING]).unwrap_or_default();
                let mut words: Vec<String> = words.map(str::to_owned).collect();
                words.first_mut().into_iter().for_each(|first| first.insert_str(0, before));
                words.last_mut().into_iter().for_each(|last| last.push_str(behind));
                words.into_iter().map(|word| Arg { expanded: true, ..Arg::literal(word, self.span) }).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// Returns true if every character is known and the word is not a pattern.
    pub(crate) fn is_exact(&self) -> bool {
        self.known == Known::Fully && !self.glob && !self.splits && !self.text.contains(HOME)
    }

    /// Returns true if the word is exact and contains no expansion.
    pub(crate) fn is_written(&self) -> bool {
        self.is_exact() && !self.expanded
    }

    /// Returns true if the word may contain any text.
    pub(crate) fn is_wild(&self) -> bool {
        self.known == Known::Partly
    }

    /// Returns true if a program may read the word as an option although it is not written as one.
    pub(crate) fn may_be_option(&self) -> bool {
        let open_start = self.text.starts_with([UNKNOWN, SOMETHING]) || self.text.is_empty();
        // `!(x)` and similar patterns are patterns as a whole. After an empty variable, a pattern begins the word.
        let pattern = self.text.trim_start_matches(UNKNOWN);
        let glob_start = self.glob && pattern.starts_with(['*', '?', '[', '!', '@', '+']);
        glob_start || (self.is_wild() && (open_start || self.splits))
    }
}
