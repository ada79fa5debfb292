//! The error message: an order was not carried out, with the reason.

use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// The reason why an order was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The line is not JSON, or not UTF-8.
    ParseError,
    /// The line is JSON, but not a message: a field is missing, has the wrong type, or has an invalid value.
    ValidationError,
    /// The protocol has no message of this type.
    UnknownType,
    /// The line has more bytes than allowed. It was skipped.
    LineTooLong,
    /// The bot uses another version of the protocol.
    UnsupportedVersion,
    /// Bots of this role may not send this message.
    Forbidden,
    /// There is no request with this id or code that this bot may answer.
    NoPendingPermission,
    /// The owner has no agent in this run.
    RunNotFound,
    /// The request is resolved already: by another approver, or in another way. The message names the outcome.
    AlreadyResolved,
    /// The engine refuses the order. The message states the reason.
    Refused,
    /// The target of a path could not be determined.
    PathError,
    /// The user or agent that the message is for is not present.
    NobodyThere,
    /// The engine could not answer. Nothing has changed.
    InternalError,
    /// The engine was shut down.
    EngineClosed,
}

/// `error`: an order was not carried out, and nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Fault {
    /// The reason, for programs.
    pub code: ErrorCode,
    /// The reason, for people.
    pub message: String,
    /// The `requestId` of the order, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The time of the error.
    pub ts: Timestamp,
}

impl Fault {
    /// Creates the error with this code, about the order with this `requestId`.
    pub fn new(code: ErrorCode, message: String, request_id: Option<String>, ts: Timestamp) -> Fault {
        Fault { code, message, request_id, ts }
    }
}
