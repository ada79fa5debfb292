//! Tests of the messages as Rust values, for bots and hosts written in Rust.

use bestow::stdio::{FromAgent, FromConnector, ToAgent, ToConnector};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::repository;

/// Asserts that a line is unchanged after it was read and written.
fn same<T: Serialize + DeserializeOwned>(line: &Value) {
    let read: T = serde_json::from_value(line.clone()).unwrap_or_else(|why| panic!("{why}: {line}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), *line);
}

/// Returns every line of an engine in the vectors.
fn said() -> Vec<(bool, Value)> {
    let mut said = Vec::new();
    for file in std::fs::read_dir(repository().join("tests/vectors")).unwrap() {
        let vector: Value = serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
        for step in vector["steps"].as_array().unwrap() {
            let Some(name) = step["read"].as_str() else { continue };
            said.push((vector["bots"][name]["role"] == "agent", filled(step["line"].clone())));
        }
    }
    said
}

/// Returns the line with a suitable value for every placeholder.
fn filled(value: Value) -> Value {
    let fill = |key: &str, value: Value| match (key, value.as_str()) {
        ("ts" | "expiresAt", Some("<any>")) => "2026-11-22T09:30:00.000Z".into(),
        ("permissionRequestId", Some(_)) => "01234567-89ab-7def-8123-456789abcdef".into(),
        ("requestId" | "approvalActionId", Some(text)) if text.starts_with('<') => {
            "01234567-89ab-7def-8123-456789abcdef".into()
        }
        ("runId", Some(_)) => "run-1".into(),
        ("grantId", Some(_)) => "g1".into(),
        ("grantIds", None) => serde_json::json!(["g1"]),
        _ => value,
    };
    let Value::Object(map) = value else { panic!("a line is an object") };
    map.into_iter().map(|(key, value)| (key.clone(), fill(&key, value))).collect()
}

#[test]
fn every_line_that_the_engine_says_reads_as_a_value_and_writes_as_the_same_line() {
    for (to_agent, line) in said() {
        if to_agent { same::<ToAgent>(&line) } else { same::<ToConnector>(&line) }
    }
}

#[test]
fn what_a_bot_in_rust_writes_is_what_the_engine_reads() {
    let lines = [
        r#"{"type":"request_permission","permissions":["@network"],"reason":"docs","scope":"once","requestId":"1"}"#,
        r#"{"type":"grant_permission","agentId":"a","permissions":["@network"],"reason":"docs"}"#,
        r#"{"type":"use_permission","permission":"@events"}"#,
    ];
    for line in lines {
        let heard: FromAgent = line.parse().unwrap();
        assert_eq!(serde_json::to_string(&heard).unwrap().parse(), Ok(heard));
    }
    let line = r#"{"type":"permission_decision","permissionRequestId":"k3v9ab","decision":"allow-session"}"#;
    let heard: FromConnector = line.parse().unwrap();
    assert_eq!(serde_json::to_string(&heard).unwrap(), line);
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_fall_over(text in ".{0,300}") {
        let _ = text.parse::<FromAgent>();
        let _ = text.parse::<FromConnector>();
    }

    #[test]
    fn no_object_makes_the_parser_fall_over(
        kind in prop::sample::select(vec![
            "hello", "request_permission", "grant_permission", "permission_decision", "bye",
        ]),
        key in "(permission|permissions|reason|scope|requestId|agentId|decision|[a-z]{1,9})",
        value in "(null|1|true|\\[\\]|\\{\\}|\"[ -~&&[^\"\\\\]]{0,20}\")",
    ) {
        let line = format!(r#"{{"type":"{kind}","{key}":{value}}}"#);
        if let Err(invalid) = line.parse::<FromAgent>() {
            prop_assert!(!invalid.message.is_empty());
        }
    }
}
