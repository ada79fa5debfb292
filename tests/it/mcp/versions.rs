//! The versions of the protocol, in this process.

use rmcp::{
    ClientHandler, ServiceExt,
    model::{CallToolRequestParams, CallToolResponse},
};
use serde_json::json;

use super::client::{Client, WITH_HANDSHAKE, WITHOUT_HANDSHAKE};
use crate::support::World;

async fn world() -> World {
    let world = World::new();
    world.worker("bot", &["@write:/ws"]).await;
    world
}

#[tokio::test]
async fn each_version_with_a_handshake_is_spoken() {
    let world = world().await;
    for version in WITH_HANDSHAKE {
        let mut client = Client::silent(&world, "bot");
        let greeted = client.greet(version).await;
        assert_eq!(greeted["protocolVersion"], version);
        assert!(greeted["instructions"].as_str().unwrap().contains("`bot`"));
        assert_eq!(client.result("ping", json!({})).await, json!({}));
        let held = client.call("check_permission", json!({ "permissions": ["@write:/ws/a"] })).await;
        assert_eq!(held["structuredContent"]["results"][0]["held"], "held", "{version}");
        assert_eq!(held.get("resultType"), None, "{version} has no such field");
    }
}

#[tokio::test]
async fn an_unknown_version_gets_the_newest_with_a_handshake() {
    let world = world().await;
    for version in ["1999-01-01", "2099-01-01", "nonsense", WITHOUT_HANDSHAKE] {
        let mut client = Client::silent(&world, "bot");
        assert_eq!(client.greet(version).await["protocolVersion"], "2025-11-25", "{version}");
        client.ok("list_permissions", json!({})).await;
    }
}

#[tokio::test]
async fn the_version_without_a_handshake_is_spoken() {
    let world = world().await;
    let mut client = Client::silent(&world, "bot");
    client.without_handshake(WITHOUT_HANDSHAKE);
    let found = client.result("server/discover", json!({})).await;
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(WITHOUT_HANDSHAKE)), "{found}");
    let held = client.call("check_permission", json!({ "permissions": ["@write:/ws/a"] })).await;
    assert_eq!(
        (&held["structuredContent"]["results"][0]["held"], &held["resultType"]),
        (&json!("held"), &json!("complete"))
    );
    let mut unknown = Client::silent(&world, "bot");
    unknown.without_handshake("2099-01-01");
    let refused = unknown.request("tools/list", json!({})).await;
    assert!(refused["error"]["data"].to_string().contains(WITHOUT_HANDSHAKE), "{refused}");
}

#[tokio::test]
async fn a_request_before_the_handshake_is_told_what_is_missing() {
    let world = world().await;
    let mut client = Client::silent(&world, "bot");
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })).await;
    let refused = client.request("tools/call", json!({ "name": "list_permissions" })).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("protocolVersion"), "{refused}");
    client.greet("2025-06-18").await;
    client.ok("list_permissions", json!({})).await;
}

/// A client of the official SDK for Rust.
struct Silent;

impl ClientHandler for Silent {}

#[tokio::test]
async fn the_client_of_the_official_sdk_for_rust_is_served() {
    let world = world().await;
    let (own, theirs) = tokio::io::duplex(1 << 16);
    let server = bestow_mcp::server(&world.engine, "bot".parse().unwrap());
    let (read, write) = tokio::io::split(theirs);
    let serving =
        tokio::spawn(async move { server.serve(bestow_mcp::Lines::new(read, write)).await.unwrap().waiting().await });
    let client = Silent.serve(own).await.unwrap();
    assert_eq!(client.list_all_tools().await.unwrap().len(), 7);
    let arguments = json!({ "permissions": ["@network"] }).as_object().unwrap().clone();
    let called =
        client.call_tool(CallToolRequestParams::new("check_permission").with_arguments(arguments)).await.unwrap();
    let CallToolResponse::Complete(result) = called.into() else { panic!("a result") };
    assert_eq!(result.structured_content.unwrap()["results"][0]["held"], "not_held");
    client.cancel().await.unwrap();
    serving.await.unwrap().unwrap();
}
