//! The real `bestow mcp` as the relay to a real `bestow serve`.
#![cfg(feature = "cli")]

use rustix::process::Signal;
use serde_json::json;

use super::{
    client::{Client, WITHOUT_HANDSHAKE, failure, structured},
    own_engine::Mcp,
};
use crate::http::project::Project;

const AT: [&str; 4] = ["--ready-file", "state/server.json", "--token-file", "token"];

/// A policy with two agents. One holds something.
const TWO_AGENTS: &str = "\
[defaults]
owner = \"you\"
working_dir = \".\"

[agents.bot]
kind = \"subagent\"
permissions = [\"@network\"]

[agents.other]
kind = \"subagent\"
";

/// A project with a server, and the token of its agent in a file.
fn serving() -> Project {
    let mut project = Project::new();
    std::fs::write(project.path().join("token"), project.agent()).unwrap();
    project.serve();
    project
}

#[tokio::test]
async fn a_client_speaks_with_the_server_through_the_relay() {
    let project = serving();
    let mut mcp = Mcp::start(project.path(), &AT);
    let greeted = mcp.client.greet("2025-06-18").await;
    assert_eq!(greeted["protocolVersion"], "2025-06-18");
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let waiting = mcp.client.ok("request_permission", asked).await;
    let id =
        mcp.client.begin_call("await_permission", json!({ "request_id": waiting["request_id"], "wait_seconds": 50 }));
    let id = id.await;
    // The relay carries other calls meanwhile.
    assert_eq!(mcp.client.ok("list_permissions", json!({})).await["waiting"][0]["code"], waiting["code"]);
    let path = format!("/v1/requests/{}/answer", waiting["request_id"].as_str().unwrap());
    let answered = project.post(&project.approver(), &path, &json!({ "decision": "allow", "scope": "session" })).await;
    assert_eq!(answered.status, 200);
    assert_eq!(structured(&mcp.client.answer(id).await["result"])["status"], "granted");
    let error = mcp.client.request("tools/call", json!({ "name": "nothing" })).await;
    assert!(error["error"]["message"].as_str().unwrap().contains("`nothing`"), "{error}");
    assert_eq!(mcp.end().await, (Some(0), String::new()));
}

#[tokio::test]
async fn the_version_without_a_handshake_goes_through_the_relay() {
    let project = serving();
    let mut mcp = Mcp::start(project.path(), &AT);
    mcp.client.without_handshake(WITHOUT_HANDSHAKE);
    let found = mcp.client.result("server/discover", json!({})).await;
    assert_eq!(
        found["serverInfo"]["name"].as_str().or(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].as_str()),
        Some("bestow"),
        "{found}"
    );
    mcp.client.ok("list_permissions", json!({})).await;
    let read = mcp.client.result("resources/read", json!({ "uri": "bestow://requests" })).await;
    assert_eq!(read["contents"][0]["uri"], "bestow://requests");
    let wanted = json!({ "notifications": { "resourceSubscriptions": ["bestow://requests"] } });
    mcp.client.begin("subscriptions/listen", wanted).await;
    assert_eq!(mcp.client.other().await["method"], "notifications/subscriptions/acknowledged");
    mcp.client.ok("request_permission", json!({ "permissions": ["@network"], "reason": "to publish" })).await;
    assert_eq!(mcp.client.other().await["params"]["uri"], "bestow://requests");
}

#[tokio::test]
async fn a_server_that_goes_away_is_no_yes_and_its_successor_answers() {
    let mut project = serving();
    let mut mcp = Mcp::greeted(project.path(), &AT).await;
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let waiting = mcp.client.ok("request_permission", asked).await["request_id"].clone();
    let id = mcp.client.begin_call("await_permission", json!({ "request_id": waiting, "wait_seconds": 50 })).await;
    // The other call has its answer, so the first one has reached the server.
    mcp.client.ok("list_permissions", json!({})).await;
    project.end(Signal::KILL);
    let told = failure(&mcp.client.answer(id).await["result"]);
    assert!(told.contains("nothing is allowed") && told.contains("may still wait"), "{told}");
    let told = mcp.client.error("check_permission", json!({ "permissions": ["@network"] })).await;
    assert!(told.contains("nothing is allowed"), "{told}");
    let told = mcp.client.request("tools/list", json!({})).await;
    assert!(told["error"]["message"].as_str().unwrap().contains("nothing is allowed"), "{told}");
    // The next server has another port. The ready file has it.
    project.serve();
    assert_eq!(mcp.client.ok("await_permission", json!({ "request_id": waiting })).await["status"], "pending");
}

