//! Requests: an agent makes them, waits for them and withdraws them; a person answers them.

use std::sync::Arc;

use bestow_http::credentials::{Issued, Role};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::{client::Reply, daemon::Daemon};

async fn asked(daemon: &Daemon, bot: &str, permission: &str) -> String {
    let body = json!({ "permissions": [permission], "reason": "to build" }).to_string();
    let reply = daemon.post(bot, "/v1/requests", &body).await;
    assert_eq!((reply.status, &reply.json["status"]), (201, &json!("pending")), "{reply:?}");
    reply.json["id"].as_str().unwrap().to_owned()
}

async fn answer(daemon: &Daemon, token: &str, request: &str, body: &Value) -> Reply {
    daemon.post(token, &format!("/v1/requests/{request}/answer"), &body.to_string()).await
}

#[tokio::test]
async fn an_agent_asks_a_person_answers_and_the_permission_is_there() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = asked(&daemon, &bot, "@write:/else").await;
    let listed = daemon.get(&you, "/v1/requests").await.json;
    let question = &listed["requests"][0]["question"];
    assert_eq!(listed["requests"][0]["id"], *id);
    assert_eq!((&question["agentId"], &question["permissions"]), (&json!("bot"), &json!(["@write:/else"])));
    let ended = answer(&daemon, &you, &id, &json!({ "decision": "allow", "scope": "session", "feedback": "go" })).await;
    assert_eq!((ended.status, &ended.json["status"]), (200, &json!("granted")), "{ended:?}");
    assert_eq!(ended.json["resolution"]["feedback"], "go");
    let check = daemon.post(&bot, "/v1/check", r#"{"permissions":["@write:/else/a"]}"#).await.json;
    assert_eq!(check["results"][0]["held"], "held");
    assert_eq!(daemon.get(&bot, &format!("/v1/requests/{id}")).await.json["status"], "granted");
    assert_eq!(daemon.get(&you, &format!("/v1/requests/{id}")).await.json["status"], "granted");
    assert_eq!(daemon.get(&you, "/v1/requests").await.json, json!({ "requests": [] }));
    let late = answer(&daemon, &you, &id, &json!({ "decision": "deny" })).await;
    assert_eq!((late.status, &late.json["code"]), (409, &json!("already_resolved")));
    assert_eq!(late.json["facts"]["outcome"], "granted");
}

#[tokio::test]
async fn a_waiting_call_ends_with_the_answer() {
    let daemon = Arc::new(Daemon::start().await);
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = asked(&daemon, &bot, "@write:/else").await;
    let waiting = tokio::spawn({
        let (daemon, bot, id) = (Arc::clone(&daemon), bot.clone(), id.clone());
        async move { daemon.get(&bot, &format!("/v1/requests/{id}/wait")).await }
    });
    assert_eq!(answer(&daemon, &you, &id, &json!({ "decision": "deny", "feedback": "no" })).await.status, 200);
    let told = waiting.await.unwrap().json;
    assert_eq!((&told["status"], &told["resolution"]["feedback"]), (&json!("denied"), &json!("no")));
}

#[tokio::test]
async fn a_waiting_call_of_a_revoked_credential_learns_nothing() {
    let daemon = Arc::new(Daemon::start().await);
    let you = daemon.approver("you");
    let Issued { token, credential, .. } = daemon.issue(Role::Agent { agent: "bot".parse().unwrap() });
    let id = asked(&daemon, &token, "@write:/else").await;
    let waiting = tokio::spawn({
        let (daemon, token, id) = (Arc::clone(&daemon), token.clone(), id.clone());
        async move { daemon.get(&token, &format!("/v1/requests/{id}/wait")).await }
    });
    // Whenever the call arrives, its answer is the same. After these, it waits.
    for _ in 0..8 {
        assert_eq!(daemon.get(&token, &format!("/v1/requests/{id}")).await.json["status"], "pending");
    }
    daemon.credentials.revoke(&credential.id).unwrap();
    assert_eq!(answer(&daemon, &you, &id, &json!({ "decision": "allow" })).await.status, 200);
    assert_eq!(waiting.await.unwrap().status, 401);
}

