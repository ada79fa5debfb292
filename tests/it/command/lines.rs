//! Tests of the line interface: one line in, one line out.

use bestow::command::Classifier;
use serde_json::Value;

fn answer(line: &str) -> Value {
    let answer = Classifier::default().answer_line(line);
    assert!(!answer.contains('\n'), "{answer}");
    serde_json::from_str(&answer).expect("an answer is JSON")
}

#[test]
fn a_command_and_a_tool_call_are_answered_with_tier_reason_and_parts() {
    let command = answer(r#"{"command":"ls; rm -rf /"}"#);
    assert_eq!(command["tier"], "destructive");
    assert_eq!(command["parts"].as_array().map(Vec::len), Some(2));
    assert_eq!(command["parts"][1]["span"], serde_json::json!([4, 12]));
    assert!(command.get("shape").is_none());
    assert_eq!(answer(r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#)["tier"], "safe");
    assert_eq!(answer(r#"{"toolName":"read","toolInput":{"path":"a"}}"#)["tier"], "safe");
}

#[test]
fn a_line_that_is_nothing_of_the_kind_is_dangerous() {
    for line in [
        "",
        "{}",
        "[]",
        "ls",
        "null",
        r#"{"command":5}"#,
        r#"{"toolName":"bash"}"#,
        r#"{"command":"ls","toolName":"read"}"#,
        "{\"command\":\"ls\"",
    ] {
        assert_eq!(answer(line)["tier"], "dangerous", "{line}");
    }
}

#[test]
fn a_key_that_comes_twice_is_dangerous() {
    assert_eq!(answer(r#"{"command":"ls","command":"ls"}"#)["tier"], "dangerous");
    assert_eq!(answer(r#"{"toolName":"bash","toolInput":{"command":"ls","command":"pwd"}}"#)["tier"], "dangerous");
}

#[test]
fn a_reason_with_quotes_and_backslashes_is_still_one_line_of_json() {
    assert_eq!(answer(r#"{"command":"\"a\\\\b\nc\" x"}"#)["tier"], "dangerous");
}
