//! `bestow hook pre-tool-use` against servers that misbehave (case C44 of the dialect): the answer is always no.
#![cfg(feature = "cli")]

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    process::Child,
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use super::hook::{Hook, LS};

/// A server for one connection. It reads the whole request and replies as a test says.
struct BadServer {
    address: SocketAddr,
    /// The head of the request, once it was read.
    asked: Receiver<String>,
}

impl BadServer {
    fn new(reply: impl FnOnce(TcpStream) -> io::Result<()> + Send + 'static) -> BadServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, asked) = mpsc::channel();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            tell.send(request(&stream)).unwrap();
            // The hook may close before it has everything.
            let _ = reply(stream);
        });
        BadServer { address, asked }
    }

    /// Sends these bytes and closes.
    fn sending(bytes: impl Into<Vec<u8>>) -> BadServer {
        let bytes = bytes.into();
        BadServer::new(move |mut stream| stream.write_all(&bytes))
    }

    /// Sends these bytes and never closes.
    fn then_silent(bytes: &'static str) -> BadServer {
        BadServer::new(move |mut stream| {
            stream.write_all(bytes.as_bytes())?;
            // The hook sends nothing more, so this ends with the hook.
            stream.read(&mut [0]).map(drop)
        })
    }

    /// Sends these bytes again and again, until the hook closes.
    fn endless(first: &'static str, again: &'static str) -> BadServer {
        BadServer::new(move |mut stream| {
            stream.write_all(first.as_bytes())?;
            let again = again.repeat(1_000);
            loop {
                stream.write_all(again.as_bytes())?;
            }
        })
    }

    fn hook(&self) -> Hook {
        Hook::at(self.address, "bestow_0123456789ab_secret")
    }
}

/// Reads a request with its body, and returns its head.
fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let length = head.to_lowercase().split("content-length: ").nth(1).unwrap().to_owned();
    let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
    reader.read_exact(&mut vec![0; length]).unwrap();
    head
}

