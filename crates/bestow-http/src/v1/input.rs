//! The parts of a request: its body, the names in its path, and its query.

use std::{str::FromStr, sync::Arc};

use axum::{
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{StatusCode, request::Parts},
};
use bestow::{
    Permission,
    grant::{InvalidPermissions, Permissions},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{body, identity::Entrance, problem::Problem};

/// A body of JSON. An unknown field is refused by its name.
pub(super) struct Sent<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<Entrance>> for Sent<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let caller = entrance.caller(&parts)?;
        let fields = entrance.object(&caller, &parts.headers, body).await?;
        understood(Value::Object(fields.whole())).map(Sent)
    }
}

/// Reads a body whose type has no free values in it, so that its reader refuses every key that comes twice. A body that
/// is wrong is read again, for the name of the field.
pub(super) fn plain<T: DeserializeOwned>(sent: &[u8]) -> Result<T, Problem> {
    match serde_json::from_slice(sent) {
        Ok(read) => Ok(read),
        Err(_) => understood(Value::Object(body::object_in(sent)?)),
    }
}

/// Reads a value, and names the field that is wrong.
pub(super) fn understood<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|why| {
        let field = why.path().to_string();
        let is_inside = field != ".";
        let detail = if is_inside { format!("`{field}`: {}", why.inner()) } else { why.inner().to_string() };
        let problem = Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail);
        if is_inside { problem.about(json!({ "field": field })) } else { problem }
    })
}

/// A name in the path. A text that is no such name is the name of nothing.
pub(super) struct Named<T>(pub(super) T);

impl<T: FromStr> FromRequestParts<Arc<Entrance>> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        let text = Path::<String>::from_request_parts(parts, entrance).await;
        let named = text.ok().and_then(|Path(text)| text.parse().ok());
        named.map(Named).ok_or_else(|| Problem::not_found("there is nothing with this name"))
    }
}

/// The query. An unknown parameter is refused by its name.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Entrance>> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, entrance).await {
            Ok(Query(asked)) => Ok(Asked(asked)),
            Err(why) => {
                let why = why.body_text();
                let why = why.strip_prefix("Failed to deserialize query string: ").unwrap_or(&why);
                Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_query", format!("the query: {why}")))
            }
        }
    }
}

/// Reads an optional field in which `null` is an error, because its absence allows more.
pub(super) fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Returns permissions as a list that is neither empty nor too long.
pub(super) fn several(permissions: Vec<Permission>) -> Result<Permissions, Problem> {
    permissions.try_into().map_err(|why: InvalidPermissions| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_body", format!("`permissions`: {why}"))
            .about(json!({ "field": "permissions" }))
    })
}
