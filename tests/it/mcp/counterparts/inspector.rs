//! The official inspector, on the command line.

use std::path::Path;

use serde_json::{Value, json};
use tokio::process::Command;

use super::installed;
use crate::{http::project::Project, support::BESTOW};

/// Runs the inspector with a server on standard input and output. Returns what it prints.
async fn inspect(place: &Path, project: &Project, words: &[&str]) -> Value {
    let config = project.path().join("inspector.json");
    let args = ["mcp", "--agent", "bot", "--config", "agents.toml"];
    let server = json!({ "type": "stdio", "command": BESTOW, "args": args, "cwd": project.path() });
    std::fs::write(&config, json!({ "mcpServers": { "bestow": server } }).to_string()).unwrap();
    let mut command = Command::new(place.join("node_modules/.bin/mcp-inspector"));
    command.args(["--cli", "--config"]).arg(&config).args(["--server", "bestow"]).args(words);
    command.current_dir(project.path()).env("HOME", project.path()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}{err}"))
}

#[tokio::test]
async fn the_official_inspector_finds_and_calls_the_tools() {
    let Some(place) = installed("node_modules/.bin/mcp-inspector") else { return };
    let project = Project::new();
    let listed = inspect(&place, &project, &["--method", "tools/list", "--strict"]).await;
    assert_eq!(listed["tools"].as_array().unwrap().len(), 7);
    let call = ["--method", "tools/call", "--tool-name"];
    let check = [&call[..], &["check_permission", "--tool-arg", "permissions=[\"@network\"]"]].concat();
    let checked = inspect(&place, &project, &check).await;
    assert_eq!(checked["structuredContent"]["results"][0], json!({ "permission": "@network", "held": "not_held" }));
    let read = inspect(&place, &project, &["--method", "resources/read", "--uri", "bestow://permissions"]).await;
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("\"agent_id\":\"bot\""), "{read}");
}
