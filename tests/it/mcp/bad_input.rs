//! Lines that are no message, in this process. None ends the connection, and none is a yes.

use bestow_mcp::LONGEST_LINE;
use serde_json::{Value, json};

use super::client::Client;
use crate::support::World;

async fn world() -> World {
    let world = World::new();
    world.worker("bot", &["@write:/ws"]).await;
    world
}

/// Sends a line, and returns the error that answers it.
async fn refused(client: &mut Client, line: &[u8]) -> Value {
    client.send(line).await;
    client.send(b"\n").await;
    let told = client.other().await;
    assert!(told.get("result").is_none(), "{told}");
    told["error"].clone()
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_with_the_reason() {
    let world = world().await;
    let mut client = Client::of(&world, "bot").await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (line, code, named) in [
        (&br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"na"#[..], -32_700, "EOF"),
        (b"hello", -32_700, "not valid JSON"),
        (b"\xff\xfe{}", -32_700, "not valid JSON"),
        (br#"{"jsonrpc":"2.0","id":7,"id":8,"method":"tools/list"}"#, -32_700, "`id` occurs twice"),
        (deep.as_bytes(), -32_700, "recursion"),
        (b"[]", -32_600, "batch"),
        (br#"[{"jsonrpc":"2.0","id":7,"method":"tools/list"}]"#, -32_600, "batch"),
        (b"7", -32_600, "object"),
        (br#"{"id":7,"method":"tools/list"}"#, -32_600, "jsonrpc"),
        (br#"{"jsonrpc":"1.0","id":7,"method":"tools/list"}"#, -32_600, "jsonrpc"),
        (br#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32_600, "fields"),
        (br#"{"jsonrpc":"2.0","id":7,"method":5}"#, -32_600, "method"),
    ] {
        let error = refused(&mut client, line).await;
        let line = String::from_utf8_lossy(line);
        assert_eq!(error["code"], code, "{}: {error}", line.get(..80).unwrap_or(&line));
        assert!(error["message"].as_str().unwrap().contains(named), "{error}");
    }
    client.send(b"\n\r\n").await;
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/nothing" })).await;
    client.ok("list_permissions", json!({})).await;
}

#[tokio::test]
async fn a_line_of_ten_megabytes_is_refused_and_the_next_one_is_read() {
    let world = world().await;
    let mut client = Client::of(&world, "bot").await;
    let reason = "x".repeat(10 << 20);
    let call = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "request_permission", "arguments": { "permissions": ["@network"], "reason": reason } },
    });
    let error = refused(&mut client, call.to_string().as_bytes()).await;
    assert!(error["message"].as_str().unwrap().contains(&LONGEST_LINE.to_string()), "{error}");
    assert!(world.engine.pending().unwrap().is_empty());
    let long = "x".repeat(LONGEST_LINE / 2);
    let why = client.error("request_permission", json!({ "permissions": ["@network"], "reason": long })).await;
    assert!(why.contains("reason"), "{why}");
}

#[tokio::test]
async fn wrong_arguments_are_named() {
    let world = world().await;
    let mut client = Client::of(&world, "bot").await;
    for (tool, arguments, named) in [
        ("check_permission", json!({}), "missing field `permissions`"),
        ("check_permission", json!({ "permissions": "@network" }), "`permissions`"),
        ("check_permission", json!({ "permissions": ["@network", "@nope"] }), "`permissions[1]`"),
        ("check_permission", json!({ "permissions": [] }), "`permissions`"),
        ("check_permission", json!({ "permissions": vec!["@network"; 1_001] }), "1000"),
        ("check_permission", json!({ "permission": "@network" }), "unknown field `permission`"),
        ("request_permission", json!({ "permissions": ["@network"] }), "missing field `reason`"),
        ("request_permission", json!({ "permissions": [], "reason": "x" }), "`permissions`"),
        ("request_permission", json!({ "permissions": ["@network"], "reason": "" }), "`reason`"),
        ("request_permission", json!({ "permissions": ["@network"], "reason": "x", "scope": "for ever" }), "`scope`"),
        (
            "request_permission",
            json!({ "permissions": ["@network"], "reason": "x", "wait_seconds": -1 }),
            "`wait_seconds`",
        ),
        (
            "request_permission",
            json!({ "permissions": ["@network"], "reason": "x", "wait_seconds": 3.5 }),
            "`wait_seconds`",
        ),
        ("await_permission", json!({ "request_id": 7 }), "`request_id`"),
        ("grant_permission", json!({ "agent_id": "a b", "permissions": ["@read:/ws"], "reason": "x" }), "`agent_id`"),
        (
            "grant_permission",
            json!({ "agent_id": "other", "permissions": ["@read:/ws/../etc"], "reason": "x" }),
            "`permissions[0]`",
        ),
        ("revoke_permission", json!({ "grant_id": "all" }), "`grant_id`"),
        ("list_permissions", json!({ "agent_id": "bot" }), "unknown field `agent_id`"),
        ("explain", json!({ "operation": "fs.nothing", "resource": "/ws" }), "`operation`"),
    ] {
        let why = client.error(tool, arguments.clone()).await;
        assert!(why.contains(named), "{tool} {arguments}: {why}");
    }
    assert!(world.engine.pending().unwrap().is_empty());
}

#[tokio::test]
async fn unknown_tools_methods_and_parameters_are_named() {
    let world = world().await;
    let mut client = Client::of(&world, "bot").await;
    for (method, params, named) in [
        ("tools/call", json!({ "name": "approve_permission", "arguments": {} }), "request_permission"),
        ("tools/call", json!({ "name": 7 }), "`name`"),
        ("tools/call", json!({ "name": "list_permissions", "arguments": [] }), "`arguments`"),
        ("tools/call", json!({}), "`name`"),
        ("resources/read", json!({}), "`uri`"),
        ("prompts/list", json!({}), "prompts/list"),
        ("permissions/approve", json!({}), "`permissions/approve`"),
    ] {
        let told = client.request(method, params.clone()).await;
        assert!(told.get("result").is_none(), "{method} {params}: {told}");
        if method != "prompts/list" {
            assert!(told["error"]["message"].as_str().unwrap().contains(named), "{method} {params}: {told}");
        }
    }
}
