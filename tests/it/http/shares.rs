//! The share of a server that one credential may use: its rate, and its connections.

use std::{num::NonZero, time::Duration};

use bestow_http::{Limits, Options};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{client::Socket, daemon::Daemon};

/// The requests that a full bucket holds, at a rate of this many in a second.
const HELD: usize = 10;

async fn slow() -> Daemon {
    Daemon::with(Limits::default(), |options: &mut Options| {
        options.requests_per_second = NonZero::new(5).unwrap();
    })
    .await
}

#[tokio::test]
async fn a_credential_that_sends_too_many_requests_is_refused_for_a_moment_and_others_are_not() {
    let daemon = slow().await;
    let (bot, again, you) = (daemon.agent("bot"), daemon.agent("bot"), daemon.approver("you"));
    let body = json!({ "permissions": ["@network"] }).to_string();
    for _ in 0..HELD {
        assert_eq!(daemon.post(&bot, "/v1/check", &body).await.status, 200);
    }
    for path in ["/v1/check", "/api/hooks/classify", "/v1/grants"] {
        let refused = daemon.post(&bot, path, &body).await;
        assert_eq!((refused.status, &refused.json["code"]), (429, &json!("too_many_requests")), "{path}");
        assert!(refused.head.contains("retry-after: 1\r\n"), "{}", refused.head);
        assert!(refused.head.contains("content-type: application/problem+json"), "{}", refused.head);
    }
    assert_eq!(daemon.get(&bot, "/v1/agents/me").await.status, 429);
    assert_eq!(daemon.post(&again, "/v1/check", &body).await.status, 200, "another credential of the agent");
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 200);
    daemon.world.clock.advance(Duration::from_millis(200));
    assert_eq!(daemon.post(&bot, "/v1/check", &body).await.status, 200, "one more after the fifth of a second");
    assert_eq!(daemon.post(&bot, "/v1/check", &body).await.status, 429);
}

/// The rate belongs to the credential and not to its secret, its connection or the version of the file.
#[tokio::test]
async fn neither_a_rotation_nor_a_new_connection_nor_another_new_credential_fills_the_bucket() {
    let daemon = slow().await;
    let bot = daemon.issue(bestow_http::credentials::Role::Agent { agent: "bot".parse().unwrap() });
    for _ in 0..HELD {
        assert_eq!(daemon.get(&bot.token, "/v1/agents/me").await.status, 200);
    }
    daemon.agent("other");
    assert_eq!(daemon.get(&bot.token, "/v1/agents/me").await.status, 429);
    let rotated = daemon.credentials.rotate(&bot.credential.id).unwrap();
    assert_eq!(daemon.get(&rotated.token, "/v1/agents/me").await.status, 429);
}

/// A write with a key counts once, although its sender is looked up by the layer of the keys as well.
#[tokio::test]
async fn a_write_with_a_key_counts_as_one_request() {
    let daemon = slow().await;
    let bot = daemon.agent("bot");
    let headers = [
        ("authorization", &*format!("Bearer {bot}")),
        ("content-type", "application/json"),
        ("idempotency-key", "one"),
    ];
    let body = json!({ "permissions": ["@events"], "reason": "to see" }).to_string();
    for _ in 0..HELD {
        let reply = super::client::call(daemon.address, "POST", "/v1/requests", &headers, &body).await;
        assert_eq!(reply.status, 201, "{}", reply.body);
    }
    let reply = super::client::call(daemon.address, "POST", "/v1/requests", &headers, &body).await;
    assert_eq!(reply.status, 429, "{}", reply.body);
}

/// The frames of a socket wait for their turn. None is lost, and the calls of the credential find the bucket empty.
#[tokio::test]
async fn the_frames_of_a_socket_that_sends_too_many_wait_and_none_is_lost() {
    let daemon = slow().await;
    let you = daemon.approver("you");
    let authorized = format!("Bearer {you}");
    let mut socket = Socket::open(daemon.address, "/ws/permissions", &[("authorization", &authorized)]).await.unwrap();
    assert_eq!(socket.next().await.unwrap()["type"], "connected");
    for number in 0..HELD + 2 {
        let decision = json!({ "requestId": format!("hook_{number}"), "decision": "approve" });
        socket.say(&json!({ "type": "decision", "data": decision }).to_string()).await;
    }
    for number in 0..HELD + 2 {
        assert_eq!(socket.next_of("error").await["requestId"], format!("hook_{number}"));
    }
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 429);
}

/// A connection that stays open.
struct Kept(TcpStream);

impl Kept {
    async fn open(daemon: &Daemon) -> Kept {
        Kept(TcpStream::connect(daemon.address).await.unwrap())
    }

