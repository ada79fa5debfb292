//! The reason of a decision reaches every coding agent: real processes of `bestow hook`, with an engine of their own.
#![cfg(feature = "cli")]

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{http::project::Project, support::BESTOW};

/// The hosts, and the names of their shells.
const HOSTS: [(&str, &str); 4] =
    [("claude", "Bash"), ("codex", "Bash"), ("gemini", "run_shell_command"), ("copilot", "bash")];

/// A project whose hosts may write below `work`. Their rules are about a command and a directory.
fn project() -> Project {
    let project = Project::new();
    for name in ["work", "out"] {
        std::fs::create_dir(project.path().join(name)).unwrap();
    }
    std::fs::write(project.path().join("out/f.txt"), "hello\n").unwrap();
    std::fs::write(project.path().join("work/README.md"), "x\n").unwrap();
    let mut policy = "[defaults]\nowner = \"you\"\nworking_dir = \"work\"\n".to_owned();
    for (host, _) in HOSTS {
        policy.push_str(&format!(
            "\n[agents.{host}]\nkind = \"permanent\"\npermissions = [\"@write:work\", \"@network\"]\n\
             [[agents.{host}.rules]]\nverdict = \"deny\"\ncommand = \"git push **\"\nwhy = \"ann pushes\"\n\
             [[agents.{host}.rules]]\nverdict = \"deny\"\noperation = [\"fs.read\", \"fs.write\"]\npath = \"out\"\n\
             [[agents.{host}.rules]]\nverdict = \"deny\"\noperation = [\"fs.read\", \"fs.write\"]\npath = \"out/**\"\n\
             why = \"belongs to bob\"\n\
             [[agents.{host}.rules]]\nverdict = \"ask\"\ncommand = \"make **\"\nwhy = \"it costs money\"\n"
        ));
    }
    project.policy(&policy);
    project
}

/// The answer of a hook: the words of the decision, and its reason.
struct Told {
    decision: String,
    reason: String,
}