/// A credential has 32 places for calls that wait. A further call is answered at once.
#[tokio::test]
async fn the_number_of_waiting_calls_of_a_credential_is_limited() {
    let daemon = Arc::new(Daemon::start().await);
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = asked(&daemon, &bot, "@write:/else").await;
    let mut waiting = JoinSet::new();
    for _ in 0..33 {
        let (daemon, bot, id) = (Arc::clone(&daemon), bot.clone(), id.clone());
        waiting.spawn(async move { daemon.get(&bot, &format!("/v1/requests/{id}/wait")).await.json["status"].clone() });
    }
    assert_eq!(waiting.join_next().await.unwrap().unwrap(), "pending");
    assert_eq!(answer(&daemon, &you, &id, &json!({ "decision": "allow" })).await.status, 200);
    while let Some(status) = waiting.join_next().await {
        assert_eq!(status.unwrap(), "granted");
    }
}

#[tokio::test]
async fn a_wait_of_no_time_is_answered_at_once() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let id = asked(&daemon, &bot, "@write:/else").await;
    assert_eq!(daemon.get(&bot, &format!("/v1/requests/{id}/wait?waitMs=0")).await.json["status"], "pending");
    let unknown = daemon.get(&bot, &format!("/v1/requests/{id}/wait?wait=0")).await;
    assert!(unknown.status == 400 && unknown.json["detail"].as_str().unwrap().contains("wait"), "{unknown:?}");
}

#[tokio::test]
async fn an_agent_withdraws_its_request_once() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let id = asked(&daemon, &bot, "@write:/else").await;
    let path = format!("/v1/requests/{id}");
    assert_eq!(daemon.delete(&bot, &path).await.json["status"], "cancelled");
    assert_eq!(daemon.delete(&bot, &path).await.status, 409);
}

#[tokio::test]
async fn a_request_of_another_agent_or_owner_looks_like_none() {
    let daemon = Daemon::start().await;
    let (bot, other, them) = (daemon.agent("bot"), daemon.agent("other"), daemon.approver("them"));
    let id = asked(&daemon, &bot, "@write:/else").await;
    let nobody = "0192aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee";
    for path in ["", "/wait?waitMs=0"] {
        let [own, none] = [&*id, nobody].map(|id| format!("/v1/requests/{id}{path}"));
        let (own, none) = (daemon.get(&other, &own).await, daemon.get(&other, &none).await);
        assert_eq!((own.status, &own.json), (404, &none.json), "{path}");
    }
    let path = |id: &str| format!("/v1/requests/{id}");
    let (own, none) = (daemon.delete(&other, &path(&id)).await, daemon.delete(&other, &path(nobody)).await);
    assert_eq!((own.status, &own.json), (404, &none.json));
    let (own, none) = (daemon.get(&them, &path(&id)).await, daemon.get(&them, &path(nobody)).await);
    assert_eq!((own.status, &own.json), (404, &none.json));
    let allow = json!({ "decision": "allow" });
    let (own, none) = (answer(&daemon, &them, &id, &allow).await, answer(&daemon, &them, nobody, &allow).await);
    assert_eq!((own.status, &own.json), (404, &none.json));
    assert_eq!(daemon.get(&them, "/v1/requests").await.json, json!({ "requests": [] }));
    assert_eq!(
        daemon.get(&them, "/v1/requests?agentId=bot").await.json,
        daemon.get(&them, "/v1/requests?agentId=no").await.json
    );
    assert_eq!(daemon.get(&bot, &path(&id)).await.json["status"], "pending");
}

#[tokio::test]
async fn an_agent_never_answers() {
    let daemon = Daemon::start().await;
    let (bot, other) = (daemon.agent("bot"), daemon.agent("other"));
    let id = asked(&daemon, &bot, "@write:/else").await;
    for token in [&bot, &other] {
        assert_eq!(answer(&daemon, token, &id, &json!({ "decision": "allow" })).await.status, 403);
        assert_eq!(daemon.get(token, "/v1/requests").await.status, 403);
    }
    assert_eq!(daemon.get(&bot, &format!("/v1/requests/{id}")).await.json["status"], "pending");
}

