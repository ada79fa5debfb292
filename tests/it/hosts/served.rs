//! `/v1/hosts`: the sessions of a host over HTTP. Each reply is compared with the description of the server.

use serde_json::{Value, json};

use crate::http::daemon::Daemon;

/// Returns the body of a call.
fn call(session: &str, command: &str) -> Value {
    json!({
        "caller": { "session": session, "workingDir": "/ws" },
        "toolName": "Bash",
        "toolInput": { "command": command },
    })
}

async fn ask(daemon: &Daemon, token: &str, path: &str, body: &Value) -> (u16, Value) {
    let reply = daemon.post(token, path, &body.to_string()).await;
    (reply.status, reply.json)
}

#[tokio::test]
async fn a_host_asks_begins_and_ends_over_http() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let (status, begun) = ask(&daemon, &bot, "/v1/hosts/begin", &call("s", "")["caller"]).await;
    assert_eq!((status, &begun["agentId"]), (200, &json!("bot:s")));
    let (_, safe) = ask(&daemon, &bot, "/v1/hosts/call", &call("s", "ls")).await;
    assert_eq!(safe["answer"], "allowed", "{safe}");
    let (_, waits) = ask(&daemon, &bot, "/v1/hosts/call", &call("s", "make")).await;
    assert_eq!(waits["answer"], "waits", "{waits}");
    assert_eq!(waits["code"].as_str().unwrap().len(), 6);
    assert_eq!(daemon.pending(&daemon.approver("you")).await[0]["agentId"], "bot:s");
    let (_, denied) = ask(&daemon, &bot, "/v1/hosts/call", &call("s", "rm -rf /")).await;
    assert_eq!(denied["answer"], "denied", "{denied}");
    let (status, ended) = ask(&daemon, &bot, "/v1/hosts/end", &json!({ "session": "s" })).await;
    assert_eq!((status, &ended["ended"]), (200, &json!(true)));
    assert!(daemon.world.engine.agent("bot:s").is_err());
}

#[tokio::test]
async fn a_host_reaches_its_own_sessions_only() {
    let daemon = Daemon::start().await;
    let (bot, other, theirs) = (daemon.agent("bot"), daemon.agent("other"), daemon.agent("theirs"));
    ask(&daemon, &bot, "/v1/hosts/begin", &call("s", "")["caller"]).await;
    for token in [&other, &theirs] {
        assert_eq!(ask(&daemon, token, "/v1/hosts/end", &json!({ "session": "s" })).await.0, 200);
        assert_eq!(ask(&daemon, token, "/v1/hosts/call", &call("s", "ls")).await.1["answer"], "allowed");
    }
    for id in ["bot:s", "other:s", "theirs:s"] {
        assert!(daemon.world.engine.agent(id).is_ok(), "{id}");
    }
    assert_eq!(daemon.world.engine.agent("theirs:s").unwrap().profile().unwrap().owner.as_str(), "them");
}

#[tokio::test]
async fn only_the_credential_of_an_agent_has_sessions() {
    let daemon = Daemon::start().await;
    for token in [daemon.approver("you"), daemon.operator()] {
        for (path, body) in [
            ("/v1/hosts/call", call("s", "ls")),
            ("/v1/hosts/begin", call("s", "")["caller"].clone()),
            ("/v1/hosts/end", json!({ "session": "s" })),
        ] {
            assert_eq!(ask(&daemon, &token, path, &body).await.0, 403, "{path}");
        }
    }
}

#[tokio::test]
async fn a_wrong_body_is_refused_with_the_field_that_is_wrong() {
    let daemon = Daemon::start().await;
    let bot = daemon.agent("bot");
    let with = |path: &str, value: Value| {
        let mut body = call("s", "ls");
        *body.pointer_mut(path).unwrap() = value;
        body
    };
    for (body, named) in [
        (with("/caller/session", json!("")), "session"),
        (with("/caller/session", json!("x".repeat(65))), "session"),
        (with("/caller/workingDir", json!("ws")), "workingDir"),
        (with("/toolName", json!("Re\nad")), "toolName"),
        (with("/toolInput", json!("ls")), "toolInput"),
        (with("/toolInput", json!(null)), "toolInput"),
        (json!({ "caller": { "session": "s", "workingDir": "/ws", "agent": "claude" } }), "agent"),
    ] {
        let (status, problem) = ask(&daemon, &bot, "/v1/hosts/call", &body).await;
        let detail = problem["detail"].as_str().unwrap();
        assert!(status == 400 && detail.contains(named), "{named}: {status} {problem}");
    }
    let mut unknown = call("s", "ls");
    unknown["allow"] = json!(true);
    assert_eq!(ask(&daemon, &bot, "/v1/hosts/call", &unknown).await.0, 400);
    let taken = daemon.world.agent("bot:taken", "you", bestow::Kind::Subagent, &["@write:/"]).await;
    assert_eq!(ask(&daemon, &bot, "/v1/hosts/call", &call("taken", "ls")).await.0, 409);
    assert!(taken.profile().is_ok());
}

#[tokio::test]
async fn a_call_over_http_waits_for_a_person_who_attends() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let person = daemon.world.you();
    let _screen = person.attend().unwrap();
    let mut body = call("s", "make");
    body["waitMs"] = json!(600_000);
    let approve = async {
        let id = daemon.first_pending(&you).await;
        daemon.decide(&you, &id, "approve").await
    };
    let (answer, _) = tokio::join!(ask(&daemon, &bot, "/v1/hosts/call", &body), approve);
    assert_eq!(answer.1["answer"], "allowed", "{answer:?}");
    body["waitMs"] = json!(0);
    assert_eq!(ask(&daemon, &bot, "/v1/hosts/call", &body).await.1["answer"], "waits", "once");
}
