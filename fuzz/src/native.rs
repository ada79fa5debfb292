//! The server as a whole, without a socket: any path of it, with any query, body and headers. Each request has a named
//! answer, and one that is refused changes nothing.

use std::{cell::RefCell, fmt::Debug, sync::Arc};

use axum::{
    Router,
    body::Body,
    http::{HeaderName, HeaderValue, Request, StatusCode, Uri},
};
use bestow::{
    Engine, InitialGrants, Kind, Profile, Settings,
    event::Timestamp,
    host::{AsWritten, ManualClock},
};
use bestow_http::{
    Options,
    credentials::{Credentials, NewCredential, Role, UnrecordedToken},
    router,
};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// The paths of the server, each with a role that may use it.
const OPERATIONS: [(&str, &str, Who); 32] = [
    ("POST", "/v1/check", Who::Agent),
    ("POST", "/v1/authorize", Who::Agent),
    ("POST", "/v1/explain", Who::Agent),
    ("POST", "/v1/requests", Who::Agent),
    ("POST", "/v1/hosts/call", Who::Agent),
    ("POST", "/v1/hosts/begin", Who::Agent),
    ("POST", "/v1/hosts/end", Who::Agent),
    ("POST", "/v1/grants", Who::Approver),
    ("POST", "/v1/grants", Who::Agent),
    ("POST", "/v1/agents/bot/enable", Who::Approver),
    ("POST", "/v1/agents/bot/explain", Who::Approver),
    ("PUT", "/v1/agents/bot/mode", Who::Approver),
    ("PATCH", "/v1/runs/run/policies", Who::Approver),
    ("POST", "/v1/requests/0/answer", Who::Approver),
    ("POST", "/v1/config/change/1/agree", Who::Approver),
    ("POST", "/v1/session", Who::Nobody),
    ("POST", "/api/hooks/classify", Who::Agent),
    ("POST", "/api/permissions", Who::Approver),
    ("POST", "/api/permissions/enable", Who::Approver),
    ("GET", "/v1/grants", Who::Approver),
    ("GET", "/v1/requests", Who::Approver),
    ("GET", "/v1/requests/0/wait", Who::Agent),
    ("GET", "/v1/decisions", Who::Approver),
    ("GET", "/v1/agents/bot/why", Who::Approver),
    ("GET", "/v1/events/recent", Who::Approver),
    ("GET", "/v1/runs/run/policies", Who::Approver),
    ("GET", "/v1/audit", Who::Operator),
    ("GET", "/v1/audit/head", Who::Operator),
    ("GET", "/api/permissions", Who::Approver),
    ("DELETE", "/v1/grants/g1", Who::Approver),
    ("DELETE", "/v1/decisions/r1", Who::Approver),
    ("DELETE", "/v1/requests/0", Who::Agent),
];

/// The sender of a request.
#[derive(Clone, Copy)]
enum Who {
    Agent,
    Approver,
    Operator,
    Nobody,
}

/// A server without a socket.
struct Door {
    runtime: Runtime,
    engine: Engine,
    router: Router,
    tokens: [String; 3],
}

/// The parts of an answer.
struct Answer {
    status: StatusCode,
    kind: String,
    body: Vec<u8>,
}

