//! A word after expansion, as far as the text alone determines it.

use smol_str::SmolStr;

use crate::answer::Span;

/// A marker in [`Arg::text`] for unknown text that may be empty.
pub(crate) const UNKNOWN: char = '\0';
/// A marker for unknown text that is not empty.
pub(crate) const SOMETHING: char = '\u{2}';
/// A marker for the home directory.
pub(crate) const HOME: char = '\u{1}';

/// Returns true if a part of `text` is unknown.
pub(crate) fn has_unknown(text: &str) -> bool {
    text.contains([UNKNOWN, SOMETHING])
}

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
    pub(super) text: SmolStr,
    pub(super) span: Span,
    pub(super) known: Known,
    /// True if the word has a glob outside quotes.
    pub(super) glob: bool,
    /// True if the word may become several words, or no word.
    pub(super) splits: bool,
    /// True if the word is the result of an expansion, even if the value is known.
    pub(super) expanded: bool,
    /// True if the word contains the output of a command.
    pub(super) substituted: bool,
    /// True if the unknown part comes from environment variables whose names say that they hold an address, a number or
    /// a name.
    pub(super) named: bool,
    /// True if the unknown part consists of numbers from arithmetic.
    pub(super) reckoned: bool,
    /// True if the word contains a variable that may be secret, by its name or because the text has set it.
    pub(super) private: bool,
    /// True if the word becomes an unknown number of unknown words.
    pub(super) open: bool,
    /// The content of the file that the word names, if a process substitution determines it.
    pub(super) content: Option<String>,
}

impl Arg {
    /// Creates a word of which every character is known.
    pub(crate) fn literal(text: impl Into<SmolStr>, span: Span) -> Self {
        Arg { text: text.into(), span, ..Arg::default() }
    }

    /// Creates a word of which nothing is known, not even how many words it becomes.
    pub(crate) fn anything(span: Span) -> Self {
        Arg { open: true, ..Arg::unknown(span) }
    }

    /// Creates a single word that may be any text.
    pub(crate) fn unknown(span: Span) -> Self {
        Arg { text: SmolStr::from(UNKNOWN), span, known: Known::Partly, ..Arg::default() }
    }

    /// Creates a word that becomes any number of identifiers.
    pub(crate) fn identifiers(span: Span) -> Self {
        let text = SmolStr::from(SOMETHING);
        Arg { text, span, known: Known::Environment, expanded: true, splits: true, open: true, ..Arg::default() }
    }

    /// Returns this word with `word` in the place of each `mark`.
    pub(crate) fn filled(&self, mark: &str, word: &Arg) -> Self {
        let known = if word.known == Known::Environment { word.known } else { Known::Partly };
        Arg { known, named: false, reckoned: false, ..self.with_text(self.text.replace(mark, &word.text)) }
    }

    /// Returns this word with another text.
    pub(crate) fn with_text(&self, text: impl Into<SmolStr>) -> Self {
        Arg { text: text.into(), ..self.clone() }
    }

    /// Returns this word as the result of an expansion.
    pub(crate) fn into_expansion(self) -> Self {
        Arg { expanded: true, ..self }
    }

    /// Returns this word with a text of which a part may be anything.
    pub(crate) fn partly(&self, text: impl Into<SmolStr>) -> Self {
        Arg { known: Known::Partly, ..self.with_text(text) }
    }

    /// Returns the text, with markers for its unknown parts.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the place of the word in the command line.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// Returns the part of the word that is known.
    pub(crate) fn known(&self) -> Known {
        self.known
    }

    /// Returns true if the word has a glob outside quotes.
    pub(crate) fn is_pattern(&self) -> bool {
        self.glob
    }

    /// Returns true if the word may become several words, or no word.
    pub(crate) fn may_split(&self) -> bool {
        self.splits
    }

    /// Returns true if the word is the result of an expansion, even if the value is known.
    pub(crate) fn is_expanded(&self) -> bool {
        self.expanded
    }

    /// Returns true if the word contains the output of a command.
    pub(crate) fn has_output(&self) -> bool {
        self.substituted
    }

    /// Returns true if the unknown part comes from environment variables whose names say that they hold an address, a
    /// number or a name.
    pub(crate) fn is_named(&self) -> bool {
        self.named
    }

    /// Returns true if the unknown part consists of numbers from arithmetic.
    pub(crate) fn is_number(&self) -> bool {
        self.reckoned
    }

    /// Returns true if the word contains a variable that may be secret, by its name or because the text has set it.
    pub(crate) fn may_be_secret(&self) -> bool {
        self.private
    }

    /// Returns true if the word becomes an unknown number of unknown words.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the content of the file that the word names, if a process substitution determines it. For a word that
    /// contains the output of a command, returns this output.
    pub(crate) fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Returns true if a part of the text is unknown.
    pub(crate) fn has_unknown(&self) -> bool {
        self.text.contains([UNKNOWN, SOMETHING])
    }

    /// Returns true if the text begins with an unknown part.
    pub(crate) fn starts_unknown(&self) -> bool {
        self.text.starts_with([UNKNOWN, SOMETHING])
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
