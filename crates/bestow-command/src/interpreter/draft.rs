//! A word while its pieces are expanded. It may become several words.

use smol_str::{SmolStr, SmolStrBuilder};

use crate::{
    few::Few,
    span::Span,
    word::{Fragment, Known, Origin, UNKNOWN, Word, literal},
};

/// The longest word, in bytes. The end of a longer word counts as unknown.
const MAX_WORD: usize = 32 * 1024;

/// The cost of a word in addition to its text, in bytes.
const COST_OF_A_WORD: usize = 64;

/// The words that one word may become, while its pieces are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) done: Few<Word>,
    /// The text of the current word, and what is known about it.
    pub(super) text: SmolStrBuilder,
    pub(super) known: Known,
    pub(super) origin: Origin,
    pub(super) glob: bool,
    pub(super) splits: bool,
    pub(super) open: bool,
    pub(super) secret: bool,
    pub(super) content: Option<Box<str>>,
    /// True if the current word has text, even an empty one: `""` is a word.
    pub(super) started: bool,
    /// The bytes of words that the values so far have produced.
    pub(super) made: usize,
}

/// Returns true for a value that a shell takes for a pattern outside quotes. Some shells read a backslash in it.
fn is_pattern(value: &str) -> bool {
    value.contains(['*', '?', '[', '\\'])
}

impl Draft {
    /// Creates a draft of a word that may be any text.
    pub(super) fn unknown() -> Self {
        let (known, origin) = (Known::Partly, Origin::Expansion);
        let mut draft = Draft { known, origin, splits: true, started: true, ..Draft::default() };
        draft.push_unknown();
        draft
    }

    pub(super) fn push(&mut self, text: &str) {
        self.started = true;
        self.text.push_str(&literal(text));
    }

    pub(super) fn push_unknown(&mut self) {
        self.text.push_str(&SmolStr::from(UNKNOWN));
    }

    pub(super) fn start_element(&mut self) {
        self.started = true;
        self.text.push_str(&SmolStr::from(Fragment::Element));
    }

    /// Appends the value of an expansion, including its markers. Outside quotes, separators in the value end the word.
    pub(super) fn push_value(&mut self, value: &str, known: Known, separators: Option<&[char]>) {
        self.origin = self.origin.max(Origin::Expansion);
        self.known = self.known.max(known);
        if self.text.len() + value.len() > MAX_WORD {
            self.known = Known::Partly;
            self.push_unknown();
            self.started = true;
            return;
        }
        let Some(separators) = separators else {
            self.started = true;
            self.text.push_str(value);
            return;
        };
        self.made += value.len();
        self.splits |= known != Known::Fully;
        self.glob |= is_pattern(value);
        let mut parts = value.split(separators);
        if let Some(first) = parts.next() {
            self.text.push_str(first);
            self.started |= !first.is_empty();
        }
        for part in parts {
            self.made += COST_OF_A_WORD;
            self.end_word();
            self.origin = Origin::Expansion;
            self.known = known;
            self.splits = known != Known::Fully;
            self.glob = is_pattern(part);
            self.text.push_str(part);
            self.started = !part.is_empty();
        }
    }

    /// Appends `"${list[@]}"`: the first element ends this word, and the last one begins the next.
    pub(super) fn push_list(&mut self, elements: &[SmolStr], known: Known, separators: Option<&[char]>) {
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.made += COST_OF_A_WORD;
                self.end_word();
            }
            self.push_value(element, known, separators);
        }
    }

    /// Ends the current word and begins another one.
    pub(super) fn end_word(&mut self) {
        let (made, secret) = (self.made, self.secret);
        let done = std::mem::take(self).into_words();
        *self = Draft { done, made, secret, ..Draft::default() };
    }

    /// Returns the words, including the current one if it was started.
    pub(super) fn into_words(self) -> Few<Word> {
        let Draft { mut done, text, known, origin, glob, splits, open, secret, content, started, .. } = self;
        if started {
            // The command `[` is a name, not the start of a pattern.
            let text = text.finish();
            let glob = glob && text != "[";
            let word = Word::literal(text, Span::default()).knowing(known).of_origin(origin).globbing(glob);
            let word = word.splitting(splits).opened(open).keeping_secret(secret).holding(content);
            if done.is_empty() {
                return Few::One(word);
            }
            done.push(word);
        }
        done
    }
}
