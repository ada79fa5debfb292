//! Tests of sessions: a link is exchanged once, and the session ends with its credential.

use bestow_http::credentials::{Issued, Role};
use serde_json::json;

use super::super::{client::call, daemon::Daemon};

fn link(daemon: &Daemon) -> Issued {
    let role = Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() };
    daemon.credentials.create_link(role, daemon.world.now())
}

async fn open(daemon: &Daemon, link: &str) -> super::super::client::Reply {
    let headers = [("content-type", "application/json")];
    call(daemon.address, "POST", "/v1/session", &headers, &json!({ "link": link }).to_string()).await
}

#[tokio::test]
async fn a_link_opens_one_session_and_authenticates_nobody_itself() {
    let daemon = Daemon::start().await;
    let link = link(&daemon);
    for path in ["/v1/requests", "/v1/session", "/api/permissions"] {
        assert_eq!(daemon.get(&link.token, path).await.status, 401, "{path}: a link is no token");
    }
    let opened = open(&daemon, &link.token).await;
    assert_eq!(opened.status, 200);
    let session = &opened.json["session"];
    assert_eq!(
        (&session["role"], &session["ownerId"], &session["by"]),
        (&json!("approver"), &json!("you"), &json!("ann"))
    );
    let token = opened.json["token"].as_str().unwrap();
    assert_eq!(daemon.get(token, "/v1/requests").await.status, 200);
    assert_eq!(daemon.get(token, "/v1/session").await.json, *session);
    assert_eq!(open(&daemon, &link.token).await.status, 401, "a link works once");
    assert_eq!(open(&daemon, token).await.status, 401, "a token is no link");
    assert_eq!(daemon.delete(token, "/v1/session").await.status, 204);
    assert_eq!(daemon.get(token, "/v1/requests").await.status, 401, "the session has ended");
}

#[tokio::test]
async fn a_link_that_many_use_at_once_opens_one_session() {
    let daemon = Daemon::start().await;
    let link = link(&daemon);
    let all = futures_util::future::join_all((0..16).map(|_| open(&daemon, &link.token))).await;
    assert_eq!(all.iter().filter(|reply| reply.status == 200).count(), 1);
    assert!(all.iter().all(|reply| [200, 401].contains(&reply.status)));
}

#[tokio::test]
async fn a_link_ends_after_five_minutes_and_a_session_after_twelve_hours() {
    let daemon = Daemon::start().await;
    let (late, used) = (link(&daemon), link(&daemon));
    let token = open(&daemon, &used.token).await.json["token"].as_str().unwrap().to_owned();
    daemon.world.later(5 * 60 * 1000).await;
    assert_eq!(open(&daemon, &late.token).await.status, 401);
    assert_eq!(daemon.get(&token, "/v1/session").await.status, 200);
    daemon.world.later(12 * 60 * 60 * 1000).await;
    assert_eq!(daemon.get(&token, "/v1/session").await.status, 401);
    link(&daemon);
    let listed = daemon.credentials.list();
    assert!(listed.iter().all(|credential| credential.id != late.credential.id), "no record names an unused link");
    assert!(listed.iter().any(|credential| credential.id == used.credential.id), "records may name a session");
}

#[tokio::test]
async fn a_link_can_be_revoked_and_not_be_rotated() {
    let daemon = Daemon::start().await;
    let link = link(&daemon);
    let rotated = daemon.credentials.rotate(&link.credential.id);
    assert!(rotated.unwrap_err().to_string().contains("there is no credential"));
    daemon.credentials.revoke(&link.credential.id).unwrap();
    assert_eq!(open(&daemon, &link.token).await.status, 401);
}

#[tokio::test]
async fn a_malformed_link_is_an_error_and_writes_nothing() {
    let daemon = Daemon::start().await;
    let link = link(&daemon);
    let before = daemon.world.engine.last_sequence().unwrap();
    let headers = [("content-type", "application/json")];
    for body in ["", "[]", "{}", r#"{"link":1}"#, r#"{"link":"x","more":1}"#, r#"{"link":"x","link":"y"}"#] {
        let reply = call(daemon.address, "POST", "/v1/session", &headers, body).await;
        assert_eq!(reply.status, 400, "{body}");
    }
    for guess in ["x", "", &link.token[..40], &link.token.replace('a', "b")] {
        assert_eq!(open(&daemon, guess).await.status, 401, "{guess}");
    }
    assert_eq!(daemon.world.engine.last_sequence().unwrap(), before);
    assert_eq!(open(&daemon, &link.token).await.status, 200);
}

#[tokio::test]
async fn a_link_from_before_this_server_opens_nothing() {
    let world = crate::support::World::new();
    let role = Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() };
    let old = super::super::issuer::Issuer::of(&world.engine).create_link(role, world.now());
    world.later(1).await;
    let daemon = Daemon::of(world, bestow_http::Limits::default(), |_| {}).await;
    assert_eq!(open(&daemon, &old.token).await.status, 401, "another program may have got it at the address");
}

#[tokio::test]
async fn a_long_body_without_a_credential_is_refused() {
    let daemon = Daemon::start().await;
    assert_eq!(open(&daemon, &"x".repeat(2_000)).await.status, 413);
}
