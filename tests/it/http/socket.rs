//! `/ws/permissions` (`sources/003`, cases C38 to C43 of the dialect).

use std::time::Duration;

use bestow_http::Limits;
use serde_json::json;
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use super::{client::Socket, daemon::Daemon};

async fn opened(daemon: &Daemon, token: &str, query: &str) -> Result<Socket, u16> {
    let path = format!("/ws/permissions{query}");
    Socket::open(daemon.address, &path, &[("authorization", &format!("Bearer {token}"))]).await
}

#[tokio::test]
async fn c38_a_client_without_a_credential_is_closed_with_4001_before_any_message() {
    let daemon = Daemon::start().await;
    for query in ["", "?userId=you"] {
        let mut socket = Socket::open(daemon.address, &format!("/ws/permissions{query}"), &[]).await.unwrap();
        assert_eq!(socket.next().await, Err(4001), "{query}");
    }
}

#[tokio::test]
async fn c39_a_client_can_only_be_who_its_credential_says() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    assert_eq!(opened(&daemon, &you, "?userId=them").await.err(), Some(403));
    assert_eq!(opened(&daemon, &daemon.agent("bot"), "?userId=you").await.err(), Some(403));
    for query in ["", "?userId=you"] {
        let mut socket = opened(&daemon, &you, query).await.unwrap();
        let first = socket.next().await.unwrap();
        assert_eq!((&first["type"], &first["data"]["userId"]), (&json!("connected"), &json!("you")), "{first}");
        assert_eq!(first["data"]["timestamp"], json!(daemon.world.now().as_millis()));
    }
}

#[tokio::test]
async fn a_browser_sends_its_token_as_a_subprotocol_that_is_never_echoed() {
    let daemon = Daemon::start().await;
    let token = daemon.approver("you");
    let offered = format!("bestow, bearer.{token}");
    let mut socket =
        Socket::open(daemon.address, "/ws/permissions", &[("sec-websocket-protocol", &offered)]).await.unwrap();
    assert_eq!(socket.next().await.unwrap()["type"], "connected");
    let handshake = format!(
        "GET /ws/permissions HTTP/1.1\r\nhost: {}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
         sec-websocket-protocol: {offered}\r\n\r\n",
        daemon.address
    );
    let head = head_of(daemon.address, &handshake).await;
    assert!(head.contains("101") && head.contains("sec-websocket-protocol: bestow\r\n"), "{head}");
    assert!(!head.contains("bearer."), "{head}");
}

async fn head_of(address: std::net::SocketAddr, request: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap().to_lowercase()
}

#[tokio::test]
async fn c41_and_c42_every_socket_of_the_user_gets_each_request_and_its_end_and_no_other_user_does() {
    let daemon = Daemon::start().await;
    let (you, them) = (daemon.approver("you"), daemon.approver("them"));
    let mut first = opened(&daemon, &you, "").await.unwrap();
    let mut second = opened(&daemon, &you, "").await.unwrap();
    let mut foreign = opened(&daemon, &them, "").await.unwrap();
    for socket in [&mut first, &mut second, &mut foreign] {
        assert_eq!(socket.next().await.unwrap()["type"], "connected");
    }
    let queued = daemon.classify(&daemon.agent("bot"), "node a.js").await.json;
    for socket in [&mut first, &mut second] {
        let card = socket.next_of("permission_request").await;
        assert_eq!(card["id"], queued["requestId"]);
        let told = (&card["command"], &card["tier"], &card["agentId"]);
        assert_eq!(told, (&json!("node a.js"), &json!("dangerous"), &json!("bot")));
        assert!(card["reason"].is_string());
        assert!(card["always"]["shape"].as_str().unwrap().starts_with("`node a.js`"), "{card}");
        assert!(card["always"]["text"].as_str().unwrap().contains("allows every `node a.js`"), "{card}");
    }
    let decision = json!({ "type": "decision", "data": { "requestId": queued["requestId"], "decision": "approve" } });
    first.say(&decision.to_string()).await;
    let ack = first.next_of("decision_ack").await;
    assert_eq!((&ack["requestId"], &ack["decision"]), (&queued["requestId"], &json!("approve")));
    assert_eq!(ack["scope"], "once");
    assert_eq!(daemon.pending(&you).await.len(), 0, "it took effect before the acknowledgement");
    let end = second.next_of("request_resolved").await;
    assert_eq!((&end["requestId"], &end["outcome"]), (&queued["requestId"], &json!("granted")));
    foreign.say("{\"type\":\"ping\"}").await;
    assert_eq!(foreign.next().await.unwrap()["type"], "pong", "the other user saw nothing");
    let late = opened(&daemon, &you, "").await;
    assert_eq!(late.unwrap().next().await.unwrap()["type"], "connected");
}

