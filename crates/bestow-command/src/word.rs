//! A word after expansion, as far as the text alone determines it.
//!
//! A word is a sequence of [`Fragment`]s: literal text, and gaps for the parts that the text does not determine. A gap
//! takes one character of a private alphabet in the text of its word. So each slice of the text keeps its gaps, and a
//! comparison with literal text fails where a gap is. Nothing outside this file names these characters, and
//! [`literal`] keeps them out of the text that a person or an agent wrote.

mod signs;

use std::{borrow::Cow, fmt};

use smol_str::SmolStr;

use crate::span::Span;
pub(crate) use signs::Signs;

/// A part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fragment<'t> {
    /// Text that is known.
    Literal(&'t str),
    /// Unknown text that may be empty.
    Unknown,
    /// Unknown text that is not empty.
    NonEmpty,
    /// The home directory of the user.
    Home,
    /// The start of an element of a list.
    Element,
}

/// The fragments by themselves, for texts that are put together.
pub(crate) const UNKNOWN: Fragment<'static> = Fragment::Unknown;
pub(crate) const NON_EMPTY: Fragment<'static> = Fragment::NonEmpty;

const UNKNOWN_SIGN: char = '\0';
const NON_EMPTY_SIGN: char = '\u{2}';
const HOME_SIGN: char = '\u{1}';
const ELEMENT_SIGN: char = '\u{3}';

/// The character that replaces a gap in text for which the gap does not matter.
const REPLACEMENT: &str = "\u{fffd}";

impl fmt::Display for Fragment<'_> {
    /// Writes the fragment in the form in which the text of a word contains it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fragment::Literal(text) => f.write_str(text),
            Fragment::Unknown => fmt::Write::write_char(f, UNKNOWN_SIGN),
            Fragment::NonEmpty => fmt::Write::write_char(f, NON_EMPTY_SIGN),
            Fragment::Home => fmt::Write::write_char(f, HOME_SIGN),
            Fragment::Element => fmt::Write::write_char(f, ELEMENT_SIGN),
        }
    }
}

impl From<Fragment<'_>> for SmolStr {
    fn from(fragment: Fragment<'_>) -> SmolStr {
        match fragment {
            Fragment::Literal(text) => text.into(),
            Fragment::Unknown => UNKNOWN_SIGN.into(),
            Fragment::NonEmpty => NON_EMPTY_SIGN.into(),
            Fragment::Home => HOME_SIGN.into(),
            Fragment::Element => ELEMENT_SIGN.into(),
        }
    }
}

/// The input of a command that reads identifiers from a pipe: any number of them, and no other text.
pub(crate) const IDENTIFIERS: &str = "\u{2}";

/// Returns true for the character of a gap.
pub(crate) fn is_gap(c: char) -> bool {
    matches!(c, UNKNOWN_SIGN | NON_EMPTY_SIGN | HOME_SIGN)
}

/// Returns true for the character of a gap with unknown text.
pub(crate) fn is_unknown(c: char) -> bool {
    matches!(c, UNKNOWN_SIGN | NON_EMPTY_SIGN)
}

/// Returns true for the character of a gap whose text may be empty.
pub(crate) fn may_be_empty(c: char) -> bool {
    c == UNKNOWN_SIGN
}

/// Returns true for the characters that no literal text of a word has.
pub(crate) fn is_sign(c: char) -> bool {
    is_gap(c) || c == ELEMENT_SIGN
}

/// Returns true for text of the command line that is the same as the text of a word.
pub(crate) fn is_literal(text: &str) -> bool {
    // Every sign is one byte long.
    !text.bytes().any(|byte| is_sign(byte.into()))
}

/// Returns text of the command line as text of a word. A character of the private alphabet is replaced.
pub(crate) fn literal(text: &str) -> Cow<'_, str> {
    if is_literal(text) { text.into() } else { text.replace(is_sign, REPLACEMENT).into() }
}

/// The questions about a text, or a slice of it, that may have gaps.
pub(crate) trait Gaps {
    /// Returns the text as a slice.
    fn gapped(&self) -> &str;

