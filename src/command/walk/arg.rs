//! A word after expansion, as far as a text alone tells what it becomes.

use smol_str::SmolStr;

use crate::command::answer::Span;

/// Stands in [`Arg::text`] for text that nobody knows and that may be empty.
pub(in crate::command) const UNKNOWN: char = '\0';
/// Stands for text that nobody knows but that is not empty.
pub(in crate::command) const SOMETHING: char = '\u{2}';
/// Stands for the home directory.
pub(in crate::command) const HOME: char = '\u{1}';

/// The most words of the output of a command that are put in its place.
const MAX_PRINTED_WORDS: usize = 64;

/// How much of a word is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::command) enum Known {
    /// Every character.
    #[default]
    Fully,
    /// The rest comes from the environment, or from a program whose output has a known form.
    Environment,
    /// The rest may be anything.
    Partly,
}

/// One argument.
#[derive(Clone, Debug, Default)]
pub(in crate::command) struct Arg {
    pub(in crate::command) text: SmolStr,
    pub(in crate::command) span: Span,
    pub(in crate::command) known: Known,
    /// Has a glob outside quotes.
    pub(in crate::command) glob: bool,
    /// May turn into several words, or none.
    pub(in crate::command) splits: bool,
    /// Came out of an expansion, even if the value is known.
    pub(in crate::command) expanded: bool,
    /// Holds the output of a command.
    pub(in crate::command) substituted: bool,
    /// Holds what a variable has that may be a secret, by its name or because the text has put it there.
    pub(in crate::command) private: bool,
    /// What is not known of it is held by variables of the environment whose names say that it is an address, a number
    /// or a name.
    pub(in crate::command) named: bool,
    /// What is not known of it are numbers that were reckoned out.
    pub(in crate::command) reckoned: bool,
    /// Nobody knows how many words it becomes, and which.
    pub(in crate::command) open: bool,
    /// What is in the file that the word names, where a process substitution tells.
    pub(in crate::command) content: Option<String>,
}

impl Arg {
    /// A word that is known to the last character.
    pub(in crate::command) fn literal(text: impl Into<SmolStr>, span: Span) -> Self {
        Arg { text: text.into(), span, ..Arg::default() }
    }

    /// The words that the output of a command brings in its place, as far as it is known; else the word itself.
    pub(in crate::command) fn printed_words(&self) -> Vec<Arg> {
        match &self.content {
            Some(text) if self.substituted && !self.text.contains("/dev/fd/63") => {
                let words = text.split_whitespace().take(MAX_PRINTED_WORDS);
                // What stands around the output stays: before its first word and behind its last.
                let (before, behind) = self.text.split_once([UNKNOWN, SOMETHING]).unwrap_or_default();
                let mut words: Vec<String> = words.map(str::to_owned).collect();
                words.first_mut().into_iter().for_each(|first| first.insert_str(0, before));
                words.last_mut().into_iter().for_each(|last| last.push_str(behind));
                words.into_iter().map(|word| Arg { expanded: true, ..Arg::literal(word, self.span) }).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// Known to the last character, and not a pattern.
    pub(in crate::command) fn is_exact(&self) -> bool {
        self.known == Known::Fully && !self.glob && !self.splits && !self.text.contains(HOME)
    }

    /// Written as it is: nothing was expanded.
    pub(in crate::command) fn is_written(&self) -> bool {
        self.is_exact() && !self.expanded
    }

    /// May hold anything.
    pub(in crate::command) fn is_wild(&self) -> bool {
        self.known == Known::Partly
    }

    /// A word that a program may read as an option although it is not written as one.
    pub(in crate::command) fn may_be_option(&self) -> bool {
        let open_start = self.text.starts_with([UNKNOWN, SOMETHING]) || self.text.is_empty();
        // `!(x)` and its kin are patterns as a whole.
        // Behind a variable that is empty, a pattern begins the word.
        let pattern = self.text.trim_start_matches(UNKNOWN);
        let glob_start = self.glob && pattern.starts_with(['*', '?', '[', '!', '@', '+']);
        glob_start || (self.is_wild() && (open_start || self.splits))
    }
}
