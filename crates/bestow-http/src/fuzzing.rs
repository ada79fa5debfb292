//! The parsers of texts from outside, for tests with arbitrary bytes. They are no part of the public interface.

use bestow::event::Timestamp;
use serde_json::{Map, Value};

use crate::{body, permissions::Received, runs};

/// Reads a frame of a person's client on `/ws` as the server does. Returns the error with which the frame is answered,
/// or none if it is a message.
pub fn message(text: &str) -> Option<Value> {
    runs::objection(text, Timestamp::from_millis(0))
}

/// Reads the body of a request as the server does.
///
/// # Errors
///
/// The reason why it is not one object, for people.
pub fn body(text: &[u8]) -> Result<Map<String, Value>, String> {
    body::object_in(text).map_err(|problem| problem.detail.to_string())
}

/// Reads a frame of an approver's socket as the server does. Returns the id of the request that the frame answers, or
/// none if it answers none.
///
/// # Errors
///
/// The reason why it is not a frame, for people.
pub fn frame(text: &[u8]) -> Result<Option<String>, String> {
    match Received::read(text) {
        Ok(Received::Ping) => Ok(None),
        Ok(Received::Decision(submitted)) => Ok(Some(submitted.request)),
        Err(problem) => Err(problem.detail.to_string()),
    }
}
