//! Credentials: what is stored, what is accepted, and when it ends.

use std::time::Duration;

use bestow::event::Event;
use bestow_http::credentials::Role;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{client::Socket, daemon::Daemon};

#[tokio::test]
async fn no_record_has_a_secret() {
    let daemon = Daemon::start().await;
    let mut events = daemon.world.engine.subscribe();
    let token = daemon.agent("bot");
    let secret = token.rsplit('_').next().unwrap();
    assert_eq!(secret.len(), 64, "256 bits");
    let heard = crate::support::heard(&mut events);
    let text = heard.iter().map(|told| serde_json::to_string(told).unwrap()).collect::<String>();
    assert!(!text.contains(secret) && text.contains("credential.changed") && text.contains("\"bot\""), "{text}");
}

#[tokio::test]
async fn a_revoked_rotated_or_expired_credential_is_refused_at_once() {
    let daemon = Daemon::start().await;
    let accepted = async |token: &str| daemon.get(token, "/api/permissions").await.status == 200;
    let you = Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() };
    let first = daemon.issue(you.clone());
    assert!(accepted(&first.token).await);
    let rotated = daemon.credentials.rotate(&first.credential.id).unwrap();
    assert!(!accepted(&first.token).await && accepted(&rotated.token).await, "the secret before is gone");
    daemon.credentials.revoke(&first.credential.id).unwrap();
    assert!(!accepted(&rotated.token).await);
    let again = daemon.credentials.revoke(&first.credential.id).unwrap_err().to_string();
    assert!(again.contains("is revoked"), "{again}");
    let short = daemon.credentials.create(you, Some(daemon.world.after(1_000))).unwrap();
    assert!(accepted(&short.token).await);
    daemon.world.clock.advance(Duration::from_secs(1));
    assert!(!accepted(&short.token).await, "it has expired");
    assert_eq!(daemon.credentials.list().len(), 2, "records still name them");
}

#[tokio::test]
async fn an_open_socket_ends_when_its_credential_is_revoked() {
    let daemon = Daemon::start().await;
    let you = daemon.issue(Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() });
    let authorized = format!("Bearer {}", you.token);
    let mut socket = Socket::open(daemon.address, "/ws/permissions", &[("authorization", &authorized)]).await.unwrap();
    assert_eq!(socket.next().await.unwrap()["type"], "connected");
    let id = daemon.classify(&daemon.agent("bot"), "node a.js").await.json["requestId"].clone();
    assert_eq!(socket.next_of("permission_request").await["id"], id);
    daemon.credentials.revoke(&you.credential.id).unwrap();
    socket.say(&json!({ "type": "decision", "data": { "requestId": id, "decision": "approve" } }).to_string()).await;
    assert_eq!(socket.next().await, Err(4001));
    assert_eq!(daemon.pending(&daemon.approver("you")).await.len(), 1, "its decision did not count");
}

#[tokio::test]
async fn a_call_that_waits_is_not_allowed_when_its_credential_is_revoked_meanwhile() {
    let daemon = Daemon::start().await;
    let bot = daemon.issue(Role::Agent { agent: "bot".parse().unwrap() });
    let you = daemon.approver("you");
    let body = json!({ "toolName": "bash", "toolInput": { "command": "node a.js" }, "waitMs": 9000 }).to_string();
    let (asked, ()) = tokio::join!(daemon.post(&bot.token, "/api/hooks/classify", &body), async {
        let id = daemon.first_pending(&you).await;
        daemon.credentials.revoke(&bot.credential.id).unwrap();
        assert_eq!(daemon.decide(&you, &id, "approve").await.status, 200);
    });
    assert_eq!((asked.status, &asked.json["allow"]), (401, &json!(false)), "{}", asked.json);
}

/// The head of a decision arrives before its credential is revoked, and the rest of the body after that.
#[tokio::test]
async fn a_decision_whose_credential_is_revoked_before_its_last_byte_does_not_count() {
    let daemon = Daemon::start().await;
    let you = daemon.issue(Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() });
    let id = daemon.classify(&daemon.agent("bot"), "node a.js").await.json["requestId"].clone();
    let body = json!({ "requestId": id, "decision": "approve" }).to_string();
    let head = format!(
        "POST /api/permissions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        daemon.address,
        you.token,
        body.len()
    );
    let mut stream = TcpStream::connect(daemon.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body once it has read the head and authenticated the sender.
    let mut told = [0; 25];
    stream.read_exact(&mut told).await.unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    daemon.credentials.revoke(&you.credential.id).unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    assert!(reply.starts_with("HTTP/1.1 401 "), "{reply}");
    assert_eq!(daemon.pending(&daemon.approver("you")).await.len(), 1);
}

#[tokio::test]
async fn a_decision_names_the_person_and_the_credential() {
    let daemon = Daemon::start().await;
    let you = daemon.issue(Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() });
    let mut events = daemon.world.engine.subscribe();
    let id = daemon.classify(&daemon.agent("bot"), "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    assert_eq!(daemon.decide(&you.token, &id, "approve").await.status, 200);
    let resolved = crate::support::heard(&mut events).into_iter().find_map(|told| match told.event {
        Event::Resolved { resolution, .. } => Some(format!("{:?}", resolution.decider)),
        _ => None,
    });
    let resolved = resolved.unwrap();
    assert!(resolved.contains("ann") && resolved.contains(you.credential.id.as_str()), "{resolved}");
}
