//! From a line to a message, or to everything that a bot needs to hear about why it is none.

use std::{fmt, str::FromStr};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, error::Category};

use super::{super::quote::quoted, ErrorCode, FromAgent, FromConnector, shape};

/// The most characters a `requestId` may have.
const MAX_CORRELATION: usize = 256;
/// How many bytes before the place of a mistake are shown.
const CONTEXT: usize = 20;

/// Why a line is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidMessage {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The `requestId` of the line, if it could be read.
    pub request_id: Option<String>,
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InvalidMessage {}

/// What bots of one role say.
pub(in super::super) trait Incoming: DeserializeOwned {
    /// The types of their messages.
    const TYPES: &'static [&'static str];
    /// What is only for bots of the other role, and what this one is.
    const FORBIDDEN: (&'static [&'static str], &'static str);
}

impl Incoming for FromAgent {
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

/// What can be read from a line even if it is no message.
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

/// Parsed from the text and never through a map, so that a field which stands there twice is an error and not a choice.
pub(in super::super) fn parse<T: Incoming>(line: &str) -> Result<T, InvalidMessage> {
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
    if T::TYPES.contains(&kind.as_str()) {
        return fields(&kind, line).map_err(|why| invalid(ErrorCode::ValidationError, format!("{kind}: {why}")));
    }
    Err(if forbidden.contains(&kind.as_str()) {
        invalid(ErrorCode::Forbidden, format!("this bot is {role}, which cannot say `{kind}`"))
    } else {
        let known = T::TYPES.join("`, `");
        invalid(ErrorCode::UnknownType, format!("no message has the type {}; {role} says `{known}`", quoted(&kind)))
    })
}

/// A message of a known type; otherwise what is wrong with which field.
fn fields<T: Incoming>(kind: &str, line: &str) -> Result<T, String> {
    let shape = shape::of(kind);
    if let Some(why) = serde_json::from_str(line).ok().and_then(|given| shape.foreign(&given)) {
        return Err(why);
    }
    serde_json::from_str(line).map_err(|error| {
        let given = serde_json::from_str(line).ok();
        given.and_then(|given| shape.wrong(&given)).unwrap_or_else(|| without_place(&error))
    })
}

fn is_object(line: &str) -> bool {
    line.trim_start().starts_with('{')
}

fn not_an_object(line: &str) -> InvalidMessage {
    let message = format!("a line is one JSON object, not {}", quoted(line.trim()));
    InvalidMessage { code: ErrorCode::ValidationError, message, request_id: None }
}

/// Why a line has not even a type.
fn no_object(line: &str, error: &serde_json::Error) -> InvalidMessage {
    let invalid = |code, message| InvalidMessage { code, message, request_id: None };
    match error.classify() {
        Category::Data if is_object(line) => invalid(ErrorCode::ValidationError, without_place(error)),
        Category::Data => not_an_object(line),
        Category::Eof => {
            invalid(ErrorCode::ParseError, format!("a line is one JSON object; this one has no end: {}", quoted(line)))
        }
        Category::Io | Category::Syntax => {
            // Whoever reads it should see the place.
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

/// What serde says, without the line and the column: a line is a line, and a column helps nobody with a field.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}
