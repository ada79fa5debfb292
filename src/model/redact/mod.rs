//! Secrets in texts that are kept and shown: left out, with nothing of them but a mark in their place.
//!
//! What binds an approval is made of the text before anything is left out of it (`ActionFacts::input`), so two actions
//! never become one here. And what is left out is one value: never an operator, a line break or a command inside, so that
//! nothing that runs can hide behind a mark. A text from which a secret cannot be told by its name, its place or its form
//! keeps it: this is a net, not a wall.

mod names;
mod scan;
mod tokens;

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde_json::Value;

/// What stands in the place of a secret.
const MARK: &str = "[redacted]";

/// With more secrets than this in one text, what is derived from that text is left out as a whole.
const MOST: usize = 64;

/// Shorter secrets are too likely to be part of something else.
const SHORTEST: usize = 4;

/// `text` as it may be kept and shown. Takes time in proportion to the text, and grows it at most tenfold.
pub(crate) fn redacted(text: &str) -> Arc<str> {
    without(text, &scan::secrets(text)).into()
}

/// The same for a text that was made from `source`, and may have in it what only `source` shows to be a secret.
pub(crate) fn redacted_with(text: &str, source: &str) -> Arc<str> {
    let mut values: Vec<_> = scan::secrets(source).into_iter().filter_map(|span| source.get(span)).collect();
    values.retain(|value| value.len() >= SHORTEST && *value != MARK);
    if values.is_empty() {
        return redacted(text);
    }
    values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
    values.dedup();
    if values.len() > MOST {
        return MARK.into();
    }
    let plain = values.into_iter().fold(text.to_owned(), |text, value| text.replace(value, MARK));
    redacted(&plain)
}

/// The same for values: texts inside, and what stands below a name that speaks of a secret.
pub(crate) fn redacted_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(redacted(text).as_ref()),
        Value::Array(list) => list.iter().map(redacted_value).collect(),
        Value::Object(object) => {
            let is_secret = |name: &str| names::strength(name) == Some(names::Strength::Strong);
            let inside = |(name, value): (&String, &Value)| {
                let is_plain = value.is_string() || value.is_number();
                let left_out = is_plain && is_secret(name);
                (name.clone(), if left_out { Value::from(MARK) } else { redacted_value(value) })
            };
            Value::Object(object.iter().map(inside).collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain.clone(),
    }
}

/// Whether somebody who saw only a redacted text has put it in the place of the real one.
pub(crate) fn has_mark(text: &str) -> bool {
    text.contains(MARK)
}

fn without<'t>(text: &'t str, secrets: &[Range<usize>]) -> Cow<'t, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        shown.push_str(text.get(from..secret.start).unwrap_or_default());
        shown.push_str(MARK);
        from = secret.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests;
