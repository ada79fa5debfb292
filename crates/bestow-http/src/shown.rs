//! The input of a tool call as every dialect shows it.

use bestow::action::ActionFacts;
use serde_json::{Value, json};

/// Returns the input of a tool call without its secrets. An input that is too long to show is cut, and says so.
pub(crate) fn tool_input(action: &ActionFacts) -> Value {
    let Some(details) = &action.details else { return json!({ "resource": &*action.resource }) };
    if details.left_out == 0
        && let Ok(input) = serde_json::from_str(&details.shown)
    {
        return input;
    }
    json!({ "shown": &*details.shown, "leftOut": details.left_out, "digest": details.digest.to_string() })
}
