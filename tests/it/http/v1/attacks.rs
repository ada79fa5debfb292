//! Attacks: a credential on the paths of another role, and bodies that are no objects of this API.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::{client::call, daemon::Daemon};

/// The operations that an agent may use.
const OF_AGENTS: [&str; 33] = [
    "agent_authorize",
    "agent_check",
    "agent_explain",
    "agent_me",
    "agent_spend",
    "agents_create",
    "events_events",
    "events_open",
    "events_recent",
    "grants_get",
    "grants_give",
    "grants_list",
    "grants_revoke",
    "hosts_begin",
    "hosts_call",
    "hosts_end",
    "messages_send",
    "processes_list",
    "processes_output",
    "processes_restart",
    "processes_start",
    "processes_stop",
    "processes_write",
    "requests_cancel",
    "requests_create",
    "requests_get",
    "requests_wait",
    "session_end",
    "session_get",
    "session_open",
    "tickets_create",
    "permissions_classify",
    "permissions_state",
];

/// Those of them that a person may not use.
const OF_AGENTS_ALONE: [&str; 17] = [
    "agent_authorize",
    "agent_check",
    "agent_explain",
    "agent_me",
    "agent_spend",
    "hosts_begin",
    "hosts_call",
    "hosts_end",
    "processes_output",
    "processes_restart",
    "processes_start",
    "processes_write",
    "requests_cancel",
    "requests_create",
    "requests_wait",
    "permissions_classify",
    "permissions_state",
];

/// Those that only an operator may use.
const OF_OPERATORS: [&str; 4] = ["agents_create", "agents_retire", "audit_export", "audit_verify"];

/// Returns each operation: its name, its method, and a path of it about things of the owner `you`.
async fn operations(daemon: &Daemon) -> Vec<(String, String, String)> {
    let described = call(daemon.address, "GET", "/v1/openapi.json", &[], "").await.json;
    let mut all = Vec::new();
    // A request that is no upgrade is refused before its sender matters.
    let paths = described["paths"].as_object().unwrap().iter().filter(|(path, _)| !path.starts_with("/ws/"));
    for (path, item) in paths {
        let path = path.replace("{agent}", "bot").replace("{grant}", "g1").replace("{decision}", "r1");
        let path = path
            .replace("{request}", "abc")
            .replace("{run}", "night")
            .replace("{number}", "1")
            .replace("{process}", "p1");
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            all.push((name, method.to_uppercase(), path.clone()));
        }
    }
    all
}

#[tokio::test]
async fn no_credential_opens_a_path_of_another_role() {
    let daemon = Daemon::start().await;
    let (bot, you, operator) = (daemon.agent("bot"), daemon.approver("you"), daemon.operator());
    let before = daemon.world.view();
    let operations = operations(&daemon).await;
    let names: BTreeSet<_> = operations.iter().map(|(name, ..)| name.as_str()).collect();
    assert!(OF_AGENTS.iter().chain(&OF_OPERATORS).all(|name| names.contains(name)), "{names:?}");
    for (name, method, path) in &operations {
        let mut refused = Vec::new();
        if !OF_AGENTS.contains(&name.as_str()) {
            refused.push(&bot);
        }
        if OF_AGENTS_ALONE.contains(&name.as_str()) {
            refused.extend([&you, &operator]);
        }
        if OF_OPERATORS.contains(&name.as_str()) {
            refused.push(&you);
        }
        for token in refused {
            let reply = daemon.send(token, method, path, &json!({})).await;
            assert_eq!((reply.status, &reply.json["code"]), (403, &json!("forbidden")), "{name}");
        }
    }
    assert_eq!(daemon.world.view(), before);
}

#[tokio::test]
async fn a_body_that_is_no_object_of_this_api_has_a_named_answer() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let before = daemon.world.view();
    let deep = format!("{{\"permissions\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let long = format!("{{\"permissions\":[{}]}}", "\"@network\",".repeat(100_000));
    for (body, status, code) in [
        (r#"{"permissions":[],"permissions":["@network"]}"#, 400, "invalid_body"),
        ("[]", 400, "invalid_body"),
        ("null", 400, "invalid_body"),
        ("{", 400, "invalid_body"),
        ("{\"permissions\":[\"\u{0}\"]}", 400, "invalid_body"),
        (&deep, 400, "invalid_body"),
        (&long, 413, "too_large"),
    ] {
        let reply = daemon.post(&bot, "/v1/check", body).await;
        assert_eq!((reply.status, &reply.json["code"]), (status, &json!(code)), "{}", &body[..body.len().min(80)]);
    }
    assert_eq!(daemon.post(&bot, "/v1/check", r#"{"permissions":["@network"]}"#).await.status, 200);
    assert_eq!(daemon.world.view(), before);
}

#[tokio::test]
async fn the_sender_is_never_a_field() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    for field in ["agentId", "userId", "ownerId", "owner", "by", "from", "means"] {
        for (token, method, path, mut body) in [
            (&bot, "POST", "/v1/check", json!({ "permissions": [] })),
            (&bot, "POST", "/v1/requests", json!({ "permissions": ["@network"], "reason": "r" })),
            (&bot, "POST", "/v1/authorize", json!({ "operation": "command.execute", "resource": "ls" })),
            (&you, "PUT", "/v1/agents/bot/mode", json!({ "mode": "plan" })),
            (&you, "PATCH", "/v1/runs/night/policies", json!({ "mode": "read" })),
        ] {
            body[field] = Value::from("them");
            let reply = daemon.send(token, method, path, &body).await;
            let detail = reply.json["detail"].as_str().unwrap();
            assert!(reply.status == 400 && detail.contains(field), "{path} {field}: {reply:?}");
        }
    }
}
