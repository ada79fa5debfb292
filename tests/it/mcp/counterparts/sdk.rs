//! The clients of the official SDKs for Python and TypeScript.

use std::{ffi::OsString, path::Path};

use serde_json::{Value, json};
use tokio::process::Command;

use super::{installed, told};
use crate::{
    http::project::Project,
    support::{BESTOW, ROOT},
};

const CLIENTS: &str = "tests/it/mcp/counterparts";

/// A client, with the words that start it.
#[derive(Clone, Copy)]
enum Sdk {
    Python,
    TypeScript,
    /// The first version of the SDK for TypeScript, without the protocol without a handshake.
    TypeScriptV1,
}

impl Sdk {
    fn command(self) -> Option<Command> {
        let program = match self {
            Sdk::Python => "python/bin/python",
            Sdk::TypeScript => "node_modules/@modelcontextprotocol/client",
            Sdk::TypeScriptV1 => "node_modules/@modelcontextprotocol/sdk",
        };
        let place = installed(program)?;
        let script = |name: &str| Path::new(ROOT).join(CLIENTS).join(name);
        let command = |program: OsString, words: &[OsString]| {
            let mut command = Command::new(program);
            command.args(words);
            command
        };
        Some(match self {
            Sdk::Python => command(place.join(program).into(), &[script("client.py").into()]),
            Sdk::TypeScript => command("node".into(), &[script("client.mjs").into(), place.into()]),
            Sdk::TypeScriptV1 => command("node".into(), &[script("client-v1.mjs").into(), place.into()]),
        })
    }
}

/// Each client, with each way to agree on a version, and the version that they agree on.
const ALL: [(Sdk, &str, &str); 7] = [
    (Sdk::Python, "legacy", "2025-11-25"),
    (Sdk::Python, "auto", "2026-07-28"),
    (Sdk::Python, "2026-07-28", "2026-07-28"),
    (Sdk::TypeScript, "legacy", "2025-11-25"),
    (Sdk::TypeScript, "auto", "2026-07-28"),
    (Sdk::TypeScript, "2026-07-28", "2026-07-28"),
    (Sdk::TypeScriptV1, "legacy", "2025-11-25"),
];

/// Compares what a client saw with what it should see.
fn compare(seen: &Value, version: &str) {
    assert_eq!(seen["version"], version);
    assert_eq!(seen["tools"].as_array().unwrap().len(), 7);
    let held = |permission: &str| json!({ "permission": permission, "held": "not_held" });
    assert_eq!(seen["check"], json!({ "results": [held("@network"), held("@events")] }));
    assert_eq!((&seen["request"]["status"], &seen["waiting"]), (&json!("pending"), &seen["request"]));
    assert_eq!(seen["wrong"][0], true);
    assert!(seen["wrong"][1].as_str().unwrap().contains("`nothing`"), "{seen}");
    assert_eq!(seen["resources"], json!(["bestow://permissions", "bestow://requests"]));
    assert_eq!(seen["read"]["waiting"][0]["request_id"], seen["request"]["request_id"]);
}

#[tokio::test]
async fn the_clients_of_the_official_sdks_are_served_by_an_engine_of_its_own() {
    let project = Project::new();
    for (sdk, mode, version) in ALL {
        let Some(mut command) = sdk.command() else { return };
        command
            .args([mode, "stdio", BESTOW, "mcp", "--agent", "bot", "--config", "agents.toml"])
            .current_dir(project.path());
        compare(&told(&mut command).await, version);
    }
}

#[tokio::test]
async fn the_clients_of_the_official_sdks_are_served_through_the_relay_and_over_http() {
    let mut project = Project::new();
    let token = project.agent();
    std::fs::write(project.path().join("token"), &token).unwrap();
    project.serve();
    let url = format!("http://{}/mcp", project.address());
    for (sdk, mode, version) in ALL {
        let Some(mut command) = sdk.command() else { return };
        command.args([mode, "http", &url, &token]);
        compare(&told(&mut command).await, version);
        let Some(mut command) = sdk.command() else { return };
        command.args([mode, "stdio", BESTOW, "mcp", "--ready-file", "ready.json", "--token-file", "token"]);
        compare(&told(command.current_dir(project.path())).await, version);
    }
}
