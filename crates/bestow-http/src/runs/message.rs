//! The messages of this dialect: its own, and those of a connector over stdio, which have equal names.

use std::str::FromStr;

use axum::http::StatusCode;
use bestow::{
    agent::{AgentId, RunId},
    event::Timestamp,
    stdio::{ErrorCode, Fault, FromConnector, InvalidMessage, ToConnector},
    text::{Escaped, closest_word},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::problem::Problem;

/// A message of a person's client.
#[derive(Debug)]
pub(super) enum Order {
    Own(Own),
    /// A message that a connector over stdio has as well.
    Shared(FromConnector),
}

/// The messages that only this dialect has. Unknown fields are passed over.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum Own {
    Subscribe {
        run_id: RunId,
    },
    Unsubscribe {
        run_id: RunId,
    },
    PrepareRun {
        #[serde(default)]
        agents: Option<Vec<AgentId>>,
        #[serde(default)]
        cwd: Option<String>,
    },
    StartRun {
        run_id: RunId,
        #[serde(default)]
        input: Option<String>,
    },
    StopRun {
        run_id: RunId,
    },
}

/// A field of a message in [`Own`].
struct Field {
    name: &'static str,
    /// True if the message needs the field.
    is_needed: bool,
    /// Returns the mistake in a value.
    wrong: fn(&Value) -> Option<String>,
}

const RUN: Field = Field { name: "runId", is_needed: true, wrong: |value| parsed::<RunId>(value) };

const fn may(name: &'static str, wrong: fn(&Value) -> Option<String>) -> Field {
    Field { name, is_needed: false, wrong }
}

/// The messages in [`Own`], each with its fields.
const OWN: [(&str, &[Field]); 5] = [
    ("subscribe", &[RUN]),
    ("unsubscribe", &[RUN]),
    ("prepare_run", &[may("agents", agents), may("cwd", text)]),
    ("start_run", &[RUN, may("input", text)]),
    ("stop_run", &[RUN]),
];

fn text(value: &Value) -> Option<String> {
    (!value.is_string()).then(|| "it must be a text".to_owned())
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(value: &Value) -> Option<String> {
    let Value::String(given) = value else { return text(value) };
    given.parse::<T>().err().map(|why| why.to_string())
}

fn agents(value: &Value) -> Option<String> {
    let Value::Array(all) = value else { return Some("it must be a list of agents".to_owned()) };
    all.iter().find_map(parsed::<AgentId>)
}

/// The most misspelled fields that an error names.
const MOST_MISTAKES: usize = 16;

/// The fields of every message.
const COMMON: [&str; 2] = ["type", "requestId"];

/// The messages of a connector that have no meaning here: this client is nobody's user.
const WITHOUT_MEANING: &str = "this dialect has no `hello`, `bye` or `message`: close the socket to end it";

/// The codes of this dialect's errors (`sources/001`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Subscribe,
    PrepareFailed,
    StartFailed,
    Shared(ErrorCode),
}

/// A message that was not carried out.
#[derive(Debug)]
pub(crate) struct NotDone {
    pub(super) code: Code,
    pub(super) message: String,
}

impl NotDone {
    pub(super) fn new(code: Code, message: impl Into<String>) -> NotDone {
        NotDone { code, message: message.into() }
    }

    pub(super) fn no_run(run: &RunId) -> NotDone {
        NotDone::new(Code::Shared(ErrorCode::RunNotFound), format!("No active run found for runId {run}"))
    }
}

/// An order about a run that another dialect gave.
impl From<NotDone> for Problem {
    fn from(NotDone { code, message }: NotDone) -> Problem {
        let (status, name) = match code {
            Code::PrepareFailed => (StatusCode::CONFLICT, "prepare_failed"),
            Code::StartFailed => (StatusCode::CONFLICT, "start_failed"),
            Code::Shared(ErrorCode::RunNotFound) => (StatusCode::NOT_FOUND, "not_found"),
            Code::Subscribe | Code::Shared(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        };
        Problem::new(status, name, message)
    }
}

impl From<Fault> for NotDone {
    fn from(Fault { code, message, .. }: Fault) -> NotDone {
        NotDone { code: Code::Shared(code), message }
    }
}

/// The request that a decision names.
#[derive(Debug)]
pub(super) struct Decided {
    request: String,
    run: RunId,
}

impl Decided {
    /// Returns the request that an order decides.
    pub(super) fn of(order: &FromConnector) -> Option<Decided> {
        let FromConnector::PermissionDecision(decision) = order else { return None };
        Some(Decided { request: decision.permission_request_id.clone(), run: decision.run_id.clone()? })
    }

