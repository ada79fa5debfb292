//! Tickets: secrets for one use.

use bestow_http::credentials::{Issued, Role};
use serde_json::json;

use super::super::{
    client::{Events, Socket, call},
    daemon::Daemon,
};

async fn ticket(daemon: &Daemon, token: &str) -> String {
    let reply = daemon.send(token, "POST", "/v1/tickets", &json!({})).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.json["ticket"].as_str().unwrap().to_owned()
}

async fn opens(daemon: &Daemon, ticket: &str) -> Result<(), u16> {
    let path = format!("/v1/events?ticket={ticket}");
    Events::open(daemon.address, &path, &[]).await.map(drop).map_err(|reply| reply.status)
}

async fn opens_socket(daemon: &Daemon, path: &str, ticket: &str) -> Result<Socket, u16> {
    let protocols = format!("bestow, ticket.{ticket}");
    Socket::open(daemon.address, path, &[("sec-websocket-protocol", &protocols)]).await
}

#[tokio::test]
async fn a_ticket_opens_one_stream_or_one_socket() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let first = ticket(&daemon, &you).await;
    assert_eq!(opens(&daemon, &first).await, Ok(()));
    assert_eq!(opens(&daemon, &first).await, Err(401), "once");
    let second = ticket(&daemon, &you).await;
    assert!(opens_socket(&daemon, "/v1/events/ws", &second).await.is_ok());
    assert_eq!(opens_socket(&daemon, "/v1/events/ws", &second).await.err(), Some(401), "once");
    let third = ticket(&daemon, &you).await;
    let mut socket = opens_socket(&daemon, "/ws/permissions", &third).await.unwrap_or_else(|status| panic!("{status}"));
    assert_eq!(socket.next_of("connected").await["userId"], "you");
    let fourth = ticket(&daemon, &you).await;
    let path = format!("/v1/events/ws?ticket={fourth}");
    assert!(Socket::open(daemon.address, &path, &[]).await.is_ok());
}

#[tokio::test]
async fn a_ticket_is_good_for_nothing_else() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let given = ticket(&daemon, &you).await;
    let bearer = [("authorization", &*format!("Bearer {given}"))];
    assert_eq!(call(daemon.address, "GET", "/v1/agents", &bearer, "").await.status, 401);
    let both = [("authorization", &*format!("Bearer {you}"))];
    let path = format!("/v1/events?ticket={given}");
    assert_eq!(Events::open(daemon.address, &path, &both).await.err().map(|reply| reply.status), Some(401));
    assert_eq!(call(daemon.address, "POST", "/v1/tickets", &[], "").await.status, 401);
    assert_eq!(opens(&daemon, &given).await, Ok(()), "and it is not used up by that");
}

#[tokio::test]
async fn a_ticket_ends_with_its_time_and_with_its_credential() {
    let daemon = Daemon::start().await;
    let role = Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() };
    let Issued { token, credential, .. } = daemon.issue(role);
    let late = ticket(&daemon, &token).await;
    daemon.world.later(30_000).await;
    assert_eq!(opens(&daemon, &late).await, Err(401));
    let revoked = ticket(&daemon, &token).await;
    daemon.credentials.revoke(&credential.id).unwrap();
    assert_eq!(opens(&daemon, &revoked).await, Err(401));
}

#[tokio::test]
async fn a_ticket_of_a_rotated_credential_is_refused() {
    let daemon = Daemon::start().await;
    let role = Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() };
    let Issued { token, credential, .. } = daemon.issue(role);
    let given = ticket(&daemon, &token).await;
    daemon.credentials.rotate(&credential.id).unwrap();
    assert_eq!(opens(&daemon, &given).await, Err(401));
}

#[tokio::test]
async fn a_false_ticket_is_refused_and_the_number_of_tickets_is_limited() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let good = ticket(&daemon, &you).await;
    let (id, secret) = good.split_once('_').unwrap();
    for wrong in ["", "x", "_", id, secret, &format!("{id}_"), &format!("{id}_{}", "0".repeat(64)), &format!("{good}0")]
    {
        assert_eq!(opens(&daemon, wrong).await, Err(401), "{wrong}");
    }
    for _ in 1..32 {
        ticket(&daemon, &you).await;
    }
    let refused = daemon.send(&you, "POST", "/v1/tickets", &json!({})).await;
    assert_eq!((refused.status, &refused.json["code"]), (429, &json!("too_many_tickets")));
    assert_eq!(opens(&daemon, &good).await, Ok(()));
    ticket(&daemon, &you).await;
}
