//! From a line to a message, or to everything that a bot needs to hear about why it is none.

use std::{fmt, str::FromStr};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, error::Category};

use crate::model::Shown;

use super::{ErrorCode, FromAgent, FromConnector};

/// The most characters a `requestId` may have.
const MAX_CORRELATION: usize = 256;

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
        "message",
        "bye",
    ];
    const FORBIDDEN: (&'static [&'static str], &'static str) = (FromConnector::TYPES, "an agent");
}

impl Incoming for FromConnector {
    const TYPES: &'static [&'static str] =
        &["hello", "permission_decision", "revoke_permission", "agree_to_widening", "message", "bye"];
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
    let head: Head = serde_json::from_str(line).map_err(|error| match error.classify() {
        Category::Data => invalid(ErrorCode::ValidationError, format!("a line is one JSON object: {error}")),
        Category::Io | Category::Syntax | Category::Eof => {
            invalid(ErrorCode::ParseError, format!("a line is one JSON object, and this is not JSON: {error}"))
        }
    })?;
    if !line.trim_start().starts_with('{') {
        return Err(invalid(ErrorCode::ValidationError, "a line is one JSON object, not a list".to_owned()));
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
        _ => return Err(invalid(ErrorCode::ValidationError, "`type` must be a text".to_owned())),
    };
    let (forbidden, role) = T::FORBIDDEN;
    if T::TYPES.contains(&kind.as_str()) {
        let message = serde_json::from_str(line);
        return message.map_err(|error| invalid(ErrorCode::ValidationError, format!("{kind}: {error}")));
    }
    Err(if forbidden.contains(&kind.as_str()) {
        invalid(ErrorCode::Forbidden, format!("this bot is {role}, which cannot say `{kind}`"))
    } else {
        let kind = kind.chars().take(64).collect::<String>();
        let known = T::TYPES.join("`, `");
        invalid(ErrorCode::UnknownType, format!("no message has the type `{}`; {role} says `{known}`", Shown(&kind)))
    })
}
