//! Credentials: what is stored, what is accepted, and when it ends.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use bestow::event::Event;
use bestow_http::credentials::{CredentialError, CredentialFile, NewCredential, Role};
use serde_json::json;

use super::{client::Socket, daemon::Daemon};
use crate::support::START;

fn operator() -> NewCredential {
    NewCredential { role: Role::Operator, name: None, expires_at: None }
}

#[tokio::test]
async fn the_file_has_no_secret_and_is_its_owners_alone() {
    let daemon = Daemon::start().await;
    let token = daemon.agent("bot");
    let text = fs::read_to_string(daemon.file.path()).unwrap();
    let secret = token.rsplit('_').next().unwrap();
    assert_eq!(secret.len(), 64, "256 bits");
    assert!(!text.contains(secret) && text.contains("\"agent\": \"bot\""), "{text}");
    assert_eq!(fs::metadata(daemon.file.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_revoked_rotated_or_expired_credential_is_refused_at_once() {
    let daemon = Daemon::start().await;
    let accepted = async |token: &str| daemon.get(token, "/api/permissions").await.status == 200;
    let you = Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() };
    let first = daemon.issue(you.clone());
    assert!(accepted(&first.token).await);
    let rotated = daemon.file.rotate(&first.credential.id, daemon.world.now()).unwrap();
    assert!(!accepted(&first.token).await && accepted(&rotated.token).await, "the secret before is gone");
    daemon.file.revoke(&first.credential.id, daemon.world.now()).unwrap();
    assert!(!accepted(&rotated.token).await);
    let again = daemon.file.revoke(&first.credential.id, daemon.world.now());
    assert!(matches!(again, Err(CredentialError::Revoked(_))), "{again:?}");
    let ends = Some(daemon.world.after(1_000));
    let short = daemon.file.create(NewCredential { role: you, name: None, expires_at: ends }, START).unwrap();
    assert!(accepted(&short.token).await);
    daemon.world.clock.advance(Duration::from_secs(1));
    assert!(!accepted(&short.token).await, "it has expired");
    assert_eq!(daemon.file.list().unwrap().len(), 2, "records still name them");
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
    daemon.file.revoke(&you.credential.id, daemon.world.now()).unwrap();
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
        daemon.file.revoke(&bot.credential.id, daemon.world.now()).unwrap();
        assert_eq!(daemon.decide(&you, &id, "approve").await.status, 200);
    });
    assert_eq!((asked.status, &asked.json["allow"]), (401, &json!(false)), "{}", asked.json);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_accepts_nobody_and_comes_back() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 200);
    let text = fs::read(daemon.file.path()).unwrap();
    fs::write(daemon.file.path(), "{ damaged").unwrap();
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 503);
    assert!(
        matches!(daemon.file.create(operator(), START), Err(CredentialError::Damaged { .. })),
        "nor is it replaced"
    );
    fs::remove_file(daemon.file.path()).unwrap();
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 401, "no file, no credentials");
    fs::write(daemon.file.path(), text).unwrap();
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 200);
}

#[test]
fn a_directory_that_others_can_write_keeps_no_credentials() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let created = CredentialFile::in_directory(directory.path()).create(operator(), START);
    assert!(matches!(created, Err(CredentialError::Io { .. })), "{created:?}");
}

#[test]
fn programs_that_create_credentials_at_the_same_time_lose_none() {
    let directory = tempfile::tempdir().unwrap();
    let file = CredentialFile::in_directory(directory.path().join("state"));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..16).for_each(|_| drop(file.create(operator(), START).unwrap())));
        }
    });
    assert_eq!(file.list().unwrap().len(), 128);
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
