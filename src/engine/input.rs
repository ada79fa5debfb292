//! The input of a tool: in the one form that binds an approval, and as a person sees it.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{cut_to, redacted_value};

/// More of an input is not kept to be shown. With the name of its tool it is short enough not to be cut again.
const LONGEST_INPUT: usize = 1_800;

/// The input with the keys of each object in order: inputs that say the same are the same.
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

/// What a person sees of it, without secrets: its beginning and its end, if it is too long, with how much stands between
/// them; and whether that is so.
pub(super) fn shown(input: &Value) -> (Arc<str>, bool) {
    let text = redacted_value(&canonical(input)).to_string();
    match cut_to(LONGEST_INPUT, &text) {
        None => (text.into(), false),
        Some((head, left, tail)) => (format!("{head}… ({left} characters are not shown) …{tail}").into(), true),
    }
}
