//! The tool call that a host describes on standard input.

use std::{
    io::{self, Read},
    time::Duration,
};

use bestow::text::StrictJson;
use serde_json::{Map, Value, json};

/// The longest description, in bytes. It is the longest body that the server reads.
const LONGEST: usize = 1 << 20;

/// The names under which hosts send the name of the tool.
const TOOL: [&str; 3] = ["toolName", "tool_name", "tool"];

/// The names under which hosts send the input of the tool.
const INPUT: [&str; 3] = ["toolInput", "tool_input", "input"];

/// Reads the description of a call to its end. Returns the body of the question about it.
pub(super) fn read(from: impl Read, wait: Duration) -> Result<String, String> {
    let text = crate::remote::at_most(from, LONGEST).map_err(|why: io::Error| format!("standard input: {why}"))?;
    question(&text, wait)
}

/// Returns the body of the question about the call in `text`.
pub(super) fn question(text: &[u8], wait: Duration) -> Result<String, String> {
    let wrong = |why: String| format!("standard input is not the description of a tool call: {why}");
    let StrictJson(value) = StrictJson::read(text).map_err(|why| wrong(why.to_string()))?;
    let Value::Object(fields) = value else { return Err(wrong("it is one JSON object".to_owned())) };
    let tool = one_of(&fields, TOOL).map_err(wrong)?;
    let input = one_of(&fields, INPUT).map_err(wrong)?;
    let tool = tool.as_str().filter(|tool| !tool.is_empty());
    let tool = tool.ok_or_else(|| wrong(format!("`{}` is a text that is not empty", TOOL.join("` or `"))))?;
    let none = Value::Object(Map::new());
    let input = match input {
        Value::Null => &none,
        Value::Object(_) => input,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(wrong(format!("`{}` is an object", INPUT.join("` or `"))));
        }
    };
    // A wait has at most 8 seconds.
    let wait = u64::try_from(wait.as_millis()).unwrap_or_default();
    Ok(json!({ "toolName": tool, "toolInput": input, "waitMs": wait }).to_string())
}

/// Returns the value under one of these names. A host that sends none of them has another name for it, and the server
/// would decide about something else. The same holds for two different values.
fn one_of<'a>(fields: &'a Map<String, Value>, names: [&str; 3]) -> Result<&'a Value, String> {
    let mut found = names.iter().filter_map(|name| fields.get(*name));
    let first = found.next().ok_or_else(|| format!("`{}` is missing", names.join("` or `")))?;
    if found.all(|other| other == first) {
        Ok(first)
    } else {
        Err(format!("`{}` have different values", names.join("` and `")))
    }
}
