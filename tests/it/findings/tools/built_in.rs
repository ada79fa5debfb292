//! Tests of each built-in tool: the object that its input names, and the effect of an input that does not match the
//! declaration.

use bestow::{
    action::Operation,
    agent::Mode,
    command::{Tier, built_in_tools, classify_tool},
    decision::Verdict,
};
use serde_json::{Value, json};

use super::{agent, call, verdict, world};

/// Returns a call of each built-in tool, with its resource and the other resources that it uses.
fn rows() -> Vec<(&'static str, Value, &'static str, &'static [&'static str])> {
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch\n";
    vec![
        ("bash", json!({ "command": "ls" }), "ls", &[]),
        ("exec", json!({ "input": "ls" }), "ls", &[]),
        ("shell", json!({ "command": ["ls", "a b"] }), "ls 'a b'", &[]),
        ("write", json!({ "path": "a" }), "/ws/a", &[]),
        ("file_write", json!({ "file_path": "a" }), "/ws/a", &[]),
        ("read", json!({ "filePath": "a" }), "/ws/a", &[]),
        ("file_read", json!({ "path": "a" }), "/ws/a", &[]),
        ("Bash", json!({ "command": "ls", "description": "x" }), "ls", &[]),
        ("Read", json!({ "file_path": "/ws/a" }), "/ws/a", &[]),
        ("Write", json!({ "file_path": "/ws/a", "content": "rm -rf /" }), "/ws/a", &[]),
        ("Edit", json!({ "file_path": "/ws/a", "old_string": "x", "new_string": "y" }), "/ws/a", &[]),
        ("MultiEdit", json!({ "file_path": "/ws/a", "edits": [{ "new_string": "y" }] }), "/ws/a", &[]),
        ("NotebookEdit", json!({ "notebook_path": "a.ipynb", "new_source": "" }), "/ws/a.ipynb", &[]),
        ("NotebookRead", json!({ "notebook_path": "a.ipynb" }), "/ws/a.ipynb", &[]),
        ("Glob", json!({ "pattern": "/etc/*.conf" }), "/ws", &["/etc"]),
        ("Grep", json!({ "pattern": "x", "path": "src" }), "/ws/src", &[]),
        ("LS", json!({ "path": "/ws" }), "/ws", &[]),
        ("WebFetch", json!({ "url": "https://u@A.example:8/x?y", "prompt": "p" }), "a.example", &[]),
        ("WebSearch", json!({ "query": "x" }), "@network", &[]),
        ("shell_command", json!({ "command": "ls", "timeout_ms": 5 }), "ls", &[]),
        ("exec_command", json!({ "cmd": "ls", "yield_time_ms": 5 }), "ls", &[]),
        ("write_stdin", json!({ "session_id": 1, "chars": "ls\n" }), "ls\n", &[]),
        ("apply_patch", json!({ "input": patch }), "/ws/a", &["/ws/b", "/ws/c"]),
        ("apply_patch", json!({ "patchText": patch }), "/ws/a", &["/ws/b", "/ws/c"]),
        ("apply_patch", json!(patch), "/ws/a", &["/ws/b", "/ws/c"]),
        ("view_image", json!({ "path": "a.png" }), "/ws/a.png", &[]),
        ("list_dir", json!({ "dir_path": "/ws" }), "/ws", &[]),
        ("run_shell_command", json!({ "command": "ls", "description": "x" }), "ls", &[]),
        ("read_file", json!({ "absolute_path": "/ws/a" }), "/ws/a", &[]),
        ("write_file", json!({ "file_path": "/ws/a", "content": "x" }), "/ws/a", &[]),
        ("replace", json!({ "file_path": "/ws/a", "old_string": "x", "new_string": "y" }), "/ws/a", &[]),
        ("list_directory", json!({ "dir_path": "/ws" }), "/ws", &[]),
        ("search_file_content", json!({ "pattern": "x" }), "/ws", &[]),
        ("grep_search", json!({ "pattern": "x", "dir_path": "src" }), "/ws/src", &[]),
        ("read_many_files", json!({ "include": ["src/*.rs", "/etc/*"] }), "/ws", &["/etc"]),
        ("web_fetch", json!({ "prompt": "read https://a.example" }), "@network", &[]),
        ("google_web_search", json!({ "query": "x" }), "@network", &[]),
        ("glob", json!({ "pattern": "*.rs", "dir_path": "src" }), "/ws/src", &[]),
        ("grep", json!({ "pattern": "x", "include": "*.rs" }), "/ws", &[]),
        ("edit", json!({ "filePath": "/ws/a", "oldString": "x", "newString": "y" }), "/ws/a", &[]),
        ("list", json!({}), "/ws", &[]),
        ("webfetch", json!({ "url": "http://[::1]:80/" }), "::1", &[]),
        ("view", json!({ "path": "/ws/a" }), "/ws/a", &[]),
        ("LSP", json!({ "operation": "hover", "filePath": "a.rs", "line": 1 }), "/ws/a.rs", &[]),
        ("Monitor", json!({ "command": "ls", "description": "x", "timeout_ms": 5 }), "ls", &[]),
        ("rg", json!({ "pattern": "x", "paths": ["src", "/etc"] }), "/ws/src", &["/etc"]),
        ("write_bash", json!({ "shellId": "a", "input": "ls", "delay": 5 }), "ls", &[]),
        ("apply_patch", json!({ "command": patch }), "/ws/a", &["/ws/b", "/ws/c"]),
        ("create", json!({ "path": "/ws/a", "file_text": "x" }), "/ws/a", &[]),
        ("read_text_file", json!({ "path": "/ws/a", "head": 3 }), "/ws/a", &[]),
        ("read_media_file", json!({ "path": "/ws/a" }), "/ws/a", &[]),
        ("read_multiple_files", json!({ "paths": ["/ws/a", "/ws/b"] }), "/ws/a", &["/ws/b"]),
        ("edit_file", json!({ "path": "/ws/a", "edits": [{ "oldText": "x", "newText": "y" }] }), "/ws/a", &[]),
        ("create_directory", json!({ "path": "/ws/a" }), "/ws/a", &[]),
        ("list_directory_with_sizes", json!({ "path": "/ws" }), "/ws", &[]),
        ("directory_tree", json!({ "path": "/ws" }), "/ws", &[]),
        ("move_file", json!({ "source": "/ws/a", "destination": "/ws/b" }), "/ws/a", &["/ws/b"]),
        ("search_files", json!({ "path": "/ws", "pattern": "*.rs" }), "/ws", &[]),
        ("get_file_info", json!({ "path": "/ws/a" }), "/ws/a", &[]),
        ("run_process", json!({ "command_line": "ls" }), "ls", &[]),
        ("run_process", json!({ "argv": ["ls", "-l"] }), "ls -l", &[]),
        ("mcp__shell__run_command", json!({ "command": "ls" }), "ls", &[]),
        ("execute_command", json!({ "command": "ls", "timeout_ms": 5 }), "ls", &[]),
        ("shell_execute", json!({ "command": ["ls"] }), "ls", &[]),
        ("start_process", json!({ "command": "ls", "timeout_ms": 5 }), "ls", &[]),
        ("mcp__filesystem__move_file", json!({ "source": "/ws/a", "destination": "/ws/b" }), "/ws/a", &["/ws/b"]),
        ("filesystem.write_file", json!({ "path": "/ws/a" }), "/ws/a", &[]),
    ]
}

