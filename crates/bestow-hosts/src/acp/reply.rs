//! The lines that the wrapper itself sends to the agent.

use serde_json::{Value, json, value::RawValue};

use super::permission::Choice;

/// The code of a request that is not valid.
pub(super) const INVALID_REQUEST: i32 = -32600;

/// The code of a request whose sender cancelled it.
pub(super) const CANCELLED: i32 = -32800;

/// Returns the answer to a request for permission.
pub(super) fn outcome(id: &RawValue, choice: &Choice, reason: &str) -> String {
    let outcome = match choice {
        Choice::Selected(option) => json!({ "outcome": "selected", "optionId": option }),
        Choice::Cancelled => json!({ "outcome": "cancelled" }),
    };
    line(Some(id), "result", &json!({ "outcome": outcome, "_meta": { "bestow": { "reason": reason } } }))
}

/// Returns the answer that there is none.
pub(super) fn error(id: Option<&RawValue>, code: i32, why: &str) -> String {
    line(id, "error", &json!({ "code": code, "message": why }))
}

fn line(id: Option<&RawValue>, name: &str, content: &Value) -> String {
    // The id is repeated as it was written.
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{name}\":{content}}}\n", id.map_or("null", RawValue::get))
}