/// Returns a reply with a body and its right length.
fn reply(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

const YES: &str = r#"{"allow":true,"tier":"safe","reason":"read-only"}"#;

/// The control of these tests: the same server with a good reply.
#[test]
fn a_good_reply_of_such_a_server_allows() {
    let server = BadServer::sending(reply("200 OK", YES));
    let answer = server.hook().ask(LS);
    assert_eq!((answer.code, answer.json), (0, serde_json::from_str(YES).unwrap()));
    let head = server.asked.recv().unwrap();
    assert!(head.starts_with("POST /api/hooks/classify HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: Bearer bestow_0123456789ab_secret\r\n"), "{head}");
}

#[test]
fn an_answer_that_is_not_whole_allows_nothing() {
    for body in [
        r#"{"allow":true}"#,
        r#"{"allow":true,"tier":"safe"}"#,
        r#"{"allow":true,"reason":"read-only"}"#,
        r#"{"allow":true,"tier":"safe","reason":""}"#,
        r#"{"allow":true,"tier":"safe","reason":"read-only","later":1}"#,
        r#"{"allow":true,"tier":"safe","reason":"read-only","reason":"read-only"}"#,
    ] {
        BadServer::sending(reply("200 OK", body)).hook().ask(LS).is_no(body);
    }
}

#[test]
fn c44_a_reply_that_is_no_answer_is_a_no() {
    let deep = format!("{{\"allow\":true,\"x\":{}{}}}", "[".repeat(500), "]".repeat(500));
    for bytes in [
        reply("500 Internal Server Error", ""),
        reply("500 Internal Server Error", YES),
        reply("200 OK", "<html><body>allow</body></html>"),
        reply("200 OK", ""),
        reply("200 OK", "true"),
        reply("200 OK", "[]"),
        reply("200 OK", "{}"),
        reply("200 OK", r#"{"allow":"true"}"#),
        reply("200 OK", r#"{"allow":1}"#),
        reply("200 OK", r#"{"allow":null}"#),
        reply("200 OK", r#"{"allow":false,"allow":true}"#),
        reply("200 OK", r#"{"Allow":true}"#),
        reply("200 OK", r#"{"allow":true,"tier":"harmless"}"#),
        reply("200 OK", r#"{"allow":true,"reason":7}"#),
        reply("200 OK", r#"{"allow":true,"updatedInput":{"command":"rm x"}}"#),
        reply("200 OK", r#"{"allow":true}{"allow":true}"#),
        reply("200 OK", r#"{"allow":true"#),
        reply("200 OK", &deep),
        reply("201 Created", YES),
        reply("202 Accepted", YES),
        reply("203 Non-Authoritative Information", YES),
        "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n{\"allow\":true}".to_owned(),
        // The body is valid JSON, and shorter than its length.
        format!("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{YES}"),
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{YES}\r\n", YES.len()),
        format!("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: {}\r\n\r\n{YES}", YES.len()),
        "HTTP/1.1 200 OK\r\ncontent-le".to_owned(),
        "HTTP/1.1 200 OK\r\n".to_owned(),
        YES.to_owned(),
        "\0\x01\x02 garbage \r\n\r\n".to_owned(),
        String::new(),
    ] {
        let answer = BadServer::sending(bytes.clone()).hook().ask(LS);
        answer.is_no(&bytes);
    }
}

#[test]
fn an_allowed_call_with_the_body_up_to_the_close_is_read_whole_or_not_at_all() {
    let whole = BadServer::sending(format!("HTTP/1.0 200 OK\r\n\r\n{YES}")).hook().ask(LS);
    assert_eq!(whole.code, 0, "{whole:?}");
    let part = YES.strip_suffix('}').unwrap();
    BadServer::sending(format!("HTTP/1.0 200 OK\r\n\r\n{part}")).hook().ask(LS).is_no("cut off");
}

#[test]
fn the_reason_of_an_error_is_passed_on() {
    let body = r#"{"allow":false,"reason":"no \"valid\" credential \\s","status":401}"#;
    let answer = BadServer::sending(reply("401 Unauthorized", body)).hook().ask(LS);
    answer.is_no("401");
    assert_eq!(answer.json["reason"], "no \"valid\" credential \\s");
    let answer = BadServer::sending(reply("502 Bad Gateway", "<html>")).hook().ask(LS);
    assert!(answer.json["reason"].as_str().unwrap().contains("502"), "{answer:?}");
}

/// The token would go to the server that the reply names.
#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let to = elsewhere.local_addr().unwrap();
    for status in ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent"] {
        let text =
            format!("HTTP/1.1 {status}\r\nlocation: http://{to}/api/hooks/classify\r\ncontent-length: 0\r\n\r\n");
        BadServer::sending(text).hook().ask(LS).is_no(status);
    }
    assert_eq!(elsewhere.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "no connection");
}

#[test]
fn a_reply_without_an_end_is_cut_off() {
    for (first, again) in [
        ("HTTP/1.1 200 OK\r\n\r\n{\"allow\":true}", "                                "),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "20\r\n                                \r\n"),
        ("HTTP/1.1 200 OK\r\n", "x-more: yes\r\n"),
        ("HTTP/1.1 200 OK\r\nx-long: ", "xxxxxxxxxxxxxxxx"),
        ("", "xxxxxxxxxxxxxxxx"),
    ] {
        let answer = BadServer::endless(first, again).hook().ask(LS);
        answer.is_no(first);
        assert!(!answer.json["reason"].as_str().unwrap().contains("no answer within"), "{first}: {answer:?}");
    }
    // Interim replies are read until the time limit.
    let interim = BadServer::endless("", "HTTP/1.1 100 Continue\r\n\r\n");
    interim.hook().with(&["--time-limit", "300ms"]).ask(LS).is_no("interim");
}

#[test]
fn c44_a_server_that_stops_in_the_middle_meets_the_time_limit() {
    for bytes in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"allow\":true}"] {
        let answer = BadServer::then_silent(bytes).hook().with(&["--time-limit", "300ms"]).ask(LS);
        answer.is_no(bytes);
        assert_eq!(answer.json["reason"], "there is no answer within 300 milliseconds", "{bytes}");
    }
}

#[test]
fn c44_a_server_that_is_down_or_accepts_nobody_is_a_no() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    Hook::at(closed, "token").ask(LS).is_no("down");
    // Nothing accepts here, so the queue of the system fills up. A further client waits in `connect`.
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = full.local_addr().unwrap();
    let mut clients = Vec::new();
    while let Ok(client) = TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
        clients.push(client);
    }
    assert!(clients.len() < 10_000);
    let answer = Hook::at(address, "token").with(&["--time-limit", "300ms"]).ask(LS);
    answer.is_no("full");
    assert_eq!(answer.json["reason"], "there is no answer within 300 milliseconds");
}

#[test]
fn a_host_that_does_not_read_the_answer_gets_no_permission() {
    let long = format!(r#"{{"allow":true,"tier":"safe","reason":"{}"}}"#, "x".repeat(1 << 20));
    let server = BadServer::sending(reply("200 OK", &long));
    let mut unread = server.hook().start(LS);
    assert_eq!(unread.wait().unwrap().code(), Some(2), "the answer does not fit into the pipe");
    let server = BadServer::sending(reply("200 OK", &long));
    let read = server.hook().ask(LS);
    assert_eq!((read.code, read.json["allow"].as_bool()), (0, Some(true)), "it is read here");
    let server = BadServer::sending(reply("200 OK", YES));
    let mut closed = server.hook().start_with(LS, |child: &mut Child| drop(child.stdout.take()));
    assert_eq!(closed.wait().unwrap().code(), Some(2));
}

#[test]
fn a_signal_is_a_no() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let server = BadServer::then_silent("");
        let child = server.hook().start(LS);
        server.asked.recv().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        Hook::answer(child).is_no("a signal");
    }
}

/// The hook has its answer and ends, also if the server keeps the connection open.
#[test]
fn a_connection_that_stays_open_delays_nothing() {
    let text: &'static str = Box::leak(reply("200 OK", YES).into_boxed_str());
    let server = BadServer::then_silent(text);
    assert_eq!(server.hook().ask(LS).code, 0);
    let shut = BadServer::new(move |mut stream| {
        stream.write_all(text.as_bytes())?;
        stream.shutdown(Shutdown::Write)
    });
    assert_eq!(shut.hook().ask(LS).code, 0);
}