    /// Sends a request. Returns the head of the reply, in lower case.
    async fn get(&mut self, daemon: &Daemon, token: &str) -> String {
        let request =
            format!("GET /v1/agents/me HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\r\n", daemon.address);
        self.0.write_all(request.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        loop {
            assert_ne!(self.0.read_buf(&mut read).await.unwrap(), 0, "a reply");
            let text = String::from_utf8(read.clone()).unwrap().to_lowercase();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap();
            if length.trim().parse() == Ok(body.len()) {
                return head.to_owned();
            }
        }
    }
}

#[tokio::test]
async fn a_credential_has_a_share_of_the_connections_and_a_further_one_is_closed() {
    let daemon = Daemon::with(Limits::default(), |options| options.connections_per_credential = 3).await;
    let (bot, other) = (daemon.agent("bot"), daemon.agent("other"));
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut one = Kept::open(&daemon).await;
        assert!(one.get(&daemon, &bot).await.starts_with("http/1.1 200"));
        kept.push(one);
    }
    let mut fourth = Kept::open(&daemon).await;
    let refused = fourth.get(&daemon, &bot).await;
    assert!(refused.starts_with("http/1.1 429") && refused.contains("connection: close"), "{refused}");
    assert!(refused.contains("retry-after: 1"), "{refused}");
    assert_eq!(fourth.0.read(&mut [0; 1]).await.unwrap(), 0, "the server closes it");
    let mut theirs = Kept::open(&daemon).await;
    assert!(theirs.get(&daemon, &other).await.starts_with("http/1.1 200"), "another credential");
    assert!(kept[0].get(&daemon, &bot).await.starts_with("http/1.1 200"), "a connection that is there is used again");
    // A connection of another client is given to the credential that uses it now, and back.
    assert!(kept[0].get(&daemon, &other).await.starts_with("http/1.1 200"));
    assert!(fresh(&daemon, &bot).await.starts_with("http/1.1 200"), "there is a place again");
}

/// Opens connections until the server has noticed the end of another one.
async fn fresh(daemon: &Daemon, token: &str) -> String {
    loop {
        let head = Kept::open(daemon).await.get(daemon, token).await;
        if !head.starts_with("http/1.1 429") {
            return head;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_open_socket_is_one_of_the_connections_of_its_credential() {
    let daemon = Daemon::with(Limits::default(), |options| options.connections_per_credential = 1).await;
    let bot = daemon.agent("bot");
    let authorized = format!("Bearer {bot}");
    let socket = Socket::open(daemon.address, "/ws", &[("authorization", &authorized)]).await.unwrap();
    let refused = Kept::open(&daemon).await.get(&daemon, &bot).await;
    assert!(refused.starts_with("http/1.1 429"), "{refused}");
    drop(socket);
    assert!(fresh(&daemon, &bot).await.starts_with("http/1.1 200"));
}

/// A connection that has shown a token is still checked at each request.
#[tokio::test]
async fn a_connection_that_knows_its_credential_is_refused_when_the_credential_ends() {
    let daemon = Daemon::start().await;
    let bot = daemon.issue(bestow_http::credentials::Role::Agent { agent: "bot".parse().unwrap() });
    let other = daemon.agent("other");
    let mut kept = Kept::open(&daemon).await;
    for _ in 0..2 {
        assert!(kept.get(&daemon, &bot.token).await.starts_with("http/1.1 200"));
    }
    // The token of another credential, and a wrong token of this one, are looked up anew.
    assert!(kept.get(&daemon, &other).await.starts_with("http/1.1 200"));
    assert!(kept.get(&daemon, &bot.token).await.starts_with("http/1.1 200"));
    let wrong = format!("{}0", &bot.token[..bot.token.len() - 1]);
    let wrong = if wrong == bot.token { format!("{}1", &bot.token[..bot.token.len() - 1]) } else { wrong };
    assert!(kept.get(&daemon, &wrong).await.starts_with("http/1.1 401"));
    assert!(kept.get(&daemon, &bot.token).await.starts_with("http/1.1 200"));
    let rotated = daemon.credentials.rotate(&bot.credential.id).unwrap();
    assert!(kept.get(&daemon, &bot.token).await.starts_with("http/1.1 401"), "rotated");
    assert!(kept.get(&daemon, &rotated.token).await.starts_with("http/1.1 200"));
    daemon.credentials.revoke(&bot.credential.id).unwrap();
    assert!(kept.get(&daemon, &rotated.token).await.starts_with("http/1.1 401"), "revoked");
}
