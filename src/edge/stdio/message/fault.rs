//! That something was not done, and why.

use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// Why something was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The line is not JSON, or not UTF-8.
    ParseError,
    /// The line is JSON, but not a message: a field is missing, of the wrong type, or not what it should be.
    ValidationError,
    /// No message has this type.
    UnknownType,
    /// The line has more bytes than allowed. It was passed over.
    LineTooLong,
    /// The bot speaks another version of the protocol.
    UnsupportedVersion,
    /// Bots of this role may not say this.
    Forbidden,
    /// No request that this bot may answer has this id or code.
    NoPendingPermission,
    /// No agent of this owner is in this run, or no longer.
    RunNotFound,
    /// Somebody was faster, or the request ended otherwise; the message says how.
    AlreadyResolved,
    /// The engine says no; the message says why.
    Refused,
    /// What a path names could not be found out.
    PathError,
    /// Nobody is there who could hear it.
    NobodyThere,
    /// The engine could not answer. Nothing has changed.
    InternalError,
    /// The engine was shut down.
    EngineClosed,
}

/// `error`: something was not done, and nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Fault {
    /// Why, for programs.
    pub code: ErrorCode,
    /// Why, for people.
    pub message: String,
    /// The `requestId` of what was not done, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// When.
    pub ts: Timestamp,
}