#[tokio::test]
async fn every_built_in_tool_is_understood() {
    let world = world();
    let ann = agent(&world, Mode::Default, &["@write:/", "@network"]).await;
    let rows = rows();
    for (name, input, resource, besides) in &rows {
        let explained = ann.explain(&call(name, input)).unwrap();
        let facts = &explained.decision.action;
        // Further input of a persistent shell is shown with the command.
        let shown = facts.resource.split(" with {").next().unwrap_or_default();
        assert_eq!(shown, *resource, "{name} {input}");
        let used: Vec<&str> = facts.uses.iter().map(|used| &*used.resource).collect();
        assert!(besides.iter().all(|path| used.contains(path)), "{name} {input}: {used:?}");
    }
    for (of, tool) in built_in_tools() {
        let name = tool.name().as_str();
        let is_tested = rows.iter().any(|(tested, ..)| *tested == name || tested.ends_with(&format!("__{name}")));
        assert!(is_tested, "{name} of {of} has no row here");
    }
}

#[tokio::test]
async fn an_input_that_is_not_as_declared_is_denied() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &["@write:/", "@network"]).await;
    for (name, input) in [
        ("Write", json!({})),
        ("Write", json!({ "file_path": 5 })),
        ("Write", json!({ "file_path": ["a"] })),
        ("Write", json!({ "path": "a" })),
        ("Write", json!(null)),
        ("write_file", json!({ "path": "a", "file_path": "b" })),
        ("read_file", json!({ "path": "a", "absolute_path": "b" })),
        ("move_file", json!({ "source": "a" })),
        ("move_file", json!({ "destination": "a" })),
        ("read_multiple_files", json!({ "paths": [] })),
        ("read_multiple_files", json!({ "paths": ["a", 5] })),
        ("run_process", json!({ "command_line": "ls", "argv": ["ls"] })),
        ("apply_patch", json!({ "input": "*** Begin Patch\n*** End Patch" })),
        ("apply_patch", json!({ "input": "*** Begin Patch\n*** Rename File: a\n*** End Patch" })),
        ("WebFetch", json!({ "url": "javascript://x" })),
        ("WebFetch", json!({ "url": "https://a b" })),
        ("Bash", json!({ "command": ["ls"] })),
        ("Glob", json!({ "pattern": "{..,a}/x" })),
    ] {
        assert_eq!(verdict(&ann, name, &input).await, Verdict::Deny, "{name} {input}");
    }
}

