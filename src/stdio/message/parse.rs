//! The parser from a line to a message. For an invalid line it reports everything that a bot needs to know.

use std::str::FromStr;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, error::Category};

use super::{
    ErrorCode, FromAgent, FromConnector, Role,
    schema::{self, Shape},
};
use bestow_command::internal::with_exact_numbers;

use crate::{quote::quoted, text::StrictJson};

/// The maximum number of characters in a `requestId`.
const MAX_CORRELATION: usize = 256;
/// The most mistakes of one message that are named.
const MAX_MISTAKES: usize = 16;
/// The number of bytes shown before the place of a mistake.
const CONTEXT: usize = 20;

/// The reason why a line is not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct InvalidMessage {
    /// The error code, for programs.
    pub code: ErrorCode,
    /// The explanation, for people.
    pub message: String,
    /// The `requestId` of the line, if it could be read.
    pub request_id: Option<String>,
}

/// The messages from bots of one role.
pub(in super::super) trait Incoming: DeserializeOwned {
    const ROLE: Role;
    /// The message types of this role.
    const TYPES: &'static [&'static str];
    /// The message types of the other role, and the name of this role.
    const FORBIDDEN: (&'static [&'static str], &'static str);
}

impl Incoming for FromAgent {
    const ROLE: Role = Role::Agent;
    const TYPES: &'static [&'static str] = &[
        "hello",
        "request_permission",
        "cancel_request",
        "grant_permission",
        "revoke_permission",
        "check_permission",
        "use_permission",
        "authorize",
        "permission_state",
        "process_start",
        "process_list",
        "process_read",
        "process_write",
        "process_stop",
        "process_restart",
        "message",
        "bye",
    ];
    const FORBIDDEN: (&'static [&'static str], &'static str) = (FromConnector::TYPES, "an agent");
}

impl Incoming for FromConnector {
    const ROLE: Role = Role::Connector;
    const TYPES: &'static [&'static str] = &[
        "hello",
        "permission_decision",
        "revoke_permission",
        "agree_to_widening",
        "update_policy",
        "list_policies",
        "enable_action",
        "declare_tools",
        "begin_run",
        "join_run",
        "end_run",
        "message",
        "bye",
    ];
    const FORBIDDEN: (&'static [&'static str], &'static str) = (FromAgent::TYPES, "a connector");
}

/// The fields that can be read from a line even if it is not a message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    #[serde(rename = "type")]
    kind: Option<Value>,
    request_id: Option<Value>,
}

impl FromStr for FromAgent {
    type Err = InvalidMessage;

    fn from_str(line: &str) -> Result<FromAgent, InvalidMessage> {
        parse(line)
    }
}

impl FromStr for FromConnector {
    type Err = InvalidMessage;

    fn from_str(line: &str) -> Result<FromConnector, InvalidMessage> {
        parse(line)
    }
}

/// Parses a line. It works on the text and never through a map, so that a duplicate field is an error and not a choice.
pub(in super::super) fn parse<T: Incoming>(line: &str) -> Result<T, InvalidMessage> {
    let line = with_exact_numbers(line.as_bytes());
    let line = str::from_utf8(&line).unwrap_or_default();
    let invalid = |code, message| InvalidMessage { code, message, request_id: None };
    let head: Head = serde_json::from_str(line).map_err(|error| no_object(line, &error))?;
    if !is_object(line) {
        return Err(not_an_object(line));
    }
    let request_id = match head.request_id {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.chars().nth(MAX_CORRELATION).is_none() => Some(text),
        Some(_) => {
            let message = format!("`requestId` is a text of at most {MAX_CORRELATION} characters");
            return Err(invalid(ErrorCode::ValidationError, message));
        }
    };
    let invalid = |code, message| InvalidMessage { code, message, request_id: request_id.clone() };
    let kind = match head.kind {
        Some(Value::String(kind)) => kind,
        _ => return Err(invalid(ErrorCode::ValidationError, "`type` must be a text: it names the message".to_owned())),
    };
    let (forbidden, role) = T::FORBIDDEN;
    if let Some(shape) = schema::of(T::ROLE, &kind).filter(|_| T::TYPES.contains(&kind.as_str())) {
        let message = fields(&shape, line).and_then(|message| without_repetition(line).map(|()| message));
        return message.map_err(|why| invalid(ErrorCode::ValidationError, format!("{kind}: {why}")));
    }
    Err(if forbidden.contains(&kind.as_str()) {
        invalid(ErrorCode::Forbidden, format!("this bot is {role}, which cannot say `{kind}`"))
    } else {
        let known = T::TYPES.join("`, `");
        invalid(ErrorCode::UnknownType, format!("no message has the type {}; {role} says `{known}`", quoted(&kind)))
    })
}

/// Parses a message of the type with this shape. An error names every field with a mistake.
fn fields<T: Incoming>(shape: &Shape, line: &str) -> Result<T, String> {
    let foreign = serde_json::from_str(line).map(|given| shape.foreign(&given)).unwrap_or_default();
    let read = match serde_json::from_str(line) {
        Ok(message) if foreign.is_empty() => return Ok(message),
        read => read.map(|_: T| ()),
    };
    let wrong = serde_json::from_str(line).map(|given| shape.wrong(&given)).unwrap_or_default();
    let mistakes = [foreign, wrong].concat();
    match read {
        Err(error) if mistakes.is_empty() => Err(without_place(&error)),
        Ok(_) | Err(_) => Err(listed(&mistakes)),
    }
}

/// Joins the mistakes of a message, at most as many as a person reads.
fn listed(mistakes: &[String]) -> String {
    let told = mistakes.iter().take(MAX_MISTAKES).map(String::as_str).collect::<Vec<_>>().join("; ");
    match mistakes.len().saturating_sub(MAX_MISTAKES) {
        0 => told,
        more => format!("{told}; and {more} more"),
    }
}

/// Refuses a key that occurs twice, at any depth: a reader further on might take the other value.
fn without_repetition(line: &str) -> Result<(), String> {
    serde_json::from_str::<StrictJson>(line).map(drop).map_err(|error| without_place(&error))
}

fn is_object(line: &str) -> bool {
    line.trim_start().starts_with('{')
}

fn not_an_object(line: &str) -> InvalidMessage {
    let message = format!("a line is one JSON object, not {}", quoted(line.trim()));
    InvalidMessage { code: ErrorCode::ValidationError, message, request_id: None }
}

/// Returns the error for a line of which not even the type can be read.
fn no_object(line: &str, error: &serde_json::Error) -> InvalidMessage {
    let invalid = |code, message| InvalidMessage { code, message, request_id: None };
    match error.classify() {
        Category::Data if is_object(line) => invalid(ErrorCode::ValidationError, without_place(error)),
        Category::Data => not_an_object(line),
        Category::Eof => {
            invalid(ErrorCode::ParseError, format!("a line is one JSON object; this one has no end: {}", quoted(line)))
        }
        Category::Io | Category::Syntax => {
            // The message shows the place of the mistake to its reader.
            let start = error.column().saturating_sub(CONTEXT);
            let near: String = line.char_indices().skip_while(|(at, _)| *at < start).map(|(_, c)| c).collect();
            let (near, column) = (quoted(&near), error.column());
            invalid(
                ErrorCode::ParseError,
                format!("a line is one JSON object; this is not JSON at byte {column}: {near}"),
            )
        }
    }
}

/// Returns serde's message without line and column: the input is a single line, and a column does not help with a
/// field.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}
