//! The known values of a variable.

use crate::{
    critical_paths,
    few::Few,
    place::Place,
    word::{Fragment, Gaps, Known, Word},
};
use smol_str::{SmolStr, format_smolstr};

/// The limit of texts of one variable, and the limit of bytes in one text. A larger value becomes unknown.
const MAX_TEXTS: usize = 64;
const MAX_BYTES: usize = 4_096;
/// The limit of bytes of an output that is kept as one of the values.
const MAX_WRITTEN: usize = 1_024;

/// The texts that a variable may have, and how well they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) texts: Few<SmolStr>,
    pub(crate) known: Known,
    /// True if the texts are the elements of a list in their order, and false if they are alternatives.
    pub(crate) list: bool,
}

impl Value {
    /// Creates a value that is one of these texts.
    pub(crate) fn one_of(texts: Few<SmolStr>, known: Known) -> Self {
        let small = texts.len() <= MAX_TEXTS && texts.iter().all(|text| text.len() <= MAX_BYTES);
        if small { Value { texts, known, list: false } } else { Value::wild() }
    }

    /// Creates a value of this text.
    pub(crate) fn one(text: impl Into<SmolStr>, known: Known) -> Self {
        Value::one_of(Few::One(text.into()), known)
    }

    /// Creates a value that is exactly this text.
    pub(crate) fn text(text: impl Into<SmolStr>) -> Self {
        Value::one(text, Known::Fully)
    }

    /// Creates a list of these elements.
    pub(crate) fn list(texts: Few<SmolStr>, known: Known) -> Self {
        Value { list: true, ..Value::one_of(texts, known) }
    }

    /// Creates an unknown value of a harmless form (a number, a commit).
    pub(crate) fn tame() -> Self {
        Value::one(Fragment::NonEmpty, Known::Form)
    }

    /// Creates an unknown value that is one word, which may begin like an option.
    pub(crate) fn name() -> Self {
        Value::one(Fragment::NonEmpty, Known::Name)
    }

    /// Creates an unknown value that is empty or has a harmless form.
    pub(crate) fn tame_or_empty() -> Self {
        Value::one(Fragment::Unknown, Known::Form)
    }

    /// Creates the value of a variable from the environment.
    pub(crate) fn inherited() -> Self {
        Value::one(Fragment::Unknown, Known::Environment)
    }

    /// Creates a value that may be any text.
    pub(crate) fn wild() -> Self {
        Value { texts: Few::One(Fragment::Unknown.into()), known: Known::Partly, list: false }
    }

    /// Creates a value from the alternatives `values`.
    pub(crate) fn of(values: &[Word]) -> Self {
        // The creator of a file chooses the name that a glob finds. But a glob that starts with text finds names with
        // this start.
        let open = values.iter().any(|value| value.is_wild() || value.may_be_option() && value.is_pattern());
        if open {
            let printed = values.iter().filter(|value| value.content().is_some()).flat_map(Word::printed_words);
            let doomed = printed.filter(|word| critical_paths::is_doomed(word.text(), &Place::Somewhere)).take(2);
            // An output that is written out, but may have more lines, may be a command.
            let written = values.iter().filter_map(|value| {
                value.content().filter(|content| content.len() <= MAX_WRITTEN && !content.has_gap())
            });
            let written = written.map(|content| content.trim_end_matches('\n').into()).take(2);
            let doomed = doomed.map(|word| word.shared_text());
            let texts = values.iter().map(|value| value.shared_text()).chain(doomed).chain(written);
            return Value::one_of(texts.collect(), Known::Partly);
        }
        let globs = values.iter().any(|value| value.is_pattern());
        let known = values.iter().map(|value| value.known()).max().unwrap_or_default();
        let known = if globs { known.max(Known::Environment) } else { known };
        Value::one_of(values.iter().map(|value| value.shared_text()).collect(), known)
    }

    /// Returns true if a part of the value may be a file name that the line does not contain. Whoever creates the file
    /// may choose a name that arithmetic runs.
    pub(crate) fn may_be_file_name(&self) -> bool {
        !matches!(self.known, Known::Fully | Known::Form) && self.texts.iter().any(|text| is_pattern(text))
    }

    pub(crate) fn is_wild(&self) -> bool {
        self.known == Known::Partly
    }

    /// Returns a value that is this one or the other.
    pub(crate) fn or(&self, other: &Value) -> Value {
        if self == other {
            return self.clone();
        }
        let more = other.texts.iter().filter(|text| !self.texts.contains(text));
        let texts = self.texts.iter().chain(more).cloned().collect();
        let known = if self.list || other.list { Known::Partly } else { self.known.max(other.known) };
        Value::one_of(texts, known)
    }

    /// Returns this value followed by the other, if the result stays small.
    pub(crate) fn then(&self, other: &Value) -> Value {
        let known = self.known.max(other.known);
        if self.list || other.list || self.texts.len() * other.texts.len() > MAX_TEXTS {
            return self.or(other).or(&Value::wild());
        }
        let both =
            self.texts.iter().flat_map(|start| other.texts.iter().map(move |end| format_smolstr!("{start}{end}")));
        Value::one_of(both.collect(), known)
    }
}

/// Returns true for a text with a character of a pattern.
fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}
