//! A frame of a client on the socket of an approver.

use axum::http::StatusCode;

use super::decide::Submitted;
use crate::{
    body::{self, Fields},
    problem::Problem,
};

/// A frame of a client.
pub(crate) enum Received {
    /// The client asks for a sign of life.
    Ping,
    /// The client answers a request.
    Decision(Submitted),
}

impl Received {
    /// Reads a frame.
    pub(crate) fn read(text: &[u8]) -> Result<Received, Problem> {
        let mut fields = Fields::of(body::object_in(text)?);
        let kind = fields.required("type")?;
        match kind.as_str() {
            "ping" => Ok(Received::Ping),
            "decision" => {
                let decision = Submitted::read(Fields::of(fields.map("data")?))?;
                fields.nothing_else()?;
                Ok(Received::Decision(decision))
            }
            _ => Err(unknown_type(&kind)),
        }
    }
}

fn unknown_type(kind: &str) -> Problem {
    let detail = format!("no frame has the type {:?}: a client sends `decision` or `ping`", body::shortened(kind));
    Problem::new(StatusCode::BAD_REQUEST, "unknown_type", detail)
}