    /// Returns the literal parts and the gaps, in their order.
    fn fragments(&self) -> Fragments<'_> {
        Fragments(self.gapped())
    }

    /// Returns true if a part of the text is not written out.
    fn has_gap(&self) -> bool {
        // Every sign is one byte long.
        self.gapped().bytes().any(|byte| is_gap(byte.into()))
    }

    /// Returns true if a part of the text is unknown.
    fn has_unknown(&self) -> bool {
        self.gapped().bytes().any(|byte| is_unknown(byte.into()))
    }

    /// Returns true if a part of the text may be empty.
    fn has_optional(&self) -> bool {
        self.gapped().contains(may_be_empty)
    }

    /// Returns true if a part of the text is unknown and not empty.
    fn has_certain_gap(&self) -> bool {
        self.gapped().contains(NON_EMPTY_SIGN)
    }

    /// Returns true if the text begins with a part that may be empty.
    fn starts_optional(&self) -> bool {
        self.gapped().starts_with(UNKNOWN_SIGN)
    }

    /// Returns true if the text begins with an unknown part.
    fn starts_unknown(&self) -> bool {
        self.gapped().starts_with(is_unknown)
    }

    /// Returns the rest of a path in the home directory.
    fn after_home(&self) -> Option<&str> {
        self.gapped().strip_prefix(HOME_SIGN)
    }

    /// Returns true for a path that does not depend on the working directory.
    fn is_rooted(&self) -> bool {
        self.gapped().starts_with(['/', HOME_SIGN])
    }

    /// Returns true if the text contains the elements of a list.
    fn has_elements(&self) -> bool {
        self.gapped().contains(ELEMENT_SIGN)
    }

    /// Returns true if the text is a list.
    fn is_list(&self) -> bool {
        self.gapped().starts_with(ELEMENT_SIGN)
    }

    /// Returns the text before the elements of a list, and the elements.
    fn elements(&self) -> impl Iterator<Item = &str> + Clone {
        self.gapped().split(ELEMENT_SIGN)
    }

    /// Returns the text without the parts at its start that may be empty.
    fn without_optional_start(&self) -> &str {
        self.gapped().trim_start_matches(UNKNOWN_SIGN)
    }

    /// Returns the text with `number` in the place of each part that is unknown but not empty.
    fn with_number(&self, number: &str) -> String {
        self.gapped().replace(NON_EMPTY_SIGN, number)
    }

    /// Returns the text with its unknown parts taken for data, which no shell reads as an expansion.
    fn as_data(&self) -> Cow<'_, str> {
        if !self.has_unknown() {
            return self.gapped().into();
        }
        self.gapped().replace(is_unknown, REPLACEMENT).into()
    }

    /// Returns the text in the syntax of the shell, with its gaps written as expansions again.
    fn as_source(&self) -> Cow<'_, str> {
        if !self.has_gap() {
            return self.gapped().into();
        }
        self.gapped().replace(HOME_SIGN, "$HOME").replace(is_unknown, "${UNKNOWN}").into()
    }
}

impl Gaps for str {
    fn gapped(&self) -> &str {
        self
    }
}

/// An iterator over the fragments of a text.
#[derive(Clone, Debug)]
pub(crate) struct Fragments<'t>(&'t str);

impl<'t> Iterator for Fragments<'t> {
    type Item = Fragment<'t>;

    fn next(&mut self) -> Option<Fragment<'t>> {
        let first = self.0.chars().next()?;
        let end = if is_sign(first) { first.len_utf8() } else { self.0.find(is_sign).unwrap_or(self.0.len()) };
        let (part, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        Some(match first {
            UNKNOWN_SIGN => Fragment::Unknown,
            NON_EMPTY_SIGN => Fragment::NonEmpty,
            HOME_SIGN => Fragment::Home,
            ELEMENT_SIGN => Fragment::Element,
            _ => Fragment::Literal(part),
        })
    }
}

/// The limit of words from the output of a command that replace the command.
const MAX_PRINTED_WORDS: usize = 64;

