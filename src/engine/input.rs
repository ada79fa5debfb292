//! The input of a tool: its canonical form, to which an approval is bound, and its form for people.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{cut_to, redacted_value};

/// The maximum length of a shown input. With the name of its tool it is short enough not to be cut again.
const LONGEST_INPUT: usize = 1_800;

/// Returns the input with the keys of each object sorted, so that equal inputs have one form.
pub(super) fn canonical(input: &Value) -> Value {
    match input {
        Value::Array(list) => list.iter().map(canonical).collect(),
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().map(|(key, value)| (key.clone(), canonical(value))).collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(entries.into_iter().collect())
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain.clone(),
    }
}

/// Returns the text of an input that a person sees, without secrets, and true if it was cut. A long input is cut to its
/// beginning and its end, with the number of characters left out.
pub(super) fn shown(input: &Value) -> (Arc<str>, bool) {
    let text = redacted_value(&canonical(input)).to_string();
    match cut_to(LONGEST_INPUT, &text) {
        None => (text.into(), false),
        Some((head, left, tail)) => (format!("{head}… ({left} characters are not shown) …{tail}").into(), true),
    }
}
