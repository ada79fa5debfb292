//! Tests of tool calls by name and input.

use bestow::command::{Classifier, Profile, Tier, classify_tool};
use serde_json::{Value, json};

fn tier(name: &str, input: Value) -> Tier {
    classify_tool(name, &input).tier
}

#[test]
fn a_shell_tool_is_judged_by_its_command_or_input() {
    for name in ["bash", "exec", "shell"] {
        assert_eq!(tier(name, json!({ "command": "ls" })), Tier::Safe);
        assert_eq!(tier(name, json!({ "input": "git push" })), Tier::Dangerous);
        assert_eq!(tier(name, json!({ "command": "sudo ls" })), Tier::Destructive);
    }
}

#[test]
fn an_input_that_says_two_things_or_none_is_dangerous() {
    assert_eq!(tier("bash", json!({ "command": "ls", "input": "pwd" })), Tier::Dangerous);
    assert_eq!(tier("bash", json!({ "command": "ls", "input": "ls" })), Tier::Safe);
    assert_eq!(tier("bash", json!({ "command": ["ls"] })), Tier::Dangerous);
    assert_eq!(tier("bash", json!({ "command": 5 })), Tier::Dangerous);
    assert_eq!(tier("bash", json!({})), Tier::Dangerous);
    assert_eq!(tier("write", json!({ "path": "a", "file_path": "b" })), Tier::Dangerous);
    assert_eq!(tier("write", json!({})), Tier::Dangerous);
}

#[test]
fn a_write_that_does_not_say_where_is_dangerous() {
    for input in [json!({}), json!({"path": ""}), json!({"file_path": " "}), json!({"path": null})] {
        assert_eq!(tier("write", input.clone()), Tier::Dangerous, "{input}");
    }
}

#[test]
fn a_write_is_safe_unless_its_path_is_sensitive() {
    for key in ["path", "file_path"] {
        for name in ["write", "file_write"] {
            assert_eq!(tier(name, json!({ key: "src/index.ts" })), Tier::Safe);
            for path in [
                ".env",
                ".env.local",
                "a/.ENV",
                "credentials.json",
                "~/.ssh/id_rsa",
                ".git/hooks/pre-commit",
                "/etc/passwd",
                "../x",
                ".bashrc",
                "k.pem",
            ] {
                assert_eq!(tier(name, json!({ key: path })), Tier::Dangerous, "{path}");
            }
        }
    }
}

#[test]
fn a_read_is_safe_and_a_strict_one_of_a_secret_is_not() {
    for path in ["src/a.rs", ".env", "/etc/shadow"] {
        assert_eq!(tier("read", json!({ "path": path })), Tier::Safe);
        assert_eq!(tier("file_read", json!({ "file_path": path })), Tier::Safe);
    }
    let strict = Classifier::new(Profile::Strict);
    assert_eq!(strict.classify_tool("read", &json!({ "path": ".env" })).tier, Tier::Dangerous);
    assert_eq!(strict.classify_tool("read", &json!({ "path": "src/a.rs" })).tier, Tier::Safe);
}

#[test]
fn a_tool_nobody_knows_is_dangerous_whatever_its_name_imitates() {
    for name in ["foo", "Bash", "READ", "read ", "", r#"bash","toolName":"read"#] {
        assert_eq!(tier(name, json!({ "command": "ls", "path": "a" })), Tier::Dangerous, "{name}");
    }
}

/// A key that the classifier ignored could run something other than the judged command.
#[test]
fn what_a_command_runs_with_besides_makes_it_dangerous_unless_it_changes_nothing() {
    for besides in [
        json!({ "elevated": true }),
        json!({ "env": { "LD_PRELOAD": "x.so" } }),
        json!({ "shell": "/x/sh" }),
        json!({ "stdin": "yes" }),
        json!({ "anything": [1] }),
    ] {
        let mut input = json!({ "command": "ls" });
        input.as_object_mut().unwrap().extend(besides.as_object().unwrap().clone());
        let judged = classify_tool("bash", &input);
        assert_eq!(judged.tier, Tier::Dangerous, "{input}");
        assert!(judged.reason.contains("besides") && judged.shape.is_none(), "{}", judged.reason);
    }
    let aside = json!({ "command": "ls", "description": "x", "timeout": 5, "run_in_background": true, "cwd": null });
    assert_eq!(tier("bash", aside), Tier::Safe);
    let numbers = json!({ "command": "ls", "cwd": "/x", "level": 3, "elevated": false });
    assert_eq!(tier("bash", numbers), Tier::Safe, "a directory is judged, and these change nothing");
    assert_eq!(tier("bash", json!({ "command": "rm -rf .", "cwd": "/" })), Tier::Destructive);
    assert_eq!(tier("bash", json!({ "command": "sh", "stdin": "rm -rf /" })), Tier::Destructive);
}

#[test]
fn what_destroys_is_found_under_any_name_of_a_tool() {
    for name in ["Bash", "run_shell_command", "exec_command", "foo"] {
        assert_eq!(tier(name, json!({ "command": "rm -rf /" })), Tier::Destructive, "{name}");
        assert_eq!(tier(name, json!({ "input": "ls" })), Tier::Dangerous, "{name}: no other name is on the list");
        assert_eq!(
            tier(name, json!({ "command": ["rm", "-rf", "/"] })),
            Tier::Destructive,
            "{name}: a list of words, too"
        );
    }
}
