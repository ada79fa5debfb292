//! The body of an error: RFC 9457, "Problem Details for HTTP APIs".

use std::time::Duration;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bestow::Error;
use serde_json::{Value, json};

use crate::{credentials::NotAuthenticated, refusal};

/// An error as a client receives it.
///
/// It has members besides those of RFC 9457: `code`, a stable name; `error`, the text for clients of the Permissions
/// API (`sources/003`); and, where there are any, `facts` for programs.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
    pub(crate) facts: Value,
    /// The time after which the client may try again, in seconds.
    retry_after: Option<u64>,
    /// True if the connection ends with the response.
    is_last: bool,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Problem {
        Problem { status, code, detail: detail.into(), facts: Value::Null, retry_after: None, is_last: false }
    }

    /// Adds facts for programs.
    pub(crate) fn about(self, facts: Value) -> Problem {
        Problem { facts, ..self }
    }

    /// Adds the time after which the client may try again, in whole seconds.
    pub(crate) fn after(self, wait: Duration) -> Problem {
        let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
        Problem { retry_after: Some(seconds.max(1)), ..self }
    }

    /// Ends the connection after the response.
    pub(crate) fn closing(self) -> Problem {
        Problem { is_last: true, ..self }
    }

    /// Returns the problem of a sender with a role that may not do this.
    pub(crate) fn forbidden(detail: &str) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// Returns the problem of a name that does not exist, as far as the sender may know.
    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    /// Returns the members of the body.
    pub(crate) fn members(&self) -> Value {
        let mut members = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
            "code": self.code,
            "error": self.detail,
        });
        if let (Value::Object(all), false) = (&mut members, self.facts.is_null()) {
            all.insert("facts".to_owned(), self.facts.clone());
        }
        members
    }

    /// Returns the response with further members in its body.
    pub(crate) fn with(&self, further: Value) -> Response {
        let mut members = self.members();
        if let (Value::Object(all), Value::Object(further)) = (&mut members, further) {
            all.extend(further);
        }
        let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"))];
        let mut response = (self.status, headers, members.to_string()).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.is_last {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.with(Value::Null)
    }
}

impl From<NotAuthenticated> for Problem {
    fn from(why: NotAuthenticated) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", why.to_string())
    }
}

/// The engine refuses, or gives no answer.
impl From<Error> for Problem {
    fn from(why: Error) -> Problem {
        let (status, code) = match &why {
            Error::Refused(refusal) => (refusal::status(refusal), refusal::code(refusal)),
            Error::Text(_) | Error::Path(_) | Error::Open(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Error::HookExists(_) | Error::Commands(_) | Error::NoRuntime | Error::File(_) => {
                (StatusCode::INTERNAL_SERVER_ERROR, "internal")
            }
            Error::Clock(_) | Error::Closed | Error::Store(_) | Error::Replaced { .. } | _ => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
        };
        if status == StatusCode::NOT_FOUND {
            // An object of another owner looks as if it did not exist.
            return Problem::not_found(
                "this credential sees nothing with this id or name: check it with the list of the resource",
            );
        }
        let facts = if let Error::Refused(refusal) = &why { refusal::facts(refusal) } else { Value::Null };
        Problem::new(status, code, why.to_string()).about(facts)
    }
}