/// The part of a word that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// Every character is known.
    #[default]
    Fully,
    /// The unknown part has a known form: a number, a date, an identifier, an absolute path. It can neither be an
    /// option nor become several words that are one.
    Form,
    /// The unknown part is a name of git: a word of its own, which may begin like an option.
    Name,
    /// The unknown part comes from the environment, or is a file name that begins with written text.
    Environment,
    /// The unknown part may be any text.
    Partly,
}

/// The meaning of the unknown parts of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// They may be anything.
    #[default]
    Anything,
    /// They are environment variables whose names say that they hold an address, a number or a name.
    Address,
    /// They are numbers from arithmetic.
    Number,
}

/// The part of a word that is the result of an expansion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// No part. The word is written out.
    #[default]
    Text,
    /// A part, even if its value is known.
    Expansion,
    /// A part that is the output of a command.
    Output,
}

/// One argument of a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    text: SmolStr,
    /// The signs in the text.
    signs: Signs,
    span: Span,
    known: Known,
    origin: Origin,
    meaning: Meaning,
    /// True if the word has a glob outside quotes.
    glob: bool,
    /// True if the word may become several words, or no word.
    splits: bool,
    /// True if the word becomes an unknown number of unknown words.
    open: bool,
    /// True if the word contains a variable that may be secret, by its name or because the text has set it.
    secret: bool,
    /// True if the word is exactly its text whenever it is used, although a command prints a part of it.
    printed_whole: bool,
    /// The content of the file that the word names, if a process substitution determines it.
    content: Option<Box<str>>,
}

/// Constructors.
impl Word {
    /// Creates a word of this text. Every character is known, except for the gaps of a text that comes from an input.
    pub(crate) fn literal(text: impl Into<SmolStr>, span: Span) -> Self {
        let word = Word::written(text, span);
        let known = if word.has_unknown() { Known::Partly } else { Known::Fully };
        Word { known, ..word }
    }

    /// Creates a word of a text that has no gap.
    pub(crate) fn written(text: impl Into<SmolStr>, span: Span) -> Self {
        let text = text.into();
        let signs = Signs::of(&text);
        Word::signed(text, signs, span)
    }

    /// Creates a word of a text that has no gap, and these signs.
    pub(crate) fn signed(text: SmolStr, signs: Signs, span: Span) -> Self {
        Word { text, signs, span, ..Word::default() }
    }

    /// Creates a word of which nothing is known, not even how many words it becomes.
    pub(crate) fn anything(span: Span) -> Self {
        Word { open: true, ..Word::unknown(span) }
    }

    /// Creates a single word that may be any text.
    pub(crate) fn unknown(span: Span) -> Self {
        Word::literal(Fragment::Unknown, span)
    }

    /// Creates a word that becomes any number of identifiers.
    pub(crate) fn identifiers(span: Span) -> Self {
        let (known, origin) = (Known::Form, Origin::Expansion);
        Word { known, origin, splits: true, open: true, ..Word::written(Fragment::NonEmpty, span) }
    }

    /// Returns this word with another text. A word of which every character was known stays so unless the text has a
    /// gap.
    pub(crate) fn with_text(&self, text: impl Into<SmolStr>) -> Self {
        let text = text.into();
        let signs = Signs::of(&text);
        let known = if self.known == Known::Fully && signs.has(Signs::UNKNOWN) { Known::Partly } else { self.known };
        Word { text, signs, known, printed_whole: false, content: self.content.clone(), ..*self }
    }

    /// Returns this word with a text of which a part may be anything.
    pub(crate) fn partly(&self, text: impl Into<SmolStr>) -> Self {
        Word { known: Known::Partly, ..self.with_text(text) }
    }

    /// Returns this word with `word` in the place of each `mark`.
    pub(crate) fn filled(&self, mark: &str, word: &Word) -> Self {
        let known = if word.is_of_environment() { word.known } else { Known::Partly };
        let secret = self.secret || word.secret;
        let text = if self.text == mark { word.text.clone() } else { self.text.replace(mark, &word.text).into() };
        Word { known, secret, meaning: Meaning::Anything, ..self.with_text(text) }
    }

