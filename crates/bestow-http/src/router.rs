//! The router: the paths, and the checks that come before each of them.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderValue, header, request::Parts},
    response::Response,
    routing::get,
};
use bestow::Engine;
use serde_json::{Value, json};
use tower::util::MapResponseLayer;

use crate::{dashboard, guard::Guard, identity::Entrance, options::Options, permissions, problem::Problem, runs, v1};

/// Returns the router of an engine. It can be served as it is or be mounted in another router.
///
/// Within a Tokio runtime, the router keeps events for clients from now on. Otherwise it does from the first client on.
///
/// # Authority
///
/// Each request acts with the authority of its credential and no more. The router itself has the engine, the handle of
/// the operator.
pub fn router(engine: &Engine, options: Options) -> Router {
    let guard = Guard::of(options.allowed.clone());
    let pages = if options.dashboard { dashboard::routes() } else { Router::new() };
    let entrance = Arc::new(Entrance::new(engine.clone(), options));
    Router::new()
        .route("/health", get(health))
        .merge(permissions::routes())
        .merge(runs::routes())
        .merge(v1::routes(&entrance))
        .merge(pages)
        .merge(mcp())
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(guard)
        .layer(MapResponseLayer::new(with_headers))
        .with_state(entrance)
}

/// Adds the headers of every answer: no browser guesses another type, and nobody keeps a copy.
fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the path of the Model Context Protocol, if this package has it.
fn mcp() -> Router<Arc<Entrance>> {
    #[cfg(feature = "mcp")]
    return crate::mcp::routes();
    #[cfg(not(feature = "mcp"))]
    Router::new()
}

/// Tells a supervisor that the server answers. Without a credential it reveals nothing more. A client with one learns
/// how long the server runs and what it holds: an agent and an approver about their owner, an operator about all.
async fn health(State(entrance): State<Arc<Entrance>>, parts: Parts) -> Result<Json<Value>, Problem> {
    let mut health = json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") });
    if !parts.headers.contains_key(header::AUTHORIZATION) {
        return Ok(Json(health));
    }
    let counts = entrance.counts(&entrance.caller(&parts)?)?;
    if let (Value::Object(fields), Value::Object(counts)) = (&mut health, counts) {
        fields.extend(counts);
    }
    Ok(Json(health))
}

async fn unknown_path() -> Problem {
    Problem::not_found("there is nothing under this path")
}

async fn unknown_method() -> Problem {
    let status = axum::http::StatusCode::METHOD_NOT_ALLOWED;
    Problem::new(status, "method_not_allowed", "this path does not support the method")
}