#[tokio::test]
async fn a_search_below_a_directory_does_not_read_what_is_protected_there() {
    let world = world();
    let ann = agent(&world, Mode::Bypass, &["@write:/", "@network"]).await;
    assert_eq!(verdict(&ann, "Grep", &json!({ "pattern": "x", "path": "/" })).await, Verdict::Deny);
    assert_eq!(verdict(&ann, "Grep", &json!({ "pattern": "x", "path": "/ws" })).await, Verdict::Allow);
    assert_eq!(verdict(&ann, "LS", &json!({ "path": "/" })).await, Verdict::Allow, "names only");
}

/// An attacker who starts a server chooses the names of its tools, not the name of the server.
#[test]
fn a_tool_of_an_unknown_server_is_not_taken_for_a_known_one() {
    for name in
        ["mcp__evil__read_file", "evil.write_file", "evil/shell_execute", "mcp__filesystem__unknown", "READ_FILE"]
    {
        assert_eq!(classify_tool(name, &json!({ "path": "a", "command": ["ls"] })).tier, Tier::Dangerous, "{name}");
    }
    for name in ["mcp__filesystem__read_file", "filesystem.read_file", "filesystem/read_file"] {
        assert_eq!(classify_tool(name, &json!({ "path": "a" })).tier, Tier::Safe, "{name}");
    }
}

#[test]
fn every_row_of_the_table_is_valid_and_only_once_there() {
    let tools = built_in_tools();
    assert!(tools.len() > 50, "{}", tools.len());
    let declared = bestow::tool::Tools::new(tools.into_iter().map(|(_, tool)| tool)).unwrap();
    assert!(declared.iter().all(|tool| tool.operation() != Operation::Tool));
}
