use std::path::Path;

use serde_json::{Value, json};

use super::{
    super::{calls::Known, permission::Subject, tool_call::ToolCall},
    meant,
};

fn call(fields: Value) -> ToolCall {
    serde_json::from_value(fields).unwrap()
}

/// Returns the tool and the input that a call means in a session in `/w`.
fn of(fields: Value) -> (String, Value) {
    after(json!({}), fields)
}

/// Returns the same for a call about which the agent told something before.
fn after(before: Value, fields: Value) -> (String, Value) {
    let subject = Subject::Call(Box::new(call(fields)));
    let (tool, input) = meant(&subject, Known::Told(call(before)), Path::new("/w")).unwrap();
    (tool.as_str().to_owned(), input)
}

#[test]
fn a_call_with_a_name_and_an_input_is_a_call_of_that_tool() {
    let input = json!({ "command": "npm test", "description": "the tests" });
    let told =
        json!({ "toolCallId": "c", "name": "Bash", "title": "`npm test`", "kind": "execute", "rawInput": input });
    assert_eq!(of(told), ("Bash".into(), input));
    let input = json!({ "file_path": "/w/a.txt" });
    let told =
        json!({ "name": "Read", "kind": "read", "locations": [{ "path": "/w/a.txt", "line": 1 }], "rawInput": input });
    assert_eq!(of(told), ("Read".into(), input));
}

#[test]
fn what_was_told_before_counts_and_what_is_told_now_replaces_it() {
    let before = json!({ "title": "Edit", "kind": "edit", "_meta": { "claudeCode": { "toolName": "Edit" } },
        "rawInput": { "file_path": "/w/a" } });
    let now = json!({ "toolCallId": "c", "rawInput": { "file_path": "/w/b" }, "title": null });
    assert_eq!(after(before, now), ("Edit".into(), json!({ "file_path": "/w/b" })));
}

#[test]
fn a_call_without_a_name_is_one_of_an_undeclared_tool_with_everything_that_it_tells() {
    let told = json!({ "title": "npm install", "kind": "execute", "rawInput": { "command": "npm install" } });
    let input = json!({ "title": "npm install", "rawInput": { "command": "npm install" } });
    assert_eq!(of(told), ("acp.execute".into(), input));
    let diff = json!({ "type": "diff", "path": "/w/a", "oldText": "old", "newText": "new" });
    let told = json!({ "title": "Write a", "kind": "edit", "content": [diff, { "type": "content" }] });
    let input = json!({ "title": "Write a", "locations": ["/w/a"],
        "content": [{ "type": "diff", "path": "/w/a", "newText": "new" }] });
    assert_eq!(of(told), ("acp.edit".into(), input));
    assert_eq!(of(json!({ "kind": "../../x" })), ("acp.other".into(), json!({})));
    assert_eq!(of(json!({ "name": "not a name", "rawInput": {} })).0, "acp.unclear");
}

#[test]
fn a_kind_that_does_more_than_the_tool_makes_it_an_undeclared_one() {
    for kind in ["edit", "delete", "move", "execute"] {
        let (tool, input) = of(json!({ "name": "Read", "kind": kind, "rawInput": { "file_path": "/w/a" } }));
        assert_eq!((&*tool, &input["rawInput"]["file_path"]), ("acp.unclear", &json!("/w/a")), "{kind}");
    }
    // The kind alone never makes a call a smaller one.
    assert_eq!(of(json!({ "name": "Bash", "kind": "read", "rawInput": { "command": "make" } })).0, "Bash");
}

#[test]
fn a_location_that_the_input_does_not_name_makes_it_an_undeclared_one_that_uses_it() {
    let told = json!({ "name": "Read", "rawInput": { "file_path": "/w/a" }, "locations": [{ "path": "/etc/shadow" }] });
    let (tool, input) = of(told);
    assert_eq!((&*tool, &input["locations"]), ("acp.unclear", &json!(["/etc/shadow"])));
    let told = json!({ "name": "Edit", "rawInput": { "file_path": "/w/a" },
        "content": [{ "type": "diff", "changes": [{ "operation": "move", "oldPath": "/w/a", "path": "/w/b" }] }] });
    assert_eq!(of(told).1["locations"], json!(["/w/b"]));
    // A relative spelling of the same path is the same path.
    let told = json!({ "name": "Read", "rawInput": { "file_path": "./src/a" }, "locations": [{ "path": "/w/src/a" }] });
    assert_eq!(of(told).0, "Read");
}

#[test]
fn a_command_of_version_2_is_a_command() {
    let subject = Subject::Command { command: "cargo test".into(), cwd: "/w/x".into() };
    let (tool, input) = meant(&subject, Known::Nothing, Path::new("/w")).unwrap();
    assert_eq!((tool.as_str(), input), ("bash", json!({ "command": "cargo test" })));
    assert!(meant(&Subject::Unknown("_x".into()), Known::Nothing, Path::new("/w")).is_none());
}

/// The attack: a person sees and approves the input, and the agent writes what stands in the change.
#[test]
fn a_change_that_the_input_does_not_say_is_a_part_of_the_call() {
    let diff = |text: &str| json!([{ "type": "diff", "path": "/w/a", "oldText": "old", "newText": text }]);
    let input = json!({ "file_path": "/w/a", "content": "new" });
    let told = |text: &str| json!({ "name": "Write", "rawInput": input, "content": diff(text) });
    assert_eq!(of(told("new")).0, "Write");
    let (tool, input) = of(told("evil"));
    assert_eq!((&*tool, &input["content"][0]["newText"]), ("acp.unclear", &json!("evil")));
    let unnamed = json!({ "kind": "edit", "rawInput": { "path": "/w/a" }, "content": diff("evil") });
    let (tool, input) = of(unnamed);
    assert_eq!((&*tool, &input["content"][0]["newText"]), ("acp.edit", &json!("evil")));
    // A change of version 2 has patches.
    let patch = json!([{ "type": "diff", "changes": [{ "operation": "modify", "path": "/w/a", "patch": "+evil" }] }]);
    let (tool, input) = of(json!({ "name": "Edit", "rawInput": { "file_path": "/w/a" }, "content": patch }));
    assert_eq!((&*tool, &input["content"][0]["changes"][0]["patch"]), ("acp.unclear", &json!("+evil")));
}

#[test]
fn what_is_not_known_of_a_call_is_not_taken_from_an_earlier_one() {
    let now = json!({ "toolCallId": "c", "name": "Read", "rawInput": { "file_path": "/w/a" } });
    let subject = Subject::Call(Box::new(call(now)));
    let (tool, input) = meant(&subject, Known::Unclear, Path::new("/w")).unwrap();
    assert_eq!((tool.as_str(), &input["rawInput"]["file_path"]), ("acp.unclear", &json!("/w/a")));
}

#[test]
fn a_name_or_an_input_that_is_taken_back_does_not_count() {
    let before = json!({ "name": "Read", "rawInput": { "file_path": "/w/a" } });
    assert_eq!(after(before.clone(), json!({})).0, "Read");
    assert_eq!(after(before.clone(), json!({ "name": null })).0, "acp.other");
    assert_eq!(after(before, json!({ "rawInput": null })), ("acp.other".into(), json!({ "name": "Read" })));
}
