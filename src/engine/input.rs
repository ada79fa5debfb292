//! The input of a tool: in the one form that binds an approval, and as a person sees it.

use std::{fmt::Write, sync::Arc};

use serde_json::Value;

use crate::model::redacted_value;

/// More of an input nobody reads in a question; how much there is besides is said.
const LONGEST_SHOWN: usize = 2_000;

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

/// What a person sees of it: without secrets, and with a note of how much is left out.
pub(super) fn shown(input: &Value) -> Arc<str> {
    let text = redacted_value(&canonical(input)).to_string();
    let Some((end, _)) = text.char_indices().nth(LONGEST_SHOWN) else { return text.into() };
    let mut shown = text.get(..end).unwrap_or_default().to_owned();
    let left = text.chars().count() - LONGEST_SHOWN;
    let _ = write!(shown, "… ({left} more characters are not shown)");
    shown.into()
}
