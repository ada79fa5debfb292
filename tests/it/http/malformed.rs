//! Requests as no friendly client sends them.

use std::time::Duration;

use bestow_http::Limits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    client::{Socket, call, raw},
    daemon::Daemon,
};

/// A web page reaches this server under the page's name, or says which page it is.
#[tokio::test]
async fn a_request_under_another_name_or_from_a_web_page_is_refused_before_anything_else() {
    let daemon = Daemon::start().await;
    let address = daemon.address;
    let port = address.port();
    for (lines, status) in [
        (format!("Host: {address}\r\n"), 200),
        (format!("Host: LOCALHOST:{port}\r\n"), 200),
        ("Host: localhost\r\n".to_owned(), 200),
        (format!("Host: {address}\r\nOrigin: http://{address}\r\n"), 200),
        ("Host: evil.example\r\n".to_owned(), 421),
        (format!("Host: evil.example:{port}\r\n"), 421),
        (format!("Host: localhost.evil.example:{port}\r\n"), 421),
        (format!("Host: a@{address}\r\n"), 400),
        (String::new(), 400),
        (format!("Host: {address}\r\nHost: evil.example\r\n"), 400),
        (format!("Host: {address}\r\nOrigin: http://evil.example\r\n"), 403),
        (format!("Host: {address}\r\nOrigin: null\r\n"), 403),
        (format!("Host: {address}\r\nOrigin: http://127.0.0.1:1\r\n"), 403),
        (format!("Host: {address}\r\nOrigin: http://{address}.evil.example\r\n"), 403),
        (format!("Host: {address}\r\nOrigin: http://{address}\r\nOrigin: http://evil.example\r\n"), 403),
    ] {
        let reply = raw(address, format!("GET /health HTTP/1.1\r\n{lines}Connection: close\r\n\r\n").as_bytes()).await;
        assert_eq!(reply.unwrap().status, status, "{lines}");
    }
    let you = daemon.approver("you");
    let headers = [("authorization", &*format!("Bearer {you}")), ("origin", "http://evil.example")];
    assert_eq!(Socket::open(address, "/ws/permissions", &headers).await.err(), Some(403), "across sites");
}

#[tokio::test]
async fn strange_forms_of_a_request_have_a_named_answer() {
    let daemon = Daemon::start().await;
    let address = daemon.address;
    let you = daemon.approver("you");
    let host = format!("Host: {address}\r\nConnection: close\r\n");
    let auth = format!("{host}Authorization: Bearer {you}\r\n");
    let long = "a".repeat(300_000);
    let many: String = (0..200).map(|number| format!("X-{number}: 1\r\n")).collect();
    for (request, status) in [
        (format!("GET http://{address}/health HTTP/1.1\r\n{host}\r\n"), 200),
        (format!("GET http://evil.example/health HTTP/1.1\r\n{host}\r\n"), 400),
        (format!("GET /health HTTP/1.0\r\n{host}\r\n"), 200),
        ("GET /health HTTP/1.0\r\n\r\n".to_owned(), 400),
        (format!("GET /nothing HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("GET /%2e%2e/health HTTP/1.1\r\n{host}\r\n"), 404),
        (format!("DELETE /health HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("GET /ws/permissions HTTP/1.1\r\n{auth}\r\n"), 426),
        (format!("GET /health HTTP/1.1\r\n{host}X-Long: {long}\r\n\r\n"), 431),
        (format!("GET /health HTTP/1.1\r\n{host}{many}\r\n"), 431),
        ("nonsense\r\n\r\n".to_owned(), 400),
        (format!("POST /api/permissions HTTP/1.1\r\n{auth}Content-Type: application/json\r\n\r\n"), 400),
        (
            format!(
                "POST /api/permissions HTTP/1.1\r\n{auth}Content-Type: application/json\r\n\
                 Content-Length: 99999999\r\n\r\n"
            ),
            413,
        ),
        (
            format!(
                "POST /api/permissions HTTP/1.1\r\n{auth}Content-Type: application/json\r\nContent-Length: 2\r\n\
                 Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            400,
        ),
    ] {
        let shown: String = request.chars().take(120).collect();
        let reply = raw(address, request.as_bytes()).await.expect(&shown);
        assert_eq!(reply.status, status, "{shown}: {}", reply.json);
    }
    assert_eq!(call(address, "GET", "/health", &[], "").await.status, 200, "the server goes on");
}

/// Two requests are sent before the first answer is read: both are answered, in their order.
#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let daemon = Daemon::start().await;
    let host = format!("Host: {}\r\n", daemon.address);
    let text = format!("GET /health HTTP/1.1\r\n{host}\r\nGET /nothing HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
    let mut stream = TcpStream::connect(daemon.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut read = String::new();
    stream.read_to_string(&mut read).await.unwrap();
    let statuses: Vec<_> = read.match_indices("HTTP/1.1 ").map(|(at, word)| &read[at + word.len()..][..3]).collect();
    assert_eq!(statuses, ["200", "404"]);
}

#[tokio::test]
async fn a_chunked_body_without_end_is_cut_off_at_the_limit() {
    let daemon = Daemon::start().await;
    let you = daemon.approver("you");
    let head = format!(
        "POST /api/permissions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {you}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        daemon.address
    );
    let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x10000));
    let body = chunk.repeat(64);
    let reply = raw(daemon.address, format!("{head}{body}").as_bytes()).await;
    // The server may close before this client reads the answer, because the client still sends.
    assert!(reply.is_none_or(|reply| reply.status == 413));
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 200);
}

/// A client that never reads its replies keeps its connection for a limited time.
#[tokio::test]
async fn a_client_that_never_reads_is_cut_off() {
    let mut limits = Limits::default();
    limits.write = Duration::from_millis(300);
    let daemon = Daemon::with(limits, |_| {}).await;
    let mut stream = TcpStream::connect(daemon.address).await.unwrap();
    let request = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", daemon.address).repeat(1_000);
    // The server stops to read when its replies are not accepted, and then closes: writing fails.
    while stream.write_all(request.as_bytes()).await.is_ok() {}
    assert_eq!(call(daemon.address, "GET", "/health", &[], "").await.status, 200);
}

/// A client that sends the head of a request, or its body, byte by byte occupies its connection for a limited time.
#[tokio::test]
async fn a_slow_client_is_cut_off() {
    let mut limits = Limits::default();
    limits.head = Duration::from_millis(300);
    let daemon = Daemon::with(limits, |options| options.body_time = Duration::from_millis(300)).await;
    let you = daemon.approver("you");
    for text in [
        "GET /health HTTP/1.1\r\nHost: ".to_owned(),
        format!(
            "POST /api/permissions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {you}\r\n\
             Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
            daemon.address
        ),
    ] {
        let mut stream = TcpStream::connect(daemon.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        // The server ends this, not the test: the stream is read until it is closed.
        let _ = stream.read_to_end(&mut read).await;
        let head = String::from_utf8(read).unwrap();
        assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    }
    assert_eq!(daemon.get(&you, "/api/permissions").await.status, 200);
}
