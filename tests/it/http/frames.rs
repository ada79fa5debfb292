//! Frames as no friendly client sends them, on every WebSocket of the server. Each is answered or ends its own socket,
//! and changes nothing.

use std::{num::NonZero, time::Duration};

use bestow::{Action, grant::Scope};
use bestow_http::{Limits, Options};
use serde_json::{Value, json};

use super::{
    daemon::Daemon,
    raw_socket::{BINARY, CLOSE, CONTINUATION, PING, PONG, RawSocket, TEXT, head, part, whole},
};
use crate::support::{World, tag, why};

/// One of the places where a WebSocket opens.
struct Door {
    path: &'static str,
    token: String,
    /// A message, and the type of its answer. None where a client only listens.
    asks: Option<(Value, &'static str)>,
}

fn doors(daemon: &Daemon) -> Vec<Door> {
    let (you, bot) = (daemon.approver("you"), daemon.agent("bot"));
    let subscribe = json!({ "type": "subscribe", "runId": "nowhere" });
    let check = json!({ "type": "check_permission", "permission": "@network" });
    vec![
        Door { path: "/ws", token: you.clone(), asks: Some((subscribe, "error")) },
        Door { path: "/ws", token: bot, asks: Some((check, "check_result")) },
        Door { path: "/ws/permissions", token: you.clone(), asks: Some((json!({ "type": "ping" }), "pong")) },
        Door { path: "/v1/events/ws", token: you, asks: None },
    ]
}

impl Door {
    async fn open(&self, daemon: &Daemon) -> RawSocket {
        RawSocket::open(daemon.address, self.path, &self.token).await
    }
}

/// Returns the next frame of this type. Frames about other things are passed over.
async fn told(socket: &mut RawSocket, kind: &str) -> Value {
    loop {
        let frame = socket.frame_of(TEXT).await.expect("an open socket").json();
        if frame["type"] == kind {
            return frame;
        }
    }
}

/// A server with a request that waits.
async fn waiting() -> Daemon {
    let daemon = Daemon::start().await;
    assert_eq!(daemon.classify(&daemon.agent("bot"), "node a.js").await.json["allow"], false);
    daemon
}

#[tokio::test]
async fn a_message_in_parts_with_pings_between_them_is_one_message() {
    let daemon = waiting().await;
    let before = daemon.state().await;
    for door in doors(&daemon) {
        let mut socket = door.open(&daemon).await;
        let (message, kind) = door.asks.clone().unwrap_or((json!({ "type": "ping" }), "none"));
        let text = message.to_string();
        let (first, rest) = text.as_bytes().split_at(3);
        let (second, third) = rest.split_at(4);
        // Each byte arrives alone: neither heads nor payloads come whole.
        for bytes in [
            part(TEXT, first),
            whole(PING, b"between"),
            part(CONTINUATION, second),
            part(CONTINUATION, b""),
            whole(PONG, b"unasked"),
            whole(CONTINUATION, third),
        ] {
            for byte in bytes {
                socket.write(&[byte]).await.unwrap();
            }
        }
        assert_eq!(socket.frame_of(PONG).await.unwrap().payload, b"between", "{}", door.path);
        match door.asks {
            Some(_) => {
                assert!(told(&mut socket, kind).await.is_object());
                assert!(socket.is_usable(b"after").await, "{}", door.path);
            }
            None => assert_eq!(socket.end().await, Some(1003), "{}", door.path),
        }
    }
    assert_eq!(daemon.state().await, before);
}

/// Returns frames that the protocol forbids.
fn forbidden() -> Vec<(&'static str, Vec<u8>)> {
    let unmasked = |kind: u8, payload: &[u8]| [&[0x80 | kind, payload.len() as u8][..], payload].concat();
    vec![
        ("an unknown kind", whole(3, b"x")),
        ("an unknown kind of control frame", whole(11, b"x")),
        ("a reserved bit", head(0x80 | 0x40 | TEXT, 0)),
        ("a payload without a mask", unmasked(TEXT, b"{}")),
        ("a control frame in parts", part(PING, b"x")),
        ("a control frame that is too long", whole(PING, &[b'x'; 126])),
        ("a part of nothing", whole(CONTINUATION, b"x")),
        ("a message inside another", [part(TEXT, b"{"), whole(TEXT, b"}")].concat()),
        ("a message inside another, binary", [part(BINARY, b"{"), part(BINARY, b"}")].concat()),
        ("a text that is not UTF-8", whole(TEXT, b"\xff\xfe")),
        ("a text whose character is cut", [part(TEXT, b"\xe2\x82"), whole(CONTINUATION, b"x")].concat()),
        ("a close of one byte", whole(CLOSE, b"x")),
        ("a close with a code of nobody", whole(CLOSE, &999_u16.to_be_bytes())),
        ("a close whose reason is not UTF-8", whole(CLOSE, b"\x03\xe8\xff")),
        ("a length of 64 bits", head(0x80 | TEXT, u64::MAX)),
        ("half of all addresses", head(0x80 | TEXT, 1 << 63)),
    ]
}

#[tokio::test]
async fn a_frame_that_the_protocol_forbids_ends_its_socket_and_nothing_else() {
    let daemon = waiting().await;
    let before = daemon.state().await;
    for door in doors(&daemon) {
        let mut bystander = door.open(&daemon).await;
        for (name, bytes) in forbidden() {
            let mut socket = door.open(&daemon).await;
            // The server may have ended it before it has read all.
            let _ = socket.write(&bytes).await;
            socket.end().await;
            assert!(bystander.is_usable(name.as_bytes()).await, "{}: {name}", door.path);
        }
    }
    assert_eq!(daemon.state().await, before);
}

#[tokio::test]
async fn a_message_of_ten_megabytes_ends_its_socket_whole_or_in_parts() {
    let daemon = waiting().await;
    let before = daemon.state().await;
    let long = vec![b'x'; 10 << 20];
    let in_parts = |kind: u8| {
        let chunks = long.chunks(100_000).skip(1).map(|chunk| part(CONTINUATION, chunk));
        [part(kind, &long[..100_000]), chunks.flatten().collect()].concat()
    };
    for door in doors(&daemon) {
        for (name, bytes) in [
            ("text", whole(TEXT, &long)),
            ("binary", whole(BINARY, &long)),
            ("text in parts", in_parts(TEXT)),
            ("binary in parts", in_parts(BINARY)),
        ] {
            let mut socket = door.open(&daemon).await;
            // The server ends the socket before it has read all of it, so writing fails.
            let _ = socket.write(&bytes).await;
            socket.end().await;
            assert!(door.open(&daemon).await.is_usable(b"next").await, "{}: {name}", door.path);
        }
    }
    assert_eq!(daemon.state().await, before);
}

#[tokio::test]
async fn a_binary_message_is_answered_and_the_socket_stays_usable() {
    let daemon = waiting().await;
    let before = daemon.state().await;
    for door in doors(&daemon) {
        let mut socket = door.open(&daemon).await;
        let text = door.asks.as_ref().map_or(json!({}), |(message, _)| message.clone()).to_string();
        socket.write(&whole(BINARY, text.as_bytes())).await.unwrap();
        if door.asks.is_none() {
            assert_eq!(socket.end().await, Some(1003), "{}", door.path);
            continue;
        }
        let error = told(&mut socket, "error").await;
        let code = if door.path == "/ws" { &error["code"] } else { &error["data"]["code"] };
        assert!(["PARSE_ERROR", "binary"].iter().any(|name| code == name), "{}: {error}", door.path);
        assert!(socket.is_usable(b"after").await, "{}", door.path);
    }
    assert_eq!(daemon.state().await, before);
}

/// A client that is gone without a word: its machine lost power, or the network between lost its state.
#[tokio::test]
async fn a_socket_whose_client_is_silent_is_cut_off_and_one_that_answers_pings_is_not() {
    let daemon = Daemon::with(Limits::default(), |options| options.heartbeat = Duration::from_millis(30)).await;
    for door in doors(&daemon) {
        let mut silent = door.open(&daemon).await;
        let mut pings = 0;
        while let Some(frame) = silent.frame().await {
            pings += usize::from(frame.kind == PING);
        }
        assert_eq!(pings, 3, "{}: each heartbeat asks, and the next one ends it", door.path);
        let mut alive = door.open(&daemon).await;
        for _ in 0..12 {
            let ping = alive.frame_of(PING).await.expect("an open socket");
            alive.write(&whole(PONG, &ping.payload)).await.unwrap();
        }
    }
}

/// The end of a frame never comes. While it is awaited, no answer to a ping can come either.
#[tokio::test]
async fn a_frame_without_end_is_cut_off() {
    let daemon = Daemon::with(Limits::default(), |options| options.heartbeat = Duration::from_millis(30)).await;
    let before = daemon.state().await;
    for door in doors(&daemon) {
        for begin in [
            head(0x80 | TEXT, 100_000),
            [head(0x80 | TEXT, 100_000), b"{\"type\":".to_vec()].concat(),
            head(0x80 | TEXT, 100_000)[..3].to_vec(),
            part(TEXT, b"{\"type\":"),
        ] {
            let mut socket = door.open(&daemon).await;
            socket.write(&begin).await.unwrap();
            socket.end().await;
        }
    }
    assert_eq!(daemon.state().await, before);
}

/// Returns a world in which no message waits for its place in a minute.
fn unpaced() -> World {
    World::with(|settings| {
        settings.max_asks_per_minute = u32::MAX;
        settings.max_facts_per_minute = u32::MAX;
        settings.max_changes_per_minute = u32::MAX;
    })
}

/// Every socket pushes something. A client that accepts none of it is cut off after a limited time: then it can write
/// nothing more. It says pongs meanwhile, so that it does not count as silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_nothing_of_what_it_is_told_is_cut_off() {
    let options = |options: &mut Options| options.send_time = Duration::from_millis(200);
    let mut limits = Limits::default();
    limits.unsent = 4 << 10;
    let daemon = Daemon::of(unpaced(), limits, options).await;
    let bot = daemon.world.engine.agent("bot").unwrap();
    let run = daemon.world.engine.run_of(bot.id()).unwrap();
    for door in doors(&daemon) {
        let mut socket = RawSocket::narrow(daemon.address, door.path, &door.token).await;
        let subscribe = json!({ "type": "subscribe", "runId": run }).to_string();
        if door.path == "/ws" {
            socket.write(&whole(TEXT, subscribe.as_bytes())).await.unwrap();
        }
        let mut told = 0;
        while socket.write(&whole(PONG, b"")).await.is_ok() {
            // A person's client is shown the request and its end, and a tool host is told a change of its permissions.
            let asked = bot.authorize(Action::command(&format!("node {} {told}", "x".repeat(1_000)))).await.unwrap();
            let bestow::action::Authorization::Asked(_, ticket) = asked else { panic!("{asked:?}") };
            bot.cancel(ticket.id()).await.unwrap();
            let given = daemon.world.you().give("bot", tag("@read:/srv"), Scope::Always, why()).await.unwrap();
            daemon.world.you().revoke(given[0], None).await.unwrap();
            told += 1;
        }
        assert!(door.open(&daemon).await.is_usable(b"next").await, "{}: after {told} rounds", door.path);
    }
}

/// A client that only asks and reads no answer is cut off too. The server stops to read it meanwhile.
#[tokio::test]
async fn a_client_that_reads_no_answer_is_cut_off() {
    let mut limits = Limits::default();
    limits.write = Duration::from_millis(200);
    limits.unsent = 4 << 10;
    // The clock of the world stands still. So no frame may wait for its place in a second.
    let options = |options: &mut Options| {
        options.send_time = Duration::from_millis(200);
        options.requests_per_second = NonZero::<u32>::MAX;
    };
    let daemon = Daemon::of(unpaced(), limits, options).await;
    let before = daemon.state().await;
    for door in doors(&daemon) {
        let message = door.asks.as_ref().map(|(message, _)| whole(TEXT, message.to_string().as_bytes()));
        let message = message.unwrap_or_else(|| whole(PING, b"anybody there"));
        let mut socket = RawSocket::narrow(daemon.address, door.path, &door.token).await;
        let many = message.repeat(1_000);
        while socket.write(&many).await.is_ok() {}
        assert!(door.open(&daemon).await.is_usable(b"next").await, "{}", door.path);
    }
    assert_eq!(daemon.state().await, before);
}
