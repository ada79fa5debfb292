//! The sockets that open, and the identity of their clients: A35 and A36.

use bestow::Kind;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{Stage, heard, opened, person, say, subscribe};
use crate::http::{
    client::{Socket, call},
    daemon::Daemon,
};

fn decision(run: &str, request: &str) -> Value {
    json!({ "type": "permission_decision", "runId": run, "permissionRequestId": request, "decision": "allow" })
}

#[tokio::test]
async fn a35_a_foreign_page_and_a_client_without_a_credential_get_no_socket() {
    let daemon = Daemon::start().await;
    let you = format!("Bearer {}", daemon.approver("you"));
    for (headers, status) in [
        (vec![("authorization", &*you), ("origin", "https://evil.example")], 403),
        (vec![("authorization", &*you), ("origin", "null")], 403),
        (vec![("authorization", "Bearer nonsense")], 401),
        (vec![], 401),
    ] {
        assert_eq!(Socket::open(daemon.address, "/ws", &headers).await.err(), Some(status), "{headers:?}");
    }
    let reply = call(daemon.address, "GET", "/ws", &[("authorization", &you)], "").await;
    assert_eq!(reply.status, 426);
    assert!(opened(&daemon, &daemon.approver("you")).await.is_ok());
}

#[tokio::test]
async fn a_browser_offers_its_token_as_a_subprotocol() {
    let daemon = Daemon::start().await;
    let offered = format!("bestow, bearer.{}", daemon.approver("you"));
    let mut you = Socket::open(daemon.address, "/ws", &[("sec-websocket-protocol", &offered)]).await.unwrap();
    heard(&mut you).await;
}

#[tokio::test]
async fn a36_an_agent_decides_nothing_and_begins_no_run() {
    let mut stage = Stage::new().await;
    stage.write("a").await;
    let request = stage.asked().await;
    for message in [
        decision(&stage.run, &request),
        json!({ "type": "update_policy", "runId": stage.run, "mode": "write", "allow": ["**"] }),
        json!({ "type": "begin_run", "agentId": "bot", "runId": "mine" }),
    ] {
        say(&mut stage.host, message.clone()).await;
        assert_eq!(stage.told("error").await["code"], "FORBIDDEN", "{message}");
    }
    for kind in ["subscribe", "prepare_run", "start_run", "stop_run"] {
        say(&mut stage.host, json!({ "type": kind, "runId": stage.run })).await;
        assert_eq!(stage.told("error").await["code"], "UNKNOWN_TYPE", "{kind}");
    }
    assert_eq!(stage.daemon.world.engine.pending().unwrap().len(), 1, "it still waits");
}

#[tokio::test]
async fn another_owner_sees_no_run_and_decides_nothing() {
    let mut stage = Stage::new().await;
    stage.write("a").await;
    let request = stage.asked().await;
    let mut them = opened(&stage.daemon, &stage.daemon.approver("them")).await.unwrap();
    let answers = |run: &str| {
        [
            json!({ "type": "subscribe", "runId": run }),
            json!({ "type": "update_policy", "runId": run, "mode": "write", "allow": ["**"] }),
            json!({ "type": "start_run", "runId": run }),
            json!({ "type": "stop_run", "runId": run }),
            decision(run, &request),
            json!({ "type": "prepare_run", "agents": ["bot"] }),
        ]
    };
    let run = stage.run.clone();
    for (of_you, of_nobody) in answers(&run).into_iter().zip(answers("nowhere")) {
        say(&mut them, of_you.clone()).await;
        let one = them.next().await.unwrap();
        say(&mut them, of_nobody).await;
        let other = them.next().await.unwrap();
        assert_eq!(one["type"], "error", "{of_you}");
        let same = |frame: &serde_json::Value| frame["message"].as_str().unwrap().replace(&run, "nowhere");
        assert_eq!((&one["code"], same(&one)), (&other["code"], same(&other)), "{of_you}");
    }
    assert_eq!(stage.daemon.world.engine.pending().unwrap().len(), 1);
}

