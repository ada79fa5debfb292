//! The bodies of requests: one JSON object, of limited size and depth, in which no key comes twice.

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, StatusCode, header},
};
use bestow::text::{StrictJson, closest_word};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Map, Value};

use crate::problem::Problem;

/// The longest body of a request, in bytes.
const LONGEST: usize = 1 << 20;

/// Returns the beginning of a text of a client, for a message.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

/// The longest body of a request without a credential, in bytes.
const LONGEST_OF_ANYBODY: usize = 1 << 10;

/// Reads the object in a body.
pub(crate) async fn object(headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, Problem> {
    json_is_said(headers)?;
    object_in(&bytes(body).await?)
}

/// Reads the object in the body of a request without a credential.
pub(crate) async fn small_object(headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, Problem> {
    json_is_said(headers)?;
    object_in(&limited(body, LONGEST_OF_ANYBODY).await?)
}

/// Reads a body of limited length.
pub(crate) async fn bytes(body: Body) -> Result<Bytes, Problem> {
    limited(body, LONGEST).await
}

async fn limited(body: Body, longest: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body is longer than {longest} bytes, which is the limit");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    };
    // A length that is announced is refused before a byte is read.
    if body.size_hint().lower() > u64::try_from(longest).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    let read = Limited::new(body, longest).collect().await.map_err(|why| {
        if why.is::<LengthLimitError>() {
            too_large()
        } else {
            invalid(format!("the body did not arrive whole: {why}"))
        }
    })?;
    Ok(read.to_bytes())
}

/// Returns the object in a text.
pub(crate) fn object_in(text: &[u8]) -> Result<Map<String, Value>, Problem> {
    let StrictJson(value) =
        StrictJson::read(text).map_err(|why| invalid(format!("the body is not valid JSON: {why}")))?;
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(invalid("the body is one JSON object".to_owned()))
        }
    }
}

/// Refuses a body that is not said to be JSON.
pub(crate) fn json_is_said(headers: &HeaderMap) -> Result<(), Problem> {
    let said = headers.get(header::CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    let kind = said.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "send the body as `Content-Type: application/json`";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail))
}

fn invalid(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail)
}

/// Reads the fields of an object, each with its type.
pub(crate) struct Fields {
    /// The fields that were not asked for yet.
    left: Map<String, Value>,
    /// The names that were asked for.
    asked: Vec<&'static str>,
}

impl Fields {
    pub(crate) fn of(fields: Map<String, Value>) -> Fields {
        Fields { left: fields, asked: Vec::new() }
    }

    /// Returns the whole object.
    pub(crate) fn whole(self) -> Map<String, Value> {
        self.left
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.asked.push(name);
        self.left.remove(name)
    }

    /// Refuses a field that was not asked for. A field that narrows an answer must not get lost.
    pub(crate) fn nothing_else(self) -> Result<(), Problem> {
        let Some(unknown) = self.left.keys().next() else { return Ok(()) };
        let help = match closest_word(unknown, self.asked.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("the fields are `{}`", self.asked.join("`, `")),
        };
        Err(invalid(format!("unknown field {:?}: {help}", shortened(unknown))))
    }

    /// Refuses a field that looks like a misspelling of one that was asked for. Other fields are passed over.
    pub(crate) fn no_misspelling(mut self) -> Result<(), Problem> {
        let asked = self.asked.clone();
        self.left.retain(|name, _| closest_word(name, asked.iter().copied()).is_some());
        self.nothing_else()
    }

    /// Takes the text in a field. A missing field and `null` are no text.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(invalid(format!("`{name}` is a text"))),
        }
    }

    /// Takes the text in a field that must be there and not be empty.
    pub(crate) fn required(&mut self, name: &'static str) -> Result<String, Problem> {
        let text = self.text(name)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| invalid(format!("`{name}` is missing: it is a text that is not empty")))
    }

    /// Takes the object in a field. A missing field and `null` are an empty object.
    pub(crate) fn object(&mut self, name: &'static str) -> Result<Value, Problem> {
        self.map(name).map(Value::Object)
    }

    /// Takes the fields of the object in a field.
    pub(crate) fn map(&mut self, name: &'static str) -> Result<Map<String, Value>, Problem> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) => Err(invalid(format!("`{name}` is an object"))),
        }
    }

    /// Takes the whole number in a field, at most `most`.
    pub(crate) fn number(&mut self, name: &'static str, most: u64) -> Result<Option<u64>, Problem> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|number| *number <= most) {
                Some(number) => Ok(Some(number)),
                None => Err(invalid(format!("`{name}` is a whole number from 0 to {most}"))),
            },
        }
    }
}