    /// Gives this word its place and the meaning of its unknown parts. It becomes any number of words if it is `open`.
    pub(crate) fn complete(&mut self, span: Span, open: bool, meaning: Meaning) {
        (self.span, self.open, self.meaning) = (span, self.open || open, meaning);
    }

    /// Notes that a command prints exactly this text, whenever the word is used.
    pub(crate) fn set_printed_whole(&mut self) {
        self.printed_whole = self.is_exact() && !self.text.has_gap();
    }

    /// Returns true if the word is exactly its text whenever it is used, although a command prints a part of it.
    pub(crate) fn is_printed_whole(&self) -> bool {
        self.printed_whole
    }

    /// Returns this word as the result of an expansion.
    pub(crate) fn into_expansion(self) -> Self {
        self.of_origin(Origin::Expansion)
    }

    /// Returns this word with the origin, unless it has a stronger one already.
    pub(crate) fn of_origin(self, origin: Origin) -> Self {
        Word { origin: self.origin.max(origin), ..self }
    }

    /// Returns this word with this knowledge of its text.
    pub(crate) fn knowing(self, known: Known) -> Self {
        Word { known, ..self }
    }

    /// Returns this word with this meaning of its unknown parts.
    pub(crate) fn meaning(self, meaning: Meaning) -> Self {
        Word { meaning, ..self }
    }

    /// Returns this word as a pattern, or as no pattern.
    pub(crate) fn globbing(self, glob: bool) -> Self {
        Word { glob, ..self }
    }

    /// Returns this word as one that may become several words, or as one that does not.
    pub(crate) fn splitting(self, splits: bool) -> Self {
        Word { splits, ..self }
    }

    /// Returns this word as one that becomes any number of words, if it does.
    pub(crate) fn opened(self, open: bool) -> Self {
        Word { open: self.open || open, ..self }
    }

    /// Returns this word as one that may be secret, if it may.
    pub(crate) fn keeping_secret(self, secret: bool) -> Self {
        Word { secret: self.secret || secret, ..self }
    }

    /// Returns this word with the content of its file, or with the output in it.
    pub(crate) fn holding(self, content: Option<Box<str>>) -> Self {
        Word { content, ..self }
    }
}