/// Calls a tool of a host, and returns what the hook says.
fn told(project: &Project, host: &str, tool: &str, input: &Value) -> Told {
    let work = project.path().join("work");
    let call = match host {
        "copilot" => {
            json!({ "sessionId": "s", "timestamp": 1, "cwd": work, "toolName": tool, "toolArgs": input.to_string() })
        }
        "gemini" => json!({
            "session_id": "s", "cwd": work, "hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": input,
        }),
        _ => json!({
            "session_id": "s", "cwd": work, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        }),
    };
    let mut command = Command::new(BESTOW);
    command.args(["hook", host, "--agent", host, "--config", "agents.toml", "--state", "state"]);
    command.args((host == "codex").then_some("--assume-directory")).current_dir(project.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let value: Value = serde_json::from_slice(&out.stdout).unwrap_or(Value::Null);
    let own = if value["hookSpecificOutput"].is_object() { &value["hookSpecificOutput"] } else { &value };
    let text = |names: [&str; 2]| names.iter().find_map(|name| own[*name].as_str()).unwrap_or_default().to_owned();
    Told { decision: text(["permissionDecision", "decision"]), reason: text(["permissionDecisionReason", "reason"]) }
}

#[test]
fn a_denied_command_gets_the_rule_with_its_line_and_its_words() {
    let project = project();
    for (host, shell) in HOSTS {
        let Told { decision, reason } = told(&project, host, shell, &json!({ "command": "git push origin main" }));
        assert_eq!(decision, "deny", "{host}: {reason}");
        for part in ["ann pushes", "git push **", "agents.toml:"] {
            assert!(reason.contains(part), "{host}: {part} in {reason}");
        }
    }
}

#[test]
fn a_denied_read_gets_the_path_and_the_words_of_its_rule() {
    let project = project();
    let out = project.path().join("out/f.txt");
    for (host, shell) in HOSTS {
        let line = format!("cat {}", out.display());
        let Told { decision, reason } = told(&project, host, shell, &json!({ "command": line }));
        assert_eq!(decision, "deny", "{host}: {reason}");
        assert!(reason.contains("belongs to bob") && reason.contains("out/f.txt"), "{host}: {reason}");
    }
}

#[test]
fn a_question_of_a_rule_gets_its_words() {
    let project = project();
    for (host, shell) in HOSTS {
        let Told { decision, reason } = told(&project, host, shell, &json!({ "command": "make site" }));
        assert_eq!(decision, if host == "claude" { "ask" } else { "deny" }, "{host}: {reason}");
        assert!(reason.contains("it costs money"), "{host}: {reason}");
    }
}

#[test]
fn what_destroys_is_named_first() {
    let project = project();
    for (host, shell) in HOSTS {
        let line = "rm -rf / && git push origin main";
        let Told { decision, reason } = told(&project, host, shell, &json!({ "command": line }));
        assert_eq!(decision, "deny", "{host}: {reason}");
        assert!(reason.starts_with("Destructive") && reason.contains("ann pushes"), "{host}: {reason}");
    }
}

/// A search of Copilot CLI names its directories in a field that the table did not have, and so printed denied files.
#[test]
fn a_denied_path_in_any_field_of_a_call_is_denied() {
    let project = project();
    let out = project.path().join("out").to_str().unwrap().to_owned();
    let file = format!("{out}/f.txt");
    for (host, tool, input) in [
        ("copilot", "grep", json!({ "pattern": "h", "paths": out })),
        ("copilot", "grep", json!({ "pattern": "h", "paths": ["README.md", "../out"] })),
        ("copilot", "glob", json!({ "pattern": "*", "paths": out })),
        ("copilot", "grep", json!({ "pattern": "KEY", "paths": "~/.ssh" })),
        ("gemini", "grep_search", json!({ "pattern": "h", "dir_path": "../out" })),
        ("gemini", "run_shell_command", json!({ "command": "cat f.txt", "dir_path": "../out" })),
        ("claude", "Read", json!({ "file_path": "README.md", "more_paths": [file] })),
        ("claude", "Read", json!({ "more": { "files": [{ "at": file }] }, "file_path": "README.md" })),
        ("claude", "Read", json!({ "file_path": "README.md", "also": format!("README.md,{file}") })),
        ("claude", "Write", json!({ "file_path": "a", "content": "x", "copy_to": file })),
        ("claude", "WebFetch", json!({ "url": "https://a.example", "prompt": "x", "save": file })),
        ("claude", "Monitor", json!({ "description": "d", "timeout_ms": 1, "command": format!("cat {file}") })),
        ("codex", "apply_patch", json!({ "command": patch("../out/f.txt") })),
        ("codex", "apply_patch", json!({ "input": patch(&file) })),
    ] {
        let Told { decision, reason } = told(&project, host, tool, &input);
        assert_eq!(decision, "deny", "{host} {tool} {input}: {reason}");
    }
}

fn patch(file: &str) -> String {
    format!("*** Begin Patch\n*** Update File: README.md\n*** Move to: {file}\n@@\n-x\n+y\n*** End Patch\n")
}

#[test]
fn a_patch_of_codex_is_judged_by_its_files() {
    let project = project();
    let plain = "*** Begin Patch\n*** Add File: src/new.txt\n+hello\n*** End Patch\n";
    for field in ["command", "input"] {
        // Codex takes no output as permission.
        let allowed = told(&project, "codex", "apply_patch", &json!({ field: plain }));
        assert_eq!(allowed.decision, "", "{field}: {}", allowed.reason);
        let torn = told(&project, "codex", "apply_patch", &json!({ field: "*** Begin Patch\n+x\n*** End Patch" }));
        assert!(torn.decision == "deny" && torn.reason.contains("names no file"), "{field}: {}", torn.reason);
        let odd = plain.replace("Add File", "Rename File");
        let odd = told(&project, "codex", "apply_patch", &json!({ field: odd }));
        assert!(odd.decision == "deny" && odd.reason.contains("unknown line"), "{field}: {}", odd.reason);
    }
}

/// A field of a later version, or a flag of the host, is no reason to ask.
#[test]
fn a_field_without_path_host_or_command_makes_no_question() {
    let project = project();
    for (host, tool, input) in [
        ("copilot", "bash", json!({ "command": "git status", "mode": "async", "initial_wait": 30, "shellId": "a" })),
        ("copilot", "view", json!({ "path": "README.md", "forceReadLargeFiles": true, "tone": "calm" })),
        ("gemini", "run_shell_command", json!({ "command": "ls", "is_background": false, "delay_ms": 100 })),
        ("claude", "Read", json!({ "file_path": "README.md", "mood": "calm", "level": 3, "deep": true })),
        ("claude", "Bash", json!({ "command": "ls", "dangerouslyDisableSandbox": false, "level": 3 })),
    ] {
        let Told { decision, reason } = told(&project, host, tool, &input);
        assert_eq!(decision, "allow", "{host} {tool} {input}: {reason}");
    }
}

#[test]
fn a_key_that_comes_twice_in_the_input_is_denied() {
    let project = project();
    let twice = "{\"session_id\":\"s\",\"cwd\":\"/\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\",\
                 \"tool_input\":{\"file_path\":\"a\",\"file_path\":\"b\"}}";
    let mut command = Command::new(BESTOW);
    command.args(["hook", "claude", "--agent", "claude", "--config", "agents.toml", "--state", "state"]);
    command.current_dir(project.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(twice.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(2), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("file_path"), "{out:?}");
}
