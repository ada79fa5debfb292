//! The resources, and the news about them, in this process.

use serde_json::{Value, json};

use super::client::{Client, WITHOUT_HANDSHAKE};
use crate::support::World;

const PERMISSIONS: &str = "bestow://permissions";
const REQUESTS: &str = "bestow://requests";

async fn world() -> World {
    let world = World::new();
    world.worker("bot", &["@write:/ws"]).await;
    world.worker("other", &[]).await;
    world
}

async fn read(client: &mut Client, uri: &str) -> Value {
    let read = client.result("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read["contents"][0]["mimeType"], "application/json");
    serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn an_agent_reads_what_it_holds_and_why() {
    let world = world().await;
    let (mut bot, mut other) = (Client::of(&world, "bot").await, Client::of(&world, "other").await);
    let listed = bot.result("resources/list", json!({})).await;
    let uris: Vec<_> = listed["resources"].as_array().unwrap().iter().map(|one| one["uri"].clone()).collect();
    assert_eq!(uris, [PERMISSIONS, REQUESTS]);
    let give = json!({ "agent_id": "other", "permissions": ["@read:/ws/a"], "reason": "for the page" });
    bot.ok("grant_permission", give).await;
    let held = read(&mut other, PERMISSIONS).await;
    assert_eq!(held["agent_id"], "other");
    let chain = held["grants"][0]["provenance"].as_array().unwrap();
    assert_eq!(chain.len(), 2, "the own grant first, the root last: {held}");
    assert_eq!(read(&mut bot, PERMISSIONS).await["given"][0]["agent_id"], "other");
    bot.ok("request_permission", json!({ "permissions": ["@network"], "reason": "to publish" })).await;
    assert_eq!(read(&mut bot, REQUESTS).await["waiting"][0]["reason"], "to publish");
    assert_eq!(read(&mut other, REQUESTS).await["waiting"], json!([]), "the requests of others are not shown");
    let unknown = bot.request("resources/read", json!({ "uri": "bestow://other/permissions" })).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains(PERMISSIONS), "{unknown}");
}

#[tokio::test]
async fn a_subscriber_learns_that_a_resource_has_changed() {
    let world = world().await;
    let (mut bot, mut other) = (Client::of(&world, "bot").await, Client::of(&world, "other").await);
    other.result("resources/subscribe", json!({ "uri": PERMISSIONS })).await;
    bot.ok("request_permission", json!({ "permissions": ["@network"], "reason": "to publish" })).await;
    let give = json!({ "agent_id": "other", "permissions": ["@read:/ws/a"], "reason": "for the page" });
    bot.ok("grant_permission", give).await;
    let told = other.other().await;
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(PERMISSIONS))
    );
    other.result("resources/unsubscribe", json!({ "uri": PERMISSIONS })).await;
    let unknown = other.request("resources/subscribe", json!({ "uri": "bestow://nothing" })).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains(PERMISSIONS), "{unknown}");
}

#[tokio::test]
async fn a_listener_without_a_handshake_learns_it_too() {
    let world = world().await;
    let (mut bot, mut other) = (Client::of(&world, "bot").await, Client::silent(&world, "other"));
    other.without_handshake(WITHOUT_HANDSHAKE);
    let wanted = json!({ "notifications": { "resourceSubscriptions": [PERMISSIONS, "bestow://nothing"] } });
    other.begin("subscriptions/listen", wanted).await;
    let accepted = other.other().await;
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(accepted["params"]["notifications"]["resourceSubscriptions"], json!([PERMISSIONS]), "{accepted}");
    let give = json!({ "agent_id": "other", "permissions": ["@read:/ws/a"], "reason": "for the page" });
    bot.ok("grant_permission", give).await;
    let told = other.other().await;
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(PERMISSIONS))
    );
}