impl Door {
    fn new() -> Door {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000_000)));
        let mut settings = Settings::default();
        (settings.max_asks_per_minute, settings.max_pending) = (1_000_000, 64);
        let engine = Engine::on(settings, clock, Arc::new(AsWritten)).unwrap();
        let profile =
            Profile::new("bot".parse().unwrap(), "you".parse().unwrap(), Kind::Subagent, "/ws".parse().unwrap());
        let held = vec!["@network".parse().unwrap(), "@write:/ws".parse().unwrap()];
        runtime.block_on(engine.register(profile, InitialGrants::of(held))).unwrap();
        let bot = "bot".parse().unwrap();
        runtime.block_on(engine.begin_run(&bot, "run".parse().unwrap())).unwrap();
        let roles = [
            Role::Agent { agent: "bot".parse().unwrap() },
            Role::Approver { owner: "you".parse().unwrap(), by: "ann".parse().unwrap() },
            Role::Operator,
        ];
        let tokens = roles.map(|role| {
            let new = NewCredential { role, owner: None, name: None, expires_at: None };
            let new = UnrecordedToken::create(new).unwrap();
            runtime.block_on(Credentials::of(&engine).record(new, None, "fuzz".into())).unwrap().token
        });
        let router = router(&engine, Options::default());
        drop(_inside);
        Door { runtime, engine, router, tokens }
    }

    fn token(&self, who: Who) -> Option<&str> {
        let place = match who {
            Who::Agent => 0,
            Who::Approver => 1,
            Who::Operator => 2,
            Who::Nobody => return None,
        };
        Some(&self.tokens[place])
    }

    /// Returns the state of the engine as a text.
    fn state(&self) -> String {
        fn shown<T: Debug, E: Debug>(found: &Result<T, E>) -> String {
            format!("{found:?}")
        }
        let (engine, run) = (&self.engine, "run".parse().unwrap());
        let you = engine.approver("you", "ann", "test");
        [
            shown(&engine.agents()),
            shown(&engine.grants()),
            shown(&engine.rulings()),
            shown(&engine.pending()),
            shown(&you.guards(&run)),
        ]
        .join("\n")
    }

    fn send(&self, request: Request<Body>) -> Answer {
        self.runtime.block_on(async {
            let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
            let kind = parts.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            let kind = kind.to_owned();
            // A stream of events has no end.
            let body = if kind == "text/event-stream" {
                Vec::new()
            } else {
                body.collect().await.unwrap().to_bytes().to_vec()
            };
            Answer { status: parts.status, kind, body }
        })
    }
}

impl Answer {
    /// Checks that an answer that is no success says why, in the form that clients know.
    fn is_named(&self) {
        if self.status.is_success() {
            return;
        }
        assert_eq!(self.kind, "application/problem+json", "{}", self.status);
        let problem: Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(problem["status"], self.status.as_u16());
        let text = |name: &str| problem[name].as_str().is_some_and(|text| !text.is_empty());
        assert!(text("code") && text("detail") && text("title"), "{problem}");
    }
}

thread_local! {
    static DOOR: RefCell<Door> = RefCell::new(Door::new());
}

/// Runs a check with a server. The engine is a new one when it holds many things.
fn at_a_door(check: impl FnOnce(&Door)) {
    DOOR.with_borrow_mut(|door| {
        if door.engine.grants().map_or(true, |grants| grants.len() > 64) {
            *door = Door::new();
        }
        check(door);
    });
}

fn query_of(text: &str) -> String {
    let fits =
        |c: &char| c.is_ascii_graphic() && !matches!(c, '#' | '"' | '<' | '>' | '`' | '{' | '}' | '\\' | '^' | '|');
    text.chars().filter(fits).collect()
}

/// Checks a path with any query and body. The answer is no accident of the server, and a refusal changes nothing.
pub fn request(operation: u8, query: &str, body: &[u8]) {
    at_a_door(|door| {
        let (method, path, who) = OPERATIONS[usize::from(operation) % OPERATIONS.len()];
        // A call that waits for a person would wait here for ever.
        let query = if path.ends_with("/wait") { String::new() } else { query_of(query) };
        let Ok(uri) = format!("{path}?{query}").parse::<Uri>() else { return };
        let mut request = Request::builder().method(method).uri(uri).header("host", "127.0.0.1");
        request = request.header("content-type", "application/json");
        if let Some(token) = door.token(who) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = without_waiting(body);
        let before = door.state();
        let answer = door.send(request.body(Body::from(body)).unwrap());
        answer.is_named();
        let is_missing = answer.status == StatusCode::SERVICE_UNAVAILABLE;
        assert!(!answer.status.is_server_error() || is_missing, "{method} {path}: {}", answer.status);
        if !answer.status.is_success() || method == "GET" {
            assert_eq!(door.state(), before, "{method} {path}: {}", answer.status);
        }
        if path == "/api/hooks/classify" {
            let told: Value = serde_json::from_slice(&answer.body).unwrap();
            assert!(told["allow"] == false || answer.status.is_success());
        }
    });
}

