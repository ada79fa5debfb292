//! The lists of words in a tool input.

use serde_json::Value;

use crate::tool::declared;

/// Returns the lists of words in `value`, each joined to a command line.
pub(crate) fn words_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => {
            let words: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
            let inner = all.iter().filter(|one| !one.is_string()).flat_map(words_in);
            (!words.is_empty()).then(|| declared::joined(&words)).into_iter().chain(inner).collect()
        }
        Value::Object(fields) => fields.values().flat_map(words_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
