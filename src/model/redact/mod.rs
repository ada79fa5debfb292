//! Secrets in texts that are kept and shown: left out, with nothing of them but a mark in their place.
//!
//! What binds an approval is made of the text before anything is left out of it (`ActionFacts::input`), so two actions
//! never become one here. What is left out is one word without white space and without anything that a shell acts on, and
//! it has the form of a token or stands where a known program takes a password: what could be run is shown, even where its
//! name speaks of a secret. This is a net, not a wall.

mod names;
mod scan;
mod tokens;

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde_json::Value;

/// What begins the mark in the place of a secret. How many characters it had follows: `[redacted 17]`.
const MARK_START: &str = "[redacted";

/// What stands in the place of texts of which nothing is shown.
const MARK: &str = "[redacted]";

/// With more secrets than this in one text, what is derived from that text is left out as a whole.
const MOST: usize = 64;

/// Shorter secrets are too likely to be part of something else.
const SHORTEST: usize = 4;

/// `text` as it may be kept and shown. Takes time in proportion to the text, and grows it at most thirteenfold.
pub(crate) fn redacted(text: &str) -> Arc<str> {
    without(text, scan::secrets(text).iter()).into()
}

/// The secrets of a text from which others are made, looked for once.
#[derive(Debug)]
pub(crate) struct Secrets<'t> {
    text: &'t str,
    spans: Vec<Range<usize>>,
    /// Those that are long enough to be told from other words, the longest first.
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

    /// The text as it may be kept and shown, for a command line of which these are the programs: what runs is shown,
    /// whatever it looks like.
    pub(crate) fn redacted_but(&self, programs: &[&str]) -> Arc<str> {
        let runs = |secret: &str| programs.iter().any(|program| program.contains(secret));
        let is_secret = |span: &&Range<usize>| self.text.get(Range::clone(span)).is_none_or(|secret| !runs(secret));
        without(self.text, self.spans.iter().filter(is_secret)).into()
    }

    /// A text that was made from this one, and may have in it what only this one shows to be a secret.
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

/// A text that was made from `source`, and may have in it what only `source` shows to be a secret.
pub(crate) fn redacted_with(text: &str, source: &str) -> Arc<str> {
    Secrets::of(source).redacted_in(text)
}

/// The same for values: texts inside, and what stands below a name that speaks of a secret.
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

/// Whether somebody who saw only a redacted text has put it in the place of the real one.
pub(crate) fn has_mark(text: &str) -> bool {
    text.match_indices(MARK_START).any(|(at, _)| text.get(at..).is_some_and(|rest| mark_at(rest.as_bytes()).is_some()))
}

/// What stands in the place of `secret`.
fn mark(secret: &str) -> String {
    format!("{MARK_START} {}]", secret.chars().count())
}

/// How long the mark is with which `text` begins, if it begins with one.
fn mark_at(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(MARK_START.as_bytes())?;
    let number = rest.strip_prefix(b" ").map_or(0, |rest| 1 + rest.iter().take_while(|b| b.is_ascii_digit()).count());
    (rest.get(number) == Some(&b']')).then_some(MARK_START.len() + number + 1)
}

/// What is shown of a value whose name speaks of a secret, if it has the form of one.
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

#[cfg(all(test, feature = "property-tests"))]
mod tests;
