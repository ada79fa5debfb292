//! An agent's credential: what the agent holds, and what it may do.

use bestow::{Answer, grant::Scope};
use serde_json::json;

use super::super::{client::call, daemon::Daemon};
use crate::support::{tag, why};

#[tokio::test]
async fn an_agent_sees_itself_and_what_it_holds() {
    let daemon = Daemon::start().await;
    let reply = daemon.get(&daemon.agent("bot"), "/v1/agents/me").await;
    assert_eq!(reply.status, 200);
    assert_eq!((&reply.json["agent"]["id"], &reply.json["agent"]["ownerId"]), (&json!("bot"), &json!("you")));
    assert_eq!(reply.json["state"]["mode"], "default");
    let held: Vec<_> = reply.json["grants"].as_array().unwrap().iter().map(|grant| &grant["permission"]).collect();
    assert_eq!(held, ["@write:/ws", "@network"]);
    assert_eq!(reply.json["grants"][0]["origin"], json!({ "kind": "operator" }));
}

#[tokio::test]
async fn a_check_answers_for_each_permission_and_consumes_nothing() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    daemon.world.you().give("bot", tag("@read:/once"), Scope::Once, why()).await.unwrap();
    let before = daemon.world.view();
    let body = json!({ "permissions": ["@write:/ws/a", "@read:/once", "@write:/etc"] }).to_string();
    for _ in 0..2 {
        let reply = daemon.post(&bot, "/v1/check", &body).await;
        assert_eq!(
            reply.json["results"],
            json!([
                { "permission": "@write:/ws/a", "held": "held" },
                { "permission": "@read:/once", "held": "held" },
                { "permission": "@write:/etc", "held": "not_held" },
            ])
        );
    }
    assert_eq!(daemon.world.view(), before);
}

#[tokio::test]
async fn a_body_that_is_wrong_is_refused_with_the_field() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let before = daemon.world.view();
    for (path, body, named) in [
        ("/v1/check", r#"{"permissions":["@write:/ws","nonsense"]}"#, "permissions[1]"),
        ("/v1/check", r#"{"permissions":"@write:/ws"}"#, "permissions"),
        ("/v1/check", r#"{"permissions":[],"agentId":"other"}"#, "agentId"),
        ("/v1/check", "{}", "permissions"),
        ("/v1/authorize", r#"{"operation":"command.execute","resource":"ls","userId":"you"}"#, "userId"),
        ("/v1/authorize", r#"{"operation":"conjure","resource":"ls"}"#, "operation"),
        ("/v1/authorize", r#"{"operation":"command.execute"}"#, "resource"),
        ("/v1/authorize", r#"{"toolName":"bash","toolInput":"ls"}"#, "toolInput"),
        ("/v1/authorize", r#"{"operation":"command.execute","resource":"ls","details":3}"#, "details"),
        ("/v1/requests", r#"{"permissions":["@network"]}"#, "reason"),
        ("/v1/requests", r#"{"permissions":[],"reason":"why"}"#, "permissions"),
        ("/v1/requests", r#"{"permissions":["@network"],"reason":"why","scope":"forever"}"#, "scope"),
    ] {
        let reply = daemon.post(&bot, path, body).await;
        let detail = reply.json["detail"].as_str().unwrap();
        assert!(reply.status == 400 && detail.contains(named), "{path} {body}: {reply:?}");
        assert_eq!(reply.json["code"], "invalid_body");
    }
    assert_eq!(daemon.world.view(), before);
}

#[tokio::test]
async fn a_batch_is_limited() {
    let daemon = Daemon::start().await;
    let body = |count: usize| json!({ "permissions": vec!["@network"; count] }).to_string();
    assert_eq!(daemon.post(&daemon.agent("bot"), "/v1/check", &body(1_000)).await.status, 200);
    assert_eq!(daemon.post(&daemon.agent("bot"), "/v1/check", &body(1_001)).await.status, 400);
}

#[tokio::test]
async fn an_approved_action_passes_once() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let body = json!({ "toolName": "bash", "toolInput": { "command": "node a.js" } }).to_string();
    let asked = daemon.post(&bot, "/v1/authorize", &body).await.json;
    assert_eq!((&asked["allow"], &asked["decision"]), (&json!(false), &json!("ask")));
    let request = asked["requestId"].as_str().unwrap();
    let again = daemon.post(&bot, "/v1/authorize", &body).await.json;
    assert_eq!(again["requestId"], request, "it joins the request that is there");
    daemon.world.you().answer(request.parse().unwrap(), Answer::allow().scope(Scope::Once)).await.unwrap();
    let other = json!({ "toolName": "bash", "toolInput": { "command": "node b.js" } }).to_string();
    assert_eq!(daemon.post(&bot, "/v1/authorize", &other).await.json["allow"], false, "another input");
    assert_eq!(daemon.post(&bot, "/v1/authorize", &body).await.json["allow"], true);
    assert_eq!(daemon.post(&bot, "/v1/authorize", &body).await.json["allow"], false, "it was used");
}

#[tokio::test]
async fn an_action_is_a_path_a_command_or_a_call_of_a_tool() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    for (body, allow, decision) in [
        (json!({ "operation": "command.execute", "resource": "ls" }), true, "allow"),
        (json!({ "operation": "fs.read", "resource": "/etc/hosts" }), true, "allow"),
        (json!({ "operation": "fs.write", "resource": "/ws/a" }), true, "allow"),
        (json!({ "operation": "fs.write", "resource": "/else" }), false, "ask"),
        (json!({ "operation": "command.execute", "resource": "rm -rf /" }), false, "deny"),
        (json!({ "toolName": "bash", "toolInput": { "command": "ls" } }), true, "allow"),
    ] {
        let reply = daemon.post(&bot, "/v1/authorize", &body.to_string()).await.json;
        assert_eq!((&reply["allow"], &reply["decision"]), (&json!(allow), &json!(decision)), "{body}: {reply}");
    }
}

#[tokio::test]
async fn an_explanation_says_what_would_help_and_decides_nothing() {
    let daemon = Daemon::start().await;
    let before = daemon.world.view();
    let body = json!({ "operation": "fs.write", "resource": "/else" }).to_string();
    let reply = daemon.post(&daemon.agent("bot"), "/v1/explain", &body).await;
    assert_eq!((reply.status, &reply.json["decidedBy"]), (200, &json!("held")), "{reply:?}");
    assert_eq!(reply.json["decision"]["missing"], json!(["@write:/else"]));
    assert!(!reply.json["waysOut"].as_array().unwrap().is_empty());
    assert_eq!(daemon.world.view(), before);
}

#[tokio::test]
async fn a_call_of_an_agent_needs_the_credential_of_an_agent() {
    let daemon = Daemon::start().await;
    let (you, operator) = (daemon.approver("you"), daemon.operator());
    let body = json!({ "operation": "command.execute", "resource": "ls" }).to_string();
    for path in ["/v1/authorize", "/v1/explain", "/v1/check", "/v1/requests"] {
        for token in [&you, &operator] {
            assert_eq!(daemon.post(token, path, &body).await.status, 403, "{path}");
        }
        let without = call(daemon.address, "POST", path, &[("content-type", "application/json")], &body).await;
        assert!(without.status == 401 && without.head.contains("www-authenticate: bearer"), "{path}");
        let text = [("authorization", &*format!("Bearer {}", daemon.agent("bot"))), ("content-type", "text/plain")];
        assert_eq!(call(daemon.address, "POST", path, &text, &body).await.status, 415, "{path}");
    }
    assert_eq!(daemon.get(&you, "/v1/agents/me").await.status, 403);
}
