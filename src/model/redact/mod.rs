//! Redaction of secrets in stored and displayed texts. A mark replaces each secret, and no part of the secret remains.
//!
//! The digest that binds an approval is computed from the text before redaction (`ActionFacts::input`). Two different
//! actions therefore stay different. A redacted secret is one word without white space and without shell operators. It
//! has the form of a token, or it stands where a known program takes a password. Text that could run is shown, even if
//! its name suggests a secret. Redaction is a safety net and no guarantee.

mod cookies;
mod forms;
mod json;
mod mark;
mod names;
mod places;
mod scan;
mod spans;
mod tokens;
mod urls;

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde_json::Value;

pub(crate) use mark::has_mark;
use mark::{MARK, mark};
use spans::without;

/// The most secrets in one source text. With more of them, a text derived from it is hidden completely.
const MOST: usize = 64;

/// The shortest secret that is searched in derived texts, in bytes. A shorter one is too likely to be part of another
/// word.
const SHORTEST: usize = 4;

/// Returns `text` without secrets, for storing and displaying. The run time is proportional to the length of the text.
/// The text grows at most thirteenfold.
pub(crate) fn redacted(text: &str) -> Arc<str> {
    without(text, scan::secrets(text).iter()).into()
}

/// The secrets of a source text, found once and then removed from derived texts.
#[derive(Debug)]
pub(crate) struct Secrets<'t> {
    text: &'t str,
    spans: Vec<Range<usize>>,
    /// The secrets that are long enough to be distinct from other words, longest first.
    values: Vec<Cow<'t, str>>,
}

impl<'t> Secrets<'t> {
    pub(crate) fn of(text: &'t str) -> Secrets<'t> {
        let spans = scan::secrets(text);
        let values = long_enough(spans.iter().filter_map(|span| text.get(span.clone())).map(Cow::Borrowed).collect());
        Secrets { text, spans, values }
    }

    /// Returns the secrets of the input of a tool.
    pub(crate) fn of_input(input: &Value) -> Secrets<'static> {
        let values = json::redacted(input).found.into_iter().map(Cow::Owned).collect();
        Secrets { text: "", spans: Vec::new(), values: long_enough(values) }
    }

    /// Adds the secrets of another source.
    pub(crate) fn and(self, others: Secrets<'t>) -> Secrets<'t> {
        let values = self.values.into_iter().chain(others.values).collect();
        Secrets { values: long_enough(values), ..self }
    }

    /// Returns the text without secrets, for a command line that runs `programs`. A word that is part of a program name
    /// is shown in any case.
    pub(crate) fn redacted_but(&self, programs: &[&str]) -> Arc<str> {
        let runs = |secret: &str| programs.iter().any(|program| program.contains(secret));
        let is_secret = |span: &&Range<usize>| self.text.get(Range::clone(span)).is_none_or(|secret| !runs(secret));
        without(self.text, self.spans.iter().filter(is_secret)).into()
    }

    /// Leaves out the secrets that `shown` has at another place. Who reads it knows them, and they may be paths there.
    pub(crate) fn except_shown_in(mut self, shown: &str) -> Secrets<'t> {
        self.values.retain(|value| !shown.contains(&**value));
        self
    }

    /// Redacts a text that was derived from the source text. It may contain secrets that only the source text
    /// identifies.
    pub(crate) fn redacted_in(&self, made: &str) -> Arc<str> {
        if self.values.is_empty() { redacted(made) } else { redacted(&self.removed_from(made)) }
    }

    /// Redacts the secrets of the source text, and no others, in a text that was derived from it.
    pub(crate) fn removed_from(&self, made: &str) -> Arc<str> {
        if self.values.len() > MOST {
            return MARK.into();
        }
        self.values.iter().fold(made.to_owned(), |text, value| text.replace(&**value, &mark(value))).into()
    }
}

/// Redacts a text that was derived from `source`. It may contain secrets that only `source` identifies.
pub(crate) fn redacted_with(text: &str, source: &str) -> Arc<str> {
    Secrets::of(source).redacted_in(text)
}

/// Redacts a JSON value: the secrets in its texts, the values below a name that suggests a secret, and the options of
/// commands that are lists of words.
pub(crate) fn redacted_value(value: &Value) -> Value {
    json::redacted(value).value
}

/// Returns the secrets that are searched in other texts.
fn long_enough(mut values: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    values.retain(|value| value.len() >= SHORTEST);
    values.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    values.dedup();
    values
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod service_tests;
#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests;
