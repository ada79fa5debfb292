//! Redaction of secrets in stored and displayed texts. A mark replaces each secret, and no part of the secret remains.
//!
//! The digest that binds an approval is computed from the text before redaction (`ActionFacts::input`). Two different
//! actions therefore stay different. A redacted secret is one word without white space and without shell operators. It
//! has the form of a token, or it stands where a known program takes a password. Text that could run is shown, even if
//! its name suggests a secret. Redaction is a safety net and no guarantee.

mod forms;
mod mark;
mod names;
mod places;
mod scan;
mod tokens;

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde_json::Value;

pub(crate) use mark::has_mark;
use mark::{MARK, mark};

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
    values: Vec<&'t str>,
}

impl<'t> Secrets<'t> {
    pub(crate) fn of(text: &'t str) -> Secrets<'t> {
        let spans = scan::secrets(text);
        let mut values: Vec<_> = spans.iter().filter_map(|span| text.get(span.clone())).collect();
        values.retain(|value| value.len() >= SHORTEST);
        values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Secrets { text, spans, values }
    }

    /// Returns the text without secrets, for a command line that runs `programs`. A word that is part of a program name
    /// is shown in any case.
    pub(crate) fn redacted_but(&self, programs: &[&str]) -> Arc<str> {
        let runs = |secret: &str| programs.iter().any(|program| program.contains(secret));
        let is_secret = |span: &&Range<usize>| self.text.get(Range::clone(span)).is_none_or(|secret| !runs(secret));
        without(self.text, self.spans.iter().filter(is_secret)).into()
    }

    /// Redacts a text that was derived from the source text. It may contain secrets that only the source text
    /// identifies.
    pub(crate) fn redacted_in(&self, made: &str) -> Arc<str> {
        if self.values.is_empty() {
            return redacted(made);
        }
        if self.values.len() > MOST {
            return MARK.into();
        }
        let plain = self.values.iter().fold(made.to_owned(), |text, value| text.replace(value, &mark(value)));
        redacted(&plain)
    }
}

/// Redacts a text that was derived from `source`. It may contain secrets that only `source` identifies.
pub(crate) fn redacted_with(text: &str, source: &str) -> Arc<str> {
    Secrets::of(source).redacted_in(text)
}

/// Redacts a JSON value: the texts inside, and each value whose name suggests a secret.
pub(crate) fn redacted_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(redacted(text).as_ref()),
        Value::Array(list) => list.iter().map(redacted_value).collect(),
        Value::Object(object) => {
            let inside = |(name, value): (&String, &Value)| {
                (name.clone(), hidden(name, value).unwrap_or_else(|| redacted_value(value)))
            };
            Value::Object(object.iter().map(inside).collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain.clone(),
    }
}

/// Returns the mark for a value whose name suggests a secret, if the value looks like one.
fn hidden(name: &str, value: &Value) -> Option<Value> {
    if names::strength(name) != Some(names::Strength::Strong) {
        return None;
    }
    match value {
        Value::String(text) => scan::is_token(text).then(|| mark(text).into()),
        Value::Number(number) => Some(mark(&number.to_string()).into()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn without<'t, 's>(text: &'t str, secrets: impl Iterator<Item = &'s Range<usize>>) -> Cow<'t, str> {
    let mut secrets = secrets.peekable();
    if secrets.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        shown.push_str(text.get(from..secret.start).unwrap_or_default());
        shown.push_str(&mark(text.get(secret.clone()).unwrap_or_default()));
        from = secret.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shown)
}

#[cfg(test)]
#[cfg(feature = "property-tests")]
mod service_tests;
#[cfg(test)]
#[cfg(feature = "property-tests")]
mod tests;