/// Questions.
impl Word {
    /// Returns the text, with its gaps.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text as a builtin receives it: a list is written in parentheses.
    pub(crate) fn argument(&self) -> Cow<'_, str> {
        match self.text.split_once(ELEMENT_SIGN) {
            Some((before, elements)) => format!("{before}({})", elements.replace(ELEMENT_SIGN, " ")).into(),
            None => self.text().into(),
        }
    }

    /// Returns the text as a value of its own.
    pub(crate) fn shared_text(&self) -> SmolStr {
        self.text.clone()
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
        self.origin > Origin::Text
    }

    /// Returns true if the word contains the output of a command.
    pub(crate) fn has_output(&self) -> bool {
        self.origin == Origin::Output
    }

    /// Returns true if the unknown part comes from environment variables whose names say that they hold an address, a
    /// number or a name.
    pub(crate) fn is_named(&self) -> bool {
        self.meaning == Meaning::Address
    }

    /// Returns true if the unknown part consists of numbers from arithmetic.
    pub(crate) fn is_number(&self) -> bool {
        self.meaning == Meaning::Number
    }

    /// Returns true if the word contains a variable that may be secret, by its name or because the text has set it.
    pub(crate) fn may_be_secret(&self) -> bool {
        self.secret
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

    /// Returns the signs in the text of the word.
    pub(crate) fn signs(&self) -> Signs {
        self.signs
    }

    /// Returns true if the text has one of these signs.
    pub(crate) fn has(&self, any: Signs) -> bool {
        self.signs.has(any)
    }

    /// Returns true if a part of the text is unknown.
    pub(crate) fn has_unknown(&self) -> bool {
        self.has(Signs::UNKNOWN)
    }

    /// Returns true if a part of the text is not written out.
    pub(crate) fn has_gap(&self) -> bool {
        self.has(Signs::UNKNOWN.or(Signs::HOME))
    }

    /// Returns true if the text contains the home directory.
    pub(crate) fn has_home(&self) -> bool {
        self.has(Signs::HOME)
    }

    /// Returns true if the text begins with an unknown part.
    pub(crate) fn starts_unknown(&self) -> bool {
        self.text.starts_unknown()
    }

    /// Returns true if every character is known and the word is not a pattern.
    pub(crate) fn is_exact(&self) -> bool {
        self.known == Known::Fully && !self.glob && !self.splits && !self.has_home()
    }

    /// Returns true if the word is exact and contains no expansion.
    pub(crate) fn is_written(&self) -> bool {
        self.is_exact() && !self.is_expanded()
    }

    /// Returns true if a part of the word is unknown, and comes from the environment or has a known form.
    pub(crate) fn is_of_environment(&self) -> bool {
        matches!(self.known, Known::Form | Known::Name | Known::Environment)
    }

    /// Returns true if a part of the word may be a file name that the line does not contain. Whoever creates the file
    /// may choose a name that arithmetic runs.
    pub(crate) fn may_be_file_name(&self) -> bool {
        let is_held = self.is_expanded() && !matches!(self.known, Known::Fully | Known::Form);
        self.is_pattern() || is_held && self.text.contains(['*', '?', '['])
    }

    /// Returns true if the word may contain any text.
    pub(crate) fn is_wild(&self) -> bool {
        self.known == Known::Partly
    }

    /// Returns true if a program may read the word as an option although it is not written as one.
    pub(crate) fn may_be_option(&self) -> bool {
        let open_start = self.starts_unknown() || self.text.is_empty();
        // `!(x)` and similar patterns are patterns as a whole. After an empty variable, a pattern begins the word.
        let pattern = self.text.without_optional_start();
        // A variable keeps the text of its glob. The name that the glob finds may begin with any character.
        let glob_start = (self.glob || self.is_wild()) && pattern.starts_with(['*', '?', '[', '!', '@', '+']);
        let may_start = self.known >= Known::Name && open_start;
        glob_start || may_start || (self.known >= Known::Environment && self.splits)
    }

    /// Returns the words that the output of a command becomes, as far as it is known. Otherwise returns the word
    /// itself.
    pub(crate) fn printed_words(&self) -> Vec<Word> {
        match &self.content {
            Some(text) if self.has_output() && !self.text.contains("/dev/fd/63") => {
                let words = text.split_whitespace().take(MAX_PRINTED_WORDS);
                // The text around the output stays: before its first word and after its last word.
                let (before, behind) = self.text.split_once(is_unknown).unwrap_or_default();
                let mut words: Vec<String> = words.map(str::to_owned).collect();
                words.first_mut().into_iter().for_each(|first| first.insert_str(0, before));
                words.last_mut().into_iter().for_each(|last| last.push_str(behind));
                words.into_iter().map(|word| Word::literal(word, self.span).into_expansion()).collect()
            }
            _ => vec![self.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_its_fragments() {
        let text = format!("a{UNKNOWN}b/{NON_EMPTY}");
        let expected = [Fragment::Literal("a"), Fragment::Unknown, Fragment::Literal("b/"), Fragment::NonEmpty];
        assert!(text.fragments().eq(expected));
        assert_eq!(text.fragments().map(|fragment| fragment.to_string()).collect::<String>(), text);
        assert_ne!(text, "ab/");
        assert!(text.has_unknown() && !text.starts_unknown() && text.get(1..).is_some_and(Gaps::starts_unknown));
    }

    #[test]
    fn text_of_a_line_never_becomes_a_gap() {
        let every: String = (0..=0xffff).filter_map(char::from_u32).collect();
        let word = literal(&every);
        assert!(word.fragments().eq([Fragment::Literal(&word)]));
        assert!(!word.has_gap() && !word.has_elements());
        assert_eq!(literal("a b"), "a b");
    }

    #[test]
    fn a_list_is_written_in_parentheses_for_a_builtin() {
        let element = Fragment::Element;
        let list = Word::literal(format!("x={element}a{element}b"), Span::default());
        assert_eq!(list.argument(), "x=(a b)");
        assert_eq!(list.text().elements().collect::<Vec<_>>(), ["x=", "a", "b"]);
    }
}
