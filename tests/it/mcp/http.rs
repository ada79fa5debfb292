//! `/mcp` of the real `bestow serve`, over a real socket.
#![cfg(feature = "cli")]

use serde_json::{Value, json};

use super::client::{WITH_HANDSHAKE, WITHOUT_HANDSHAKE, failure, structured};
use crate::http::{
    client::{Reply, call, raw},
    project::Project,
};

/// The header of a client that accepts both forms of an answer, as the protocol demands.
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// Sends a message with a token.
async fn post(project: &Project, token: &str, message: &Value) -> Reply {
    post_with(project, token, message, &[]).await
}

async fn post_with(project: &Project, token: &str, message: &Value, more: &[(&str, &str)]) -> Reply {
    let authorization = format!("Bearer {token}");
    let headers = [("authorization", &*authorization), ("content-type", "application/json"), ACCEPT];
    let headers: Vec<_> = headers.iter().chain(more).copied().collect();
    call(project.address(), "POST", "/mcp", &headers, &message.to_string()).await
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn tool(name: &str, arguments: Value) -> Value {
    request("tools/call", json!({ "name": name, "arguments": arguments }))
}

/// Calls a tool, and returns its structured answer.
async fn ok(project: &Project, token: &str, name: &str, arguments: Value) -> Value {
    let reply = post(project, token, &tool(name, arguments)).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    structured(&reply.json["result"])
}

fn serving() -> (Project, String) {
    let mut project = Project::new();
    let bot = project.agent();
    project.serve();
    (project, bot)
}

#[tokio::test]
async fn an_agent_asks_over_http_and_a_person_answers_elsewhere() {
    let (project, bot) = serving();
    let you = project.approver();
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let waiting = ok(&project, &bot, "request_permission", asked).await;
    assert_eq!(waiting["status"], "pending");
    let id = waiting["request_id"].as_str().unwrap();
    let native = project.get(&bot, &format!("/v1/requests/{id}")).await.json;
    assert_eq!((&native["id"], &native["code"]), (&waiting["request_id"], &waiting["code"]), "one engine, two doors");
    let wait = json!({ "request_id": id, "wait_seconds": 50 });
    let answer = json!({ "decision": "allow", "scope": "session" });
    let path = format!("/v1/requests/{id}/answer");
    let (ended, answered) =
        tokio::join!(ok(&project, &bot, "await_permission", wait), project.post(&you, &path, &answer));
    assert_eq!((answered.status, &ended["status"]), (200, &json!("granted")));
    let held = ok(&project, &bot, "check_permission", json!({ "permissions": ["@network"] })).await;
    assert_eq!(held["results"][0]["held"], "held");
}

#[tokio::test]
async fn each_version_is_spoken_over_http() {
    let (project, bot) = serving();
    for version in WITH_HANDSHAKE {
        let hello = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "a test", "version": "1" },
        });
        let greeted = post(&project, &bot, &request("initialize", hello)).await;
        assert_eq!(greeted.json["result"]["protocolVersion"], version, "{greeted:?}");
        assert!(!greeted.head.contains("mcp-session-id"), "there are no sessions: {greeted:?}");
        let capability = &greeted.json["result"]["capabilities"]["resources"];
        assert_eq!(capability.get("subscribe"), None, "and nothing that needs one is offered");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let version = [("mcp-protocol-version", version)];
        assert_eq!(post_with(&project, &bot, &ready, &version).await.status, 202);
        let listed = post_with(&project, &bot, &request("tools/list", json!({})), &version).await;
        assert_eq!(listed.json["result"]["tools"].as_array().unwrap().len(), 7);
        let subscribed = request("resources/subscribe", json!({ "uri": "bestow://permissions" }));
        let subscribed = post_with(&project, &bot, &subscribed, &version).await;
        assert!(
            subscribed.json["error"]["message"].as_str().unwrap().contains("read the resource again"),
            "{subscribed:?}"
        );
    }
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
        "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "list_permissions", "arguments": {}, "_meta": meta });
    let headers =
        [("mcp-protocol-version", WITHOUT_HANDSHAKE), ("mcp-method", "tools/call"), ("mcp-name", "list_permissions")];
    let called = post_with(&project, &bot, &request("tools/call", params.clone()), &headers).await;
    assert_eq!(called.json["result"]["structuredContent"]["agent_id"], "bot", "{called:?}");
    let lying = [headers[0], headers[1], ("mcp-name", "check_permission")];
    let refused = post_with(&project, &bot, &request("tools/call", params), &lying).await;
    assert_eq!((refused.status, refused.json.get("result")), (400, None), "{refused:?}");
    let list = tool("list_permissions", json!({}));
    assert_eq!(post_with(&project, &bot, &list, &[("mcp-protocol-version", "2099-01-01")]).await.status, 400);
}