    /// Translates the failure of a decision. In this dialect, a request that has ended looks like one that never was.
    pub(super) fn failed(self, fault: Fault) -> NotDone {
        if fault.code != ErrorCode::AlreadyResolved {
            return fault.into();
        }
        let Decided { request, run } = self;
        let message = format!("No pending permission request {} for run {run}", Escaped(&request));
        NotDone::new(Code::Shared(ErrorCode::NoPendingPermission), message)
    }
}

/// Reads a frame. Returns the identifier that the client chose, if it could be read.
pub(super) fn read(text: &str) -> (Option<String>, Result<Order, NotDone>) {
    match text.parse::<FromConnector>() {
        Ok(FromConnector::Hello(_) | FromConnector::Bye(_) | FromConnector::Message(_)) => {
            (None, Err(NotDone::new(Code::Shared(ErrorCode::ValidationError), WITHOUT_MEANING)))
        }
        Ok(order) => (order.request_id().map(str::to_owned), with_run(order)),
        Err(InvalidMessage { code: ErrorCode::UnknownType, message, request_id, .. }) => {
            (request_id, own(text, message))
        }
        Err(InvalidMessage { code, message, request_id, .. }) => {
            (request_id, Err(NotDone::new(Code::Shared(code), message)))
        }
    }
}

/// Returns the order. In this dialect a decision names its run.
fn with_run(order: FromConnector) -> Result<Order, NotDone> {
    if let FromConnector::PermissionDecision(decision) = &order
        && decision.run_id.is_none()
    {
        let message = "permission_decision: `runId` is missing";
        return Err(NotDone::new(Code::Shared(ErrorCode::ValidationError), message));
    }
    Ok(Order::Shared(order))
}

fn own(text: &str, unknown: String) -> Result<Order, NotDone> {
    let invalid = |message| NotDone::new(Code::Shared(ErrorCode::ValidationError), message);
    let given = serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let kind = given.get("type").and_then(Value::as_str).unwrap_or_default();
    let Some((kind, fields)) = OWN.iter().find(|(own, _)| *own == kind) else {
        return Err(invalid(format!("{unknown}; and `{}`", OWN.map(|(kind, _)| kind).join("`, `"))));
    };
    let mistakes = mistakes(&given, fields);
    if !mistakes.is_empty() {
        return Err(invalid(format!("{kind}: {}", mistakes.join("; "))));
    }
    serde_json::from_str(text).map(Order::Own).map_err(|why| invalid(format!("{kind}: {why}")))
}

/// Returns every mistake in the fields of a message. A field that looks like a misspelling of a known one is a mistake:
/// without `agents`, a run would have every agent.
fn mistakes(given: &Map<String, Value>, fields: &[Field]) -> Vec<String> {
    let known = || fields.iter().map(|field| field.name).chain(COMMON);
    let unknown = given.keys().filter(|name| known().all(|known| known != name.as_str()));
    let misspelled: Vec<_> = unknown.filter_map(|name| Some((name, closest_word(name, known())?))).collect();
    let wrong = fields.iter().filter_map(|Field { name, is_needed, wrong }| match given.get(*name) {
        None if *is_needed && misspelled.iter().all(|(_, near)| near != name) => {
            Some(format!("missing field `{name}`"))
        }
        None => None,
        Some(Value::Null) if !is_needed => None,
        Some(value) => wrong(value).map(|why| format!("`{name}`: {why}")),
    });
    let names = misspelled.iter().take(MOST_MISTAKES);
    let names = names.map(|(name, near)| format!("unknown field `{}`: did you mean `{near}`?", Escaped(name)));
    names.chain(wrong).collect()
}

/// Returns the error with which a frame is answered, or none if it is a message.
pub(crate) fn objection(text: &str, ts: Timestamp) -> Option<Value> {
    let (request_id, order) = read(text);
    order.err().map(|why| error(&why, request_id.as_deref(), ts))
}

/// Renders the error about a message.
pub(super) fn error(why: &NotDone, request_id: Option<&str>, ts: Timestamp) -> Value {
    let code = match why.code {
        Code::Subscribe => json!("SUBSCRIBE_ERROR"),
        Code::PrepareFailed => json!("PREPARE_FAILED"),
        Code::StartFailed => json!("START_FAILED"),
        // Every type is known or not; this dialect has one code for all that is no message.
        Code::Shared(ErrorCode::UnknownType) => json!(ErrorCode::ValidationError),
        Code::Shared(code) => json!(code),
    };
    with_id(json!({ "type": "error", "code": code, "message": why.message, "ts": ts }), request_id)
}

/// Renders the reply to a message.
pub(super) fn reply(said: &ToConnector) -> Value {
    json!(said)
}

/// Renders the reply to `prepare_run`.
pub(super) fn prepared(run: &RunId, agents: &[AgentId], request_id: Option<&str>, ts: Timestamp) -> Value {
    with_id(json!({ "type": "run_prepared", "runId": run, "agents": agents, "ts": ts }), request_id)
}

fn with_id(mut message: Value, request_id: Option<&str>) -> Value {
    if let (Value::Object(fields), Some(id)) = (&mut message, request_id) {
        fields.insert("requestId".to_owned(), id.into());
    }
    message
}