#[tokio::test]
async fn an_answer_may_give_less_or_another_input() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let body = json!({ "permissions": ["@write:/one", "@write:/two"], "reason": "why" }).to_string();
    let id = daemon.post(&bot, "/v1/requests", &body).await.json["id"].as_str().unwrap().to_owned();
    let some = answer(&daemon, &you, &id, &json!({ "decision": "allow", "permissions": ["@write:/one"] })).await.json;
    assert_eq!(some["resolution"]["granted"], json!(["@write:/one"]));
    assert_eq!(some["resolution"]["refused"], json!(["@write:/two"]));
    let body = json!({ "toolName": "bash", "toolInput": { "command": "node a.js" } }).to_string();
    let id = daemon.post(&bot, "/v1/authorize", &body).await.json["requestId"].as_str().unwrap().to_owned();
    let instead = json!({ "decision": "allow", "modifiedInput": { "command": "node b.js" } });
    let changed = answer(&daemon, &you, &id, &instead).await.json;
    assert_eq!(changed["resolution"]["updatedInput"], json!({ "command": "node b.js" }), "{changed}");
    assert_eq!(daemon.post(&bot, "/v1/authorize", &body).await.json["allow"], false);
    let body = json!({ "toolName": "bash", "toolInput": { "command": "node b.js" } }).to_string();
    assert_eq!(daemon.post(&bot, "/v1/authorize", &body).await.json["allow"], true);
}

#[tokio::test]
async fn an_answer_that_is_wrong_changes_nothing() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = asked(&daemon, &bot, "@write:/else").await;
    for (body, status) in [
        (json!({ "decision": "maybe" }), 400),
        (json!({ "decision": "allow", "by": "eve" }), 400),
        (json!({ "decision": "allow", "permissions": null }), 400),
        (json!({ "decision": "allow", "permissions": [] }), 400),
        (json!({ "decision": "allow", "modifiedInput": null }), 400),
        (json!({ "decision": "allow", "modifiedInput": "ls" }), 400),
        (json!({ "decision": "deny", "permissions": ["@write:/else"] }), 400),
        (json!({ "decision": "deny", "scope": "always" }), 400),
        (json!({ "decision": "allow", "permissions": ["@network"] }), 422),
        (json!({}), 400),
    ] {
        let reply = answer(&daemon, &you, &id, &body).await;
        assert_eq!(reply.status, status, "{body}: {reply:?}");
        assert_eq!(daemon.get(&bot, &format!("/v1/requests/{id}")).await.json["status"], "pending", "{body}");
    }
}

#[tokio::test]
async fn an_operator_answers_for_every_owner_and_a_code_names_a_request() {
    let daemon = Daemon::start().await;
    let (operator, theirs) = (daemon.operator(), daemon.agent("theirs"));
    let id = asked(&daemon, &theirs, "@write:/else").await;
    let code = daemon.get(&operator, "/v1/requests").await.json["requests"][0]["code"].as_str().unwrap().to_owned();
    assert_eq!(daemon.get(&theirs, &format!("/v1/requests/{code}")).await.json["id"], *id);
    assert_eq!(answer(&daemon, &operator, &code, &json!({ "decision": "allow" })).await.json["status"], "granted");
    let grants = daemon.world.engine.grants().unwrap();
    let told = grants.iter().find(|grant| grant.to.as_str() == "theirs" && grant.reason.is_some()).unwrap().to_string();
    assert!(told.contains("approved by operator (http, credential "), "{told}");
}

#[tokio::test]
async fn an_id_may_be_percent_encoded() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let id = asked(&daemon, &bot, "@write:/else").await;
    let encoded: String = id.bytes().map(|byte| format!("%{byte:02x}")).collect();
    assert_eq!(daemon.get(&bot, &format!("/v1/requests/{encoded}")).await.json["id"], *id);
    for strange in ["%ff", "%00", "..%2f..", "%20"] {
        assert_eq!(daemon.get(&bot, &format!("/v1/requests/{strange}")).await.status, 404, "{strange}");
    }
}

#[tokio::test]
async fn the_short_code_names_a_request_after_its_end_too() {
    let daemon = Daemon::start().await;
    let (bot, you, other) = (daemon.agent("bot"), daemon.approver("you"), daemon.agent("other"));
    let id = asked(&daemon, &bot, "@write:/else").await;
    let code = daemon.get(&bot, &format!("/v1/requests/{id}")).await.json["code"].as_str().unwrap().to_owned();
    assert_eq!(answer(&daemon, &you, &id, &json!({ "decision": "deny" })).await.status, 200);
    for sender in [&bot, &you] {
        let ended = daemon.get(sender, &format!("/v1/requests/{code}")).await;
        assert_eq!((ended.status, &ended.json["id"], &ended.json["status"]), (200, &json!(id), &json!("denied")));
    }
    assert_eq!(daemon.get(&other, &format!("/v1/requests/{code}")).await.status, 404, "it is of another agent");
}