#[tokio::test]
async fn only_the_credential_of_an_agent_opens_the_door() {
    let (project, bot) = serving();
    let list = tool("list_permissions", json!({}));
    for token in [project.approver(), project.token(&["--role", "operator"])] {
        let refused = post(&project, &token, &list).await;
        assert_eq!(refused.status, 403);
        assert!(refused.json["detail"].as_str().unwrap().contains("--role agent"), "{refused:?}");
    }
    for token in ["nonsense", "", "two words"] {
        assert_eq!(post(&project, token, &list).await.status, 401, "{token}");
    }
    let headers = [("content-type", "application/json"), ACCEPT];
    assert_eq!(call(project.address(), "POST", "/mcp", &headers, &list.to_string()).await.status, 401);
    let stranger = project.token(&["--role", "agent", "--agent", "nobody"]);
    let refused = post(&project, &stranger, &list).await;
    assert!(refused.status == 403 && refused.body.contains("nobody"), "{refused:?}");
    assert_eq!(post(&project, &bot, &list).await.status, 200);
}

#[tokio::test]
async fn a_revoked_token_is_refused_also_in_the_middle_of_a_wait() {
    let (project, bot) = serving();
    let id = project.json(&["token", "list", "--json"])["credentials"][0]["id"].as_str().unwrap().to_owned();
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let waiting = ok(&project, &bot, "request_permission", asked).await["request_id"].clone();
    let you = project.approver();
    let wait = tool("await_permission", json!({ "request_id": waiting, "wait_seconds": 50 }));
    let end = async {
        assert!(project.bestow(&["token", "revoke", &id]).status.success());
        let path = format!("/v1/requests/{}/answer", waiting.as_str().unwrap());
        project.post(&you, &path, &json!({ "decision": "allow" })).await
    };
    let (told, answered) = tokio::join!(post(&project, &bot, &wait), end);
    assert_eq!(answered.status, 200);
    // The revocation may come before the call.
    if told.status == 200 {
        failure(&told.json["result"]);
    } else {
        assert_eq!(told.status, 401);
    }
    assert_eq!(post(&project, &bot, &tool("list_permissions", json!({}))).await.status, 401);
}

#[tokio::test]
async fn an_open_subscription_ends_with_its_token() {
    let (project, bot) = serving();
    let id = project.json(&["token", "list", "--json"])["credentials"][0]["id"].as_str().unwrap().to_owned();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
        "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let wanted = json!({ "resourceSubscriptions": ["bestow://requests"] });
    let listen = request("subscriptions/listen", json!({ "notifications": wanted, "_meta": meta }));
    let headers = [("mcp-protocol-version", WITHOUT_HANDSHAKE), ("mcp-method", "subscriptions/listen")];
    let end = async {
        let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
        ok(&project, &bot, "request_permission", asked).await;
        assert!(project.bestow(&["token", "revoke", &id]).status.success());
    };
    let (told, ()) = tokio::join!(post_with(&project, &bot, &listen, &headers), end);
    assert!(told.body.contains("subscriptions/acknowledged"), "the stream has ended: {told:?}");
}

#[tokio::test]
async fn the_checks_of_the_server_hold_here_too() {
    let (project, bot) = serving();
    let list = tool("list_permissions", json!({})).to_string();
    let authorization = format!("Bearer {bot}");
    let headers = [("authorization", &*authorization), ("content-type", "application/json"), ACCEPT];
    let with = async |more: &[(&str, &str)], body: &str| {
        let headers: Vec<_> = headers.iter().chain(more).copied().collect();
        call(project.address(), "POST", "/mcp", &headers, body).await
    };
    assert_eq!(with(&[("origin", "http://evil.example")], &list).await.status, 403);
    assert_eq!(with(&[("origin", &format!("http://{}", project.address()))], &list).await.status, 200);
    let other_host = format!(
        "POST /mcp HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\nauthorization: {authorization}\r\n\
         content-type: application/json\r\naccept: {}\r\ncontent-length: {}\r\n\r\n{list}",
        ACCEPT.1,
        list.len()
    );
    assert_eq!(raw(project.address(), other_host.as_bytes()).await.unwrap().status, 421);
    let long = tool("request_permission", json!({ "permissions": ["@network"], "reason": "x".repeat(10 << 20) }));
    assert_eq!(with(&[], &long.to_string()).await.status, 413);
    for body in ["{", "", "nonsense", r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#] {
        let refused = with(&[], body).await;
        assert_eq!((refused.status, &refused.json["error"]["code"]), (400, &json!(-32_700)), "{body}: {refused:?}");
    }
    for method in ["GET", "DELETE", "PUT"] {
        let refused = call(project.address(), method, "/mcp", &headers, "").await;
        assert!(refused.status == 405 && refused.head.contains("allow: post"), "{method}: {refused:?}");
    }
    let session = with(&[("mcp-session-id", "of-somebody-else")], &list).await;
    assert_eq!(session.json["result"]["structuredContent"]["agent_id"], "bot", "a session id means nothing");
}

#[tokio::test]
async fn a_credential_has_a_limited_number_of_calls_that_wait() {
    let (project, bot) = serving();
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let id = ok(&project, &bot, "request_permission", asked).await["request_id"].clone();
    let wait = tool("await_permission", json!({ "request_id": id, "wait_seconds": 50 }));
    let calls: Vec<_> = (0..33).map(|_| post(&project, &bot, &wait)).collect();
    let mut calls: futures_util::stream::FuturesUnordered<_> = calls.into_iter().collect();
    let first = futures_util::StreamExt::next(&mut calls).await.unwrap();
    assert_eq!(structured(&first.json["result"])["status"], "pending", "one is answered at once, and 32 wait");
}
