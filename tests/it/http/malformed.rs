//! Requests as no friendly client sends them.

use std::time::Duration;

use bestow_http::Limits;
use serde_json::json;
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
    let before = daemon.state().await;
    let address = daemon.address;
    let port = address.port();
    for (lines, status) in [
        (format!("Host: {address}\r\n"), 200),
        (format!("Host: LOCALHOST:{port}\r\n"), 200),
        ("Host: localhost\r\n".to_owned(), 200),
        (format!("Host: [::1]:{port}\r\n"), 200),
        ("Host: [::1]\r\n".to_owned(), 200),
        ("Host: \r\n".to_owned(), 400),
        ("Host: ::1\r\n".to_owned(), 400),
        ("Host: [::1\r\n".to_owned(), 400),
        ("Host: localhost:http\r\n".to_owned(), 400),
        ("Host: localhost:\r\n".to_owned(), 400),
        ("Host: localhost:65536\r\n".to_owned(), 400),
        ("Host: localhost:-1\r\n".to_owned(), 400),
        ("Host: localhost:80:80\r\n".to_owned(), 400),
        (format!("Host: :{port}\r\n"), 421),
        (format!("Host: localhost.:{port}\r\n"), 421),
        (format!("Host: 127.0.0.1.:{port}\r\n"), 421),
        (format!("Host: [0:0:0:0:0:0:0:1]:{port}\r\n"), 421),
        (format!("Host: [::ffff:127.0.0.1]:{port}\r\n"), 421),
        (format!("Host: 127.1:{port}\r\n"), 421),
        ("Host: 2130706433\r\n".to_owned(), 421),
        ("Host: localhost,evil.example\r\n".to_owned(), 421),
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
    for path in ["/ws", "/ws/permissions", "/v1/events/ws"] {
        assert_eq!(Socket::open(address, path, &headers).await.err(), Some(403), "{path} across sites");
    }
    assert_eq!(daemon.state().await, before);
}

#[tokio::test]
async fn strange_forms_of_a_request_have_a_named_answer() {
    let daemon = Daemon::start().await;
    let before = daemon.state().await;
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
    assert_eq!(daemon.state().await, before);
}

/// A body counts as JSON only if its header says so. A page of another server can send other types without asking.
#[tokio::test]
async fn a_body_of_another_type_is_refused_wherever_a_body_is_read() {
    let daemon = Daemon::start().await;
    let (bot, you) = (daemon.agent("bot"), daemon.approver("you"));
    let id = daemon.classify(&bot, "node a.js").await.json["requestId"].as_str().unwrap().to_owned();
    let before = daemon.state().await;
    let call_of = |command: &str| json!({ "toolName": "bash", "toolInput": { "command": command } });
    let bodies = [
        (&bot, "/api/hooks/classify", call_of("node b.js")),
        (&bot, "/v1/authorize", call_of("node b.js")),
        (&bot, "/v1/check", json!({ "permissions": ["@network"] })),
        (&you, "/api/permissions", json!({ "requestId": id, "decision": "approve" })),
        (&you, "/api/permissions/enable", json!({ "agentId": "bot", "toolName": "bash", "reason": "r" })),
        (&you, "/v1/grants", json!({ "agentId": "bot", "permissions": ["@events"], "reason": "r" })),
    ];
    for (token, path, body) in &bodies {
        for kind in [
            None,
            Some(""),
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
            Some("multipart/form-data; boundary=x"),
            Some("text/json"),
            Some("application/jsonx"),
            Some("application/json-patch+json"),
            Some("application/problem+json"),
            Some("application/ json"),
            Some("application/json, text/plain"),
            Some("json"),
            Some("text/plain; application/json"),
        ] {
            let authorized = format!("Bearer {token}");
            let mut headers = vec![("authorization", &*authorized)];
            headers.extend(kind.map(|kind| ("content-type", kind)));
            let reply = call(daemon.address, "POST", path, &headers, &body.to_string()).await;
            assert_eq!((reply.status, &reply.json["code"]), (415, &json!("unsupported_media_type")), "{path} {kind:?}");
            assert!(path.ends_with("classify") <= (reply.json["allow"] == false), "{path} {kind:?}");
        }
    }
    assert_eq!(daemon.state().await, before);
    for kind in ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;a=b"] {
        let headers = [("authorization", &*format!("Bearer {bot}")), ("content-type", kind)];
        let body = call_of("ls").to_string();
        assert_eq!(call(daemon.address, "POST", "/api/hooks/classify", &headers, &body).await.status, 200, "{kind}");
    }
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
    let before = daemon.state().await;
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
    assert_eq!(daemon.state().await, before);
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

/// A client that begins the head of a request, or its body, and says nothing more.
#[tokio::test]
async fn a_client_that_stalls_is_cut_off() {
    let daemon = Slow::start().await;
    let before = daemon.state().await;
    for (begin, _) in slow(&daemon) {
        let mut stream = TcpStream::connect(daemon.address).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        // The server ends this, not the test: the stream is read until it is closed.
        let _ = stream.read_to_end(&mut read).await;
        let head = String::from_utf8(read).unwrap();
        assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    }
    assert_eq!(daemon.state().await, before);
}

/// A client that sends a little all the time, and never all of it. Every part renews no limit.
#[tokio::test]
async fn a_client_that_trickles_is_cut_off() {
    let daemon = Slow::start().await;
    let before = daemon.state().await;
    for (begin, drop) in slow(&daemon) {
        let mut stream = TcpStream::connect(daemon.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();
        let (mut read, mut write) = stream.split();
        let mut told = Vec::new();
        let mut pace = tokio::time::interval(LIMIT / 30);
        let trickle = async {
            while write.write_all(drop.as_bytes()).await.is_ok() {
                pace.tick().await;
            }
        };
        tokio::select! {
            _ = read.read_to_end(&mut told) => {}
            () = trickle => {}
        }
        let head = String::from_utf8(told).unwrap();
        assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    }
    assert_eq!(daemon.state().await, before);
}

/// The time that the server of a slow client gives it.
const LIMIT: Duration = Duration::from_millis(300);

/// A server with short limits.
struct Slow;

impl Slow {
    async fn start() -> Daemon {
        let mut limits = Limits::default();
        limits.head = LIMIT;
        Daemon::with(limits, |options| options.body_time = LIMIT).await
    }
}

/// Returns the begins of requests, and what may follow each of them for ever.
fn slow(daemon: &Daemon) -> Vec<(String, &'static str)> {
    let head = |token: &str, path: &str, length: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\n{length}\r\n\r\n",
            daemon.address
        )
    };
    let (you, bot) = (daemon.approver("you"), daemon.agent("bot"));
    vec![
        ("GET /health HTTP/1.1\r\nHost: ".to_owned(), "a"),
        (format!("GET /health HTTP/1.1\r\nHost: {}\r\nX: ", daemon.address), "a"),
        ("G".to_owned(), "G"),
        (head(&you, "/api/permissions", "Content-Length: 100000") + "{", " "),
        (head(&bot, "/api/hooks/classify", "Content-Length: 100000") + "{", " "),
        (head(&bot, "/v1/authorize", "Content-Length: 100000") + "{", " "),
        (head(&you, "/api/permissions", "Transfer-Encoding: chunked"), "1\r\n \r\n"),
        (head(&bot, "/v1/check", "Transfer-Encoding: chunked"), "1\r\n \r\n"),
    ]
}