#[tokio::test]
async fn c40_a_client_is_greeted_gets_a_heartbeat_in_time_and_an_answer_to_its_ping() {
    let daemon = Daemon::with(Limits::default(), |options| {
        assert!(options.heartbeat <= Duration::from_secs(30), "the time of the dialect");
        options.heartbeat = Duration::from_millis(30);
    })
    .await;
    let mut socket = opened(&daemon, &daemon.approver("you"), "").await.unwrap();
    let first = socket.next().await.unwrap();
    let now = json!(daemon.world.now().as_millis());
    assert_eq!(
        (&first["type"], &first["data"]["userId"], &first["data"]["timestamp"]),
        (&json!("connected"), &json!("you"), &now)
    );
    for _ in 0..2 {
        assert_eq!(socket.next_of("heartbeat").await["timestamp"], now);
    }
    socket.say("{\"type\":\"ping\"}").await;
    assert_eq!(socket.next_of("pong").await["timestamp"], now);
}

#[tokio::test]
async fn a_client_that_connects_later_gets_what_waits() {
    let daemon = Daemon::start().await;
    let id = daemon.classify(&daemon.agent("bot"), "node a.js").await.json["requestId"].clone();
    let mut socket = opened(&daemon, &daemon.approver("you"), "").await.unwrap();
    assert_eq!(socket.next_of("permission_request").await["id"], id);
}

#[tokio::test]
async fn c43_a_malformed_frame_is_answered_and_the_socket_stays_usable() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let id = daemon.classify(&daemon.agent("bot"), "node a.js").await.json["requestId"].clone();
    let mut socket = opened(&daemon, &you, "").await.unwrap();
    socket.next_of("permission_request").await;
    let before = daemon.state().await;
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    for frame in [
        "{not json",
        "[]",
        "7",
        "",
        &deep,
        "{\"type\":\"nonsense\"}",
        "{\"type\":7}",
        "{\"type\":\"decision\"}",
        "{\"type\":\"decision\",\"data\":{\"requestId\":\"hook_x\",\"decision\":\"approve\"}}",
        &format!("{{\"type\":\"decision\",\"data\":{{\"requestId\":{id},\"decision\":\"foo\"}}}}"),
        &format!(
            "{{\"type\":\"decision\",\"data\":{{\"requestId\":{id},\"decision\":\"reject\",\"decision\":\"approve\"}}}}"
        ),
    ] {
        socket.say(frame).await;
        let shown: String = frame.chars().take(60).collect();
        assert!(!socket.next_of("error").await["message"].as_str().unwrap().is_empty(), "{shown}");
    }
    socket.send(Message::binary(vec![0, 1, 2])).await.unwrap();
    assert_eq!(socket.next_of("error").await["code"], "binary");
    socket.send(Message::Ping(vec![1].into())).await.unwrap();
    socket.say("{\"type\":\"ping\"}").await;
    socket.next_of("pong").await;
    assert_eq!(daemon.state().await, before, "nothing was decided");
}

#[tokio::test]
async fn a_frame_that_is_too_long_ends_the_socket_and_nothing_else() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let mut socket = opened(&daemon, &you, "").await.unwrap();
    socket.next().await.unwrap();
    let _ = socket.send(Message::text("x".repeat(10 << 20))).await;
    assert!(socket.next().await.is_err());
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 200);
}

#[tokio::test]
async fn a_credential_has_a_limited_number_of_sockets_and_each_counts_as_a_connection() {
    let mut limits = Limits::default();
    limits.connections = 40;
    let daemon = Daemon::with(limits, |_| {}).await;
    let you = daemon.approver("you");
    let mut open = Vec::new();
    for _ in 0..32 {
        let mut socket = opened(&daemon, &you, "").await.unwrap();
        assert_eq!(socket.next().await.unwrap()["type"], "connected");
        open.push(socket);
    }
    assert_eq!(opened(&daemon, &you, "").await.err(), Some(429));
    let other = daemon.approver("you");
    for _ in 0..8 {
        open.push(opened(&daemon, &other, "").await.unwrap());
    }
    // All 40 places are taken. A further client is accepted when one of them ends.
    let (late, ()) = tokio::join!(daemon.get(&other, "/api/permissions"), async { drop(open.pop()) });
    assert_eq!(late.status, 200);
}

#[tokio::test]
async fn the_end_of_the_engine_closes_every_socket() {
    let daemon = Daemon::start().await;
    let mut socket = opened(&daemon, &daemon.approver("you"), "").await.unwrap();
    assert_eq!(socket.next().await.unwrap()["type"], "connected");
    daemon.world.engine.shutdown().await;
    assert_eq!(socket.next().await, Err(1001));
}

#[tokio::test]
async fn a_client_that_closes_gets_the_reply_of_the_protocol() {
    let daemon = Daemon::start().await;
    let mut socket = opened(&daemon, &daemon.approver("you"), "").await.unwrap();
    assert_eq!(socket.next().await.unwrap()["type"], "connected");
    let frame = CloseFrame { code: CloseCode::Normal, reason: "done".into() };
    socket.send(Message::Close(Some(frame))).await.unwrap();
    assert_eq!(socket.next().await, Err(1000), "and not 1006, which is an accident");
}
