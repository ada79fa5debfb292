//! The official conformance suite for servers. It sends no credential, so a door before the server adds one.

use std::{net::SocketAddr, path::Path};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    process::Command,
};

use super::installed;
use crate::{
    http::{client::call, project::Project},
    support::ROOT,
};

/// The scenarios that ask for nothing but the protocol. The two about streams of events warn that this server has no
/// sessions over HTTP, and look no further.
const SCENARIOS: [&str; 7] = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
    "server-sse-polling",
    "server-sse-multiple-streams",
];

/// The scenarios that do not apply, with the reason. `docs/mcp.md` has the same list.
const OTHERS: [(&str, &[&str]); 5] = [
    (
        "they call tools of the suite's own (`test_…`), which a server for its tests has",
        &[
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-with-logging",
            "tools-call-error",
            "tools-call-with-progress",
            "tools-call-sampling",
            "tools-call-elicitation",
            "json-schema-2020-12",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
        ],
    ),
    (
        "they read and subscribe to resources of the suite's own (`test://…`)",
        &[
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ],
    ),
    (
        "the server has no prompts, and does not claim any",
        &[
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ],
    ),
    ("the server has no log for clients, and does not claim one", &["logging-set-level"]),
    ("the server completes nothing, and does not claim to", &["completion-complete"]),
];

/// Adds a token to the first request of each connection, and closes the connection after it.
async fn door(to: SocketAddr, token: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(carried(client, to, token.clone()));
        }
    });
    address
}

async fn carried(mut client: TcpStream, to: SocketAddr, token: String) -> Option<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        head.push(client.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let (line, rest) = head.split_once("\r\n")?;
    let rest: String =
        rest.split_inclusive("\r\n").filter(|line| !line.to_lowercase().starts_with("connection:")).collect();
    let mut server = TcpStream::connect(to).await.ok()?;
    let head = format!("{line}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n{rest}");
    server.write_all(head.as_bytes()).await.ok()?;
    copy_bidirectional(&mut client, &mut server).await.ok()?;
    Some(())
}

#[tokio::test]
async fn the_official_conformance_suite_passes_where_it_asks_for_the_protocol_alone() {
    let Some(place) = installed("node_modules/.bin/conformance") else { return };
    let mut project = Project::new();
    let token = project.agent();
    project.serve();
    let url = format!("http://{}/mcp", door(project.address(), token).await);
    for scenario in SCENARIOS {
        let mut command = Command::new(place.join("node_modules/.bin/conformance"));
        command.args(["server", "--url", &url, "--scenario", scenario]).current_dir(project.path()).kill_on_drop(true);
        let output = command.output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{scenario}: {told}{}", String::from_utf8_lossy(&output.stderr));
        assert!(!told.contains("FAILURE"), "{scenario}: {told}");
    }
}

#[tokio::test]
async fn each_scenario_of_the_official_conformance_suite_passes_or_has_a_reason() {
    let Some(place) = installed("node_modules/.bin/conformance") else { return };
    let program = place.join("node_modules/.bin/conformance");
    let listed = Command::new(program).args(["list", "--server"]).output().await.unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut listed: Vec<_> = listed.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
    let others = OTHERS.iter().flat_map(|(_, scenarios)| scenarios.iter());
    let mut known: Vec<_> = SCENARIOS.iter().chain(others).copied().collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/mcp.md")).unwrap().replace('\n', " ");
    assert!(OTHERS.iter().all(|(reason, _)| page.contains(reason)), "docs/mcp.md names each reason");
    // What the server does not have is not among its capabilities.
    let mut project = Project::new();
    let token = project.agent();
    project.serve();
    let client = json!({ "name": "t", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let headers = [
        ("authorization", &*format!("Bearer {token}")),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let told = call(project.address(), "POST", "/mcp", &headers, &hello.to_string()).await;
    let capabilities = &told.json["result"]["capabilities"];
    assert!(capabilities["tools"].is_object() && capabilities["resources"].is_object(), "{told:?}");
    for missing in ["prompts", "logging", "completions"] {
        assert!(capabilities[missing].is_null(), "{told:?}");
    }
}
