//! The answer to a host, and the meaning of a server's reply.

use bestow::{command::Tier, text::StrictJson};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The answer about one tool call, with the names of the Permissions API.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Answer {
    allow: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The input that the approver wants instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// The eight fields of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_fields: Option<Map<String, Value>>,
}

impl Answer {
    /// The answer that the call may not happen.
    pub(super) fn no(reason: impl Into<String>) -> Answer {
        let reason = Some(reason.into());
        Answer {
            allow: false,
            tier: None,
            reason,
            request_id: None,
            updated_input: None,
            feedback: None,
            decision_fields: None,
        }
    }

    /// Returns the answer in a reply. Only a reply with status 200, with every field of an answer and no other one, can
    /// allow a call: anything less was said by something else than a server of bestow, or by another version.
    pub(super) fn of_reply(status: StatusCode, body: &[u8]) -> Answer {
        if status != StatusCode::OK {
            let reason = reason_of_error(body);
            return Answer::no(reason.unwrap_or_else(|| format!("the server replied with status {status}")));
        }
        match understood(body) {
            Err(why) => Answer::no(format!("the reply of the server is not an answer: {why}")),
            // A host that does not know the field would call the tool with the input that nobody approved.
            Ok(told) if told.allow && told.updated_input.is_some() => {
                Answer::no("the reply of the server contradicts itself: it allows the call with another input")
            }
            Ok(told) if told.allow && (told.tier.is_none() || told.reason.as_ref().is_none_or(String::is_empty)) => {
                Answer::no("the reply of the server is not whole: it allows the call without a tier and a reason")
            }
            Ok(told) if !told.allow && told.reason.as_ref().is_none_or(String::is_empty) => {
                Answer { reason: Some("the server gave no reason".to_owned()), ..told }
            }
            Ok(told) => told,
        }
    }

    /// Returns true if the call may happen.
    pub(super) fn allow(&self) -> bool {
        self.allow
    }

    /// Returns the reason, for people.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Returns the answer as one line of JSON.
    pub(super) fn line(&self) -> String {
        format!("{}\n", json!(self))
    }
}

/// Returns the reason in an error of the server, which has more fields than an answer.
fn reason_of_error(body: &[u8]) -> Option<String> {
    let StrictJson(told) = serde_json::from_slice(body).ok()?;
    let is_no = told.get("allow") == Some(&Value::Bool(false));
    is_no.then(|| told.get("reason")?.as_str().map(str::to_owned))?
}

fn understood(body: &[u8]) -> Result<Answer, serde_json::Error> {
    let StrictJson(value) = serde_json::from_slice(body)?;
    serde_json::from_value(value)
}