#[tokio::test]
async fn another_owner_learns_nothing_from_the_number_of_a_grant() {
    let daemon = Daemon::start().await;
    let world = &daemon.world;
    let theirs = world.agent("secret-name", "you", Kind::Subagent, &["@network"]).await;
    let (grant, nobodys) = (theirs.grants().unwrap()[0].id, "g999");
    let mut them = opened(&daemon, &daemon.approver("them")).await.unwrap();
    let mut told = Vec::new();
    for id in [grant.to_string(), nobodys.to_owned()] {
        say(&mut them, json!({ "type": "revoke_permission", "grantId": id })).await;
        let frame = them.next().await.unwrap();
        assert_eq!(frame["type"], "error", "{frame}");
        told.push((frame["code"].clone(), frame["message"].as_str().unwrap().replace(&id, "ID")));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(theirs.grants().unwrap().len(), 1, "it stays");
}

#[tokio::test]
async fn several_tool_hosts_of_one_agent_get_each_the_results_of_their_own_requests() {
    let mut stage = Stage::new().await;
    let mut other = super::tool_host(&stage.daemon, "bot").await;
    stage.write("a").await;
    let request = stage.asked().await;
    stage.decide(&request, "deny").await;
    assert_eq!(stage.told("permission_result").await["permissionRequestId"], json!(request));
    say(&mut other, json!({ "type": "check_permission", "permission": "@network" })).await;
    assert_eq!(other.next().await.unwrap()["type"], "check_result", "and nothing before it");
}

#[tokio::test]
async fn a_frame_that_is_not_text_is_answered_and_one_that_is_too_long_ends_the_socket() {
    let mut stage = Stage::new().await;
    stage.you.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(stage.seen("error").await["code"], "PARSE_ERROR");
    stage.host.send(Message::binary(vec![1, 2, 3])).await.unwrap();
    assert_eq!(stage.told("error").await["code"], "PARSE_ERROR");
    // The server may close before it has read all of it.
    let _ = stage.you.send(Message::text("x".repeat(1 << 20))).await;
    while let Ok(frame) = stage.you.next().await {
        assert_ne!(frame["type"], "request_permission", "{frame}");
    }
    let mut again = person(&stage.daemon).await;
    subscribe(&mut again, &stage.run).await;
    heard(&mut again).await;
}

#[tokio::test]
async fn a_revoked_credential_ends_the_socket_before_its_next_frame() {
    let mut stage = Stage::new().await;
    let issued = stage
        .daemon
        .issue(bestow_http::credentials::Role::Approver { owner: "you".parse().unwrap(), by: "eve".parse().unwrap() });
    let mut eve = opened(&stage.daemon, &issued.token).await.unwrap();
    subscribe(&mut eve, &stage.run).await;
    heard(&mut eve).await;
    stage.daemon.credentials.revoke(&issued.credential.id).unwrap();
    stage.write("a").await;
    let request = stage.asked().await;
    // The server may have closed the socket already.
    let _ = eve.send(Message::text(decision(&stage.run, &request).to_string())).await;
    assert_eq!(eve.next().await, Err(4001));
    assert_eq!(stage.daemon.world.engine.pending().unwrap().len(), 1, "and nothing was decided");
}

#[tokio::test]
async fn the_end_of_the_engine_closes_every_socket_with_1001() {
    let Stage { daemon, mut you, mut host, .. } = Stage::new().await;
    daemon.world.engine.shutdown().await;
    assert_eq!(you.next().await, Err(1001));
    assert_eq!(host.next().await, Err(1001));
}

/// The attack: orders that have no answer passed an open socket after its credential was revoked.
#[tokio::test]
async fn a_revoked_credential_gives_no_further_order_over_an_open_socket() {
    let stage = Stage::new().await;
    let role = bestow_http::credentials::Role::Approver { owner: "you".parse().unwrap(), by: "eve".parse().unwrap() };
    let issued = stage.daemon.issue(role);
    let mut eve = opened(&stage.daemon, &issued.token).await.unwrap();
    heard(&mut eve).await;
    stage.daemon.credentials.revoke(&issued.credential.id).unwrap();
    let before = stage.daemon.world.engine.run_of(&"bot".parse().unwrap()).unwrap();
    // The server may have closed the socket already.
    let _ = eve.send(Message::text(json!({ "type": "prepare_run", "agents": ["bot"] }).to_string())).await;
    assert_eq!(eve.next().await, Err(4001));
    assert_eq!(stage.daemon.world.engine.run_of(&"bot".parse().unwrap()).unwrap(), before);
}
