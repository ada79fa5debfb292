//! Tests the two texts that a hook reads: the call of its host, and the reply of the server.

#![no_main]

use bestow_cli::fuzzing::{question, reply};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: (u16, &[u8])| {
    let (status, text) = input;
    match question(text) {
        Ok(asked) => {
            let (asked, told): (Value, Value) =
                (serde_json::from_str(&asked).unwrap(), serde_json::from_slice(text).unwrap());
            // Every name that the host uses has the value that the server is asked about.
            for (names, name) in
                [(["toolName", "tool_name", "tool"], "toolName"), (["toolInput", "tool_input", "input"], "toolInput")]
            {
                let mut values = names.iter().filter_map(|name| told.get(name)).peekable();
                assert!(values.peek().is_some());
                let is_same = |value: &Value| match value {
                    Value::Null => name == "toolInput",
                    // A number with a fraction may be rounded.
                    value => *value == asked[name] || has_fraction(value),
                };
                assert!(values.all(is_same));
            }
            assert!(asked["toolName"].is_string() && asked["toolInput"].is_object());
        }
        Err(why) => assert!(!why.is_empty()),
    }
    for status in [200, status] {
        let Some((line, allow)) = reply(status, text) else { continue };
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["allow"], allow);
        assert!(line.ends_with('\n') && line.lines().count() == 1);
        if allow {
            let told: Value = serde_json::from_slice(text).unwrap();
            assert!(status == 200 && told["allow"] == true && told["updatedInput"].is_null());
        } else {
            assert!(!answer["reason"].as_str().unwrap().is_empty());
        }
    }
});

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(list) => list.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