#[tokio::test]
async fn a_client_may_come_before_the_server() {
    let mut project = Project::new();
    std::fs::write(project.path().join("token"), project.agent()).unwrap();
    let mut mcp = Mcp::start(project.path(), &AT);
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
    let told = mcp.client.request("initialize", params).await;
    assert!(told["error"]["message"].as_str().unwrap().contains("server.json"), "{told}");
    project.serve();
    mcp.client.greet("2025-06-18").await;
    mcp.client.ok("list_permissions", json!({})).await;
}

#[tokio::test]
async fn a_cancelled_call_frees_its_place_at_the_server() {
    let project = serving();
    let mut mcp = Mcp::greeted(project.path(), &AT).await;
    let asked = json!({ "permissions": ["@network"], "reason": "to publish" });
    let waiting = mcp.client.ok("request_permission", asked).await["request_id"].clone();
    let wait = json!({ "request_id": waiting, "wait_seconds": 50 });
    for _ in 0..40 {
        let id = mcp.client.begin_call("await_permission", wait.clone()).await;
        let params = json!({ "requestId": id });
        mcp.client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    }
    let path = format!("/v1/requests/{}/answer", waiting.as_str().unwrap());
    let (you, last) = (project.approver(), mcp.client.begin_call("await_permission", wait).await);
    mcp.client.ok("list_permissions", json!({})).await;
    assert_eq!(project.post(&you, &path, &json!({ "decision": "deny" })).await.status, 200);
    let answer = mcp.client.answer(last).await;
    assert!(["denied", "pending"].contains(&structured(&answer["result"])["status"].as_str().unwrap()));
    assert!(mcp.client.others.is_empty(), "a cancelled call has no answer: {:?}", mcp.client.others);
}

#[tokio::test]
async fn a_token_that_is_refused_is_explained_to_the_client() {
    let project = serving();
    std::fs::write(project.path().join("token"), project.approver()).unwrap();
    let mut mcp = Mcp::start(project.path(), &AT);
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
    let told = mcp.client.request("initialize", params.clone()).await;
    assert!(told["error"]["message"].as_str().unwrap().contains("--role agent"), "{told}");
    std::fs::write(project.path().join("token"), "nonsense").unwrap();
    let told = mcp.client.request("initialize", params).await.to_string();
    assert!(told.contains("error") && !told.contains("nonsense"), "{told}");
    std::fs::write(project.path().join("token"), project.agent()).unwrap();
    mcp.client.greet("2025-06-18").await;
}

#[tokio::test]
async fn two_clients_are_two_agents() {
    let mut project = Project::new();
    project.policy(TWO_AGENTS);
    for agent in ["bot", "other"] {
        std::fs::write(project.path().join(agent), project.token(&["--role", "agent", "--agent", agent])).unwrap();
    }
    project.serve();
    let at = |token| ["--ready-file", "ready.json", "--token-file", token];
    let mut bot = Mcp::greeted(project.path(), &at("bot")).await;
    let mut other = Mcp::greeted(project.path(), &at("other")).await;
    let check = json!({ "permissions": ["@network"] });
    let held =
        async |client: &mut Client| client.ok("check_permission", check.clone()).await["results"][0]["held"].clone();
    assert_eq!((held(&mut bot.client).await, held(&mut other.client).await), (json!("held"), json!("not_held")));
    let give = json!({ "agent_id": "other", "permissions": ["@network"], "reason": "to read the docs" });
    let id = bot.client.ok("grant_permission", give).await["grant_ids"][0].clone();
    assert_eq!(held(&mut other.client).await, "held");
    bot.client.ok("revoke_permission", json!({ "grant_id": id })).await;
    assert_eq!(held(&mut other.client).await, "not_held");
}

#[tokio::test]
async fn a_line_that_is_no_message_does_not_reach_the_server() {
    let project = serving();
    let mut mcp = Mcp::greeted(project.path(), &AT).await;
    for line in [&b"hello\n"[..], b"{\"jsonrpc\":\n", b"[]\n", b"{\"a\":1,\"a\":2}\n"] {
        mcp.client.send(line).await;
        assert!(mcp.client.other().await["error"]["message"].is_string());
    }
    let mut long = vec![b'x'; 10 << 20];
    long.push(b'\n');
    mcp.client.send(&long).await;
    assert!(mcp.client.other().await["error"]["message"].as_str().unwrap().contains("longer than"));
    mcp.client.ok("list_permissions", json!({})).await;
}
