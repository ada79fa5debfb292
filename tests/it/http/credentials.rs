//! Credentials: what is stored, what is accepted, and when it ends.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use bestow::event::Event;
use bestow_http::credentials::{CredentialError, CredentialFile, NewCredential, Role};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

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
    daemon.file.revoke(&you.credential.id, daemon.world.now()).unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    assert!(reply.starts_with("HTTP/1.1 401 "), "{reply}");
    assert_eq!(daemon.pending(&daemon.approver("you")).await.len(), 1);
}

#[test]
fn a_file_of_another_version_or_with_an_id_twice_or_too_long_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = CredentialFile::in_directory(directory.path().join("state"));
    file.create(operator(), START).unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    let mut twice: serde_json::Value = serde_json::from_str(&text).unwrap();
    let first = twice["credentials"][0].clone();
    twice["credentials"].as_array_mut().unwrap().push(first);
    for damaged in [text.replace("\"version\": 1", "\"version\": 99"), twice.to_string()] {
        fs::write(file.path(), damaged).unwrap();
        assert!(matches!(file.list(), Err(CredentialError::Damaged { .. })));
    }
    fs::File::create(file.path()).unwrap().set_len(1 << 30).unwrap();
    assert!(matches!(file.list(), Err(CredentialError::Io { .. })));
}

/// A misspelt path is an error, and not a new tree of directories. A pipe in the place of the lock makes nobody wait.
#[test]
fn a_directory_or_a_lock_that_cannot_be_right_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let deep = CredentialFile::in_directory(directory.path().join("not/there")).create(operator(), START);
    assert!(matches!(deep, Err(CredentialError::Io { .. })), "{deep:?}");
    let state = directory.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        state.join("credentials.lock"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let piped = CredentialFile::in_directory(&state).create(operator(), START);
    assert!(matches!(piped, Err(CredentialError::Io { .. })), "{piped:?}");
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