/// Returns a body without the field that makes a call wait for a person.
fn without_waiting(body: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else { return body.to_vec() };
    if fields.remove("waitMs").is_some() { Value::Object(fields).to_string().into() } else { body.to_vec() }
}

/// Checks the headers that name the server, the page, the sender, and the place in a stream or a repetition.
pub fn head(host: &[u8], origin: &[u8], secret: &[u8], number: &[u8], key: &[u8]) {
    at_a_door(|door| {
        guard(door, host, origin);
        secrets(door, secret);
        numbers(door, number, key);
    });
}

fn with(method: &str, path: &str, headers: &[(&'static str, &[u8])]) -> Option<Request<Body>> {
    let mut request = Request::builder().method(method).uri(path.parse::<Uri>().ok()?).body(Body::empty()).unwrap();
    for (name, value) in headers {
        request.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_bytes(value).ok()?);
    }
    Some(request)
}

/// Checks that the server answers under its names only, and to its own pages only.
fn guard(door: &Door, host: &[u8], origin: &[u8]) {
    let mut headers = vec![("host", host)];
    if !origin.is_empty() {
        headers.push(("origin", origin));
    }
    let Some(request) = with("GET", "/health", &headers) else { return };
    let answer = door.send(request);
    answer.is_named();
    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
    let rest = ["localhost", "127.0.0.1", "[::1]"].iter().find_map(|name| host.strip_prefix(name));
    let is_port = |port: &str| port.parse::<u16>().is_ok() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_own = rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port));
    let origin = String::from_utf8_lossy(origin).to_ascii_lowercase();
    let is_own_page = origin.is_empty() || origin == format!("http://{host}");
    assert_eq!(answer.status.is_success(), is_own && is_own_page, "{host:?} {origin:?}");
}

/// Checks that no text is a token, a ticket or a subprotocol with one, except those that were issued.
fn secrets(door: &Door, secret: &[u8]) {
    let as_query = query_of(&String::from_utf8_lossy(secret)).replace(['&', '%', '+'], "");
    let protocol = [b"bestow, ", secret].concat();
    let bearer = [b"bestow, bearer.", secret].concat();
    let ticket = [b"bestow, ticket.", secret].concat();
    let own: [&[u8]; 1] = [b"127.0.0.1"];
    for (path, name, value) in [
        ("/v1/grants", "authorization", secret),
        ("/api/permissions", "authorization", &[b"Bearer ", secret].concat()),
        ("/ws", "sec-websocket-protocol", secret),
        ("/ws", "sec-websocket-protocol", &protocol),
        ("/ws", "sec-websocket-protocol", &bearer),
        ("/ws", "sec-websocket-protocol", &ticket),
        (&*format!("/v1/events?ticket={as_query}"), "x-nothing", b"x"),
    ] {
        let Some(request) = with("GET", path, &[("host", own[0]), (name, value)]) else { continue };
        let answer = door.send(request);
        answer.is_named();
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}: {name}");
    }
}

/// Checks the number of the last event, and the key of a write.
fn numbers(door: &Door, number: &[u8], key: &[u8]) {
    let bearer = format!("Bearer {}", door.tokens[1]);
    let own: [(&'static str, &[u8]); 2] = [("host", b"127.0.0.1"), ("authorization", bearer.as_bytes())];
    if let Some(request) = with("GET", "/v1/events", &[own[0], own[1], ("last-event-id", number)]) {
        let answer = door.send(request);
        answer.is_named();
        let read = std::str::from_utf8(number).ok().and_then(|number| number.trim().parse::<u64>().ok());
        let is_stated = answer.status.is_success() || answer.status == StatusCode::GONE;
        assert_eq!(is_stated, read.is_some(), "{number:?}: {}", answer.status);
    }
    let before = door.state();
    if let Some(request) = with("DELETE", "/v1/grants/g99999999", &[own[0], own[1], ("idempotency-key", key)]) {
        let answer = door.send(request);
        answer.is_named();
        let is_key = (1..=255).contains(&key.len()) && key.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
        let expected = if is_key { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
        assert_eq!(answer.status, expected, "{key:?}");
    }
    assert_eq!(door.state(), before);
}
