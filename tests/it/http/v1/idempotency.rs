//! Repeated writes with a key.

use serde_json::{Value, json};

use super::super::{
    client::{Reply, call},
    daemon::Daemon,
};

async fn write(daemon: &Daemon, token: &str, key: &str, method: &str, path: &str, body: &Value) -> Reply {
    let headers = [
        ("authorization", &*format!("Bearer {token}")),
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    call(daemon.address, method, path, &headers, &body.to_string()).await
}

fn grant(permission: &str) -> Value {
    json!({ "agentId": "bot", "permissions": [permission], "reason": "r", "scope": "once" })
}

#[tokio::test]
async fn a_repeated_write_is_carried_out_once_and_answered_twice() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let first = write(&daemon, &you, "k1", "POST", "/v1/grants", &grant("@write:/a")).await;
    assert_eq!((first.status, first.head.contains("idempotency-replayed")), (201, false));
    let before = daemon.world.view();
    let again = write(&daemon, &you, "k1", "POST", "/v1/grants", &grant("@write:/a")).await;
    assert_eq!((again.status, &again.json), (201, &first.json));
    assert!(again.head.contains("idempotency-replayed: true") && again.head.contains("application/json"), "{again:?}");
    assert_eq!(daemon.world.view(), before);
    let other = write(&daemon, &you, "k2", "POST", "/v1/grants", &grant("@write:/a")).await;
    assert_ne!(other.json, first.json, "another key is another write");
}

#[tokio::test]
async fn of_equal_writes_at_the_same_time_one_is_carried_out() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let granted = || daemon.world.engine.grants().unwrap().len();
    for number in 0..50 {
        let (before, key, body) = (granted(), format!("k{number}"), grant("@write:/a"));
        let once = || write(&daemon, &you, &key, "POST", "/v1/grants", &body);
        let (one, two, three) = tokio::join!(once(), once(), once());
        assert_eq!(granted(), before + 1);
        for reply in [one, two, three] {
            let is_refused = reply.status == 409 && reply.json["code"] == "idempotency_in_progress";
            assert!(reply.status == 201 || is_refused, "{reply:?}");
        }
        assert!(once().await.head.contains("idempotency-replayed"));
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_credential() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let first = write(&daemon, &you, "k", "POST", "/v1/grants", &grant("@write:/a")).await;
    let id = first.json["grantIds"][0].as_str().unwrap().to_owned();
    for (method, path, body) in [
        ("POST", "/v1/grants".to_owned(), grant("@write:/b")),
        ("POST", "/v1/tickets".to_owned(), grant("@write:/a")),
        ("DELETE", format!("/v1/grants/{id}"), grant("@write:/a")),
    ] {
        let other = write(&daemon, &you, "k", method, &path, &body).await;
        assert_eq!((other.status, &other.json["code"]), (422, &json!("idempotency_key_reused")), "{path}");
    }
    let theirs = write(&daemon, &them, "k", "POST", "/v1/grants", &grant("@write:/a")).await;
    assert_eq!(theirs.status, 404, "the key of another credential is unknown");
    let without = write(&daemon, "bestow_0_0", "k", "POST", "/v1/grants", &grant("@write:/a")).await;
    assert_eq!(without.status, 401);
}

#[tokio::test]
async fn a_refusal_is_repeated_too_and_the_time_of_a_key_is_limited() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let body = json!({ "agentId": "other", "permissions": ["@write:/else"], "reason": "r" });
    assert_eq!(write(&daemon, &bot, "k", "POST", "/v1/grants", &body).await.status, 403);
    daemon
        .world
        .you()
        .give("bot", crate::support::tag("@write:/else"), bestow::grant::Scope::Always, crate::support::why())
        .await
        .unwrap();
    let again = write(&daemon, &bot, "k", "POST", "/v1/grants", &body).await;
    assert_eq!((again.status, &again.json["code"]), (403, &json!("not_held")));
    daemon.world.later(600_000).await;
    assert_eq!(write(&daemon, &bot, "k", "POST", "/v1/grants", &body).await.status, 201);
}

#[tokio::test]
async fn a_key_is_one_text_of_limited_length() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    for key in ["", &"k".repeat(256), "caf\u{e9}"] {
        let reply = write(&daemon, &you, key, "POST", "/v1/grants", &grant("@write:/a")).await;
        assert_eq!((reply.status, &reply.json["code"]), (400, &json!("invalid_idempotency_key")), "{key}");
    }
    assert_eq!(write(&daemon, &you, &"k".repeat(255), "POST", "/v1/grants", &grant("@write:/a")).await.status, 201);
}

/// The oldest answers are forgotten, so the memory is bounded, and the newest ones are there.
#[tokio::test]
async fn the_number_of_kept_answers_is_limited() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let body = json!({ "mode": "default" });
    for number in 0..=256 {
        let reply = write(&daemon, &you, &format!("k{number}"), "PUT", "/v1/agents/bot/mode", &body).await;
        assert_eq!(reply.status, 200);
    }
    let is_kept = async |key: &str| {
        write(&daemon, &you, key, "PUT", "/v1/agents/bot/mode", &body).await.head.contains("idempotency-replayed")
    };
    assert!(is_kept("k256").await && is_kept("k1").await);
    assert!(!is_kept("k0").await);
}

/// The attack: an approval is for one call, and a stored answer would allow a second one.
#[tokio::test]
async fn a_decision_is_never_repeated_from_memory() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let action = json!({ "toolName": "bash", "toolInput": { "command": "node a.js" } });
    let asked = write(&daemon, &bot, "k", "POST", "/v1/authorize", &action).await.json;
    assert_eq!(asked["decision"], "ask");
    let id = daemon.first_pending(&you).await;
    assert_eq!(daemon.decide(&you, &id, "approve").await.status, 200);
    let mut allowed = Vec::new();
    for _ in 0..3 {
        allowed.push(write(&daemon, &bot, "k", "POST", "/v1/authorize", &action).await.json["allow"].clone());
    }
    assert_eq!(allowed, [json!(true), json!(false), json!(false)]);
}
