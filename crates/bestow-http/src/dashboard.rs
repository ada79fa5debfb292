//! The pages of the dashboard: files that are part of the program. They speak to `/v1` and to nothing else.

use std::sync::Arc;

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use include_dir::{Dir, include_dir};

use crate::{identity::Entrance, problem::Problem};

/// The files.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/dashboard");

/// The headers of every page: nothing from elsewhere, no inline script, and no frame around it.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    // The pages of a new version are used at once.
    (header::CACHE_CONTROL, "no-cache"),
];

/// Returns the paths of the dashboard.
pub(crate) fn routes() -> Router<Arc<Entrance>> {
    Router::new()
        .route("/", get(async || page("index.html")))
        .route("/dashboard/{name}", get(async |Path(name): Path<String>| page(&name)))
}

fn page(name: &str) -> Result<Response, Problem> {
    let found = FILES.get_file(name).zip(kind(name));
    let (file, kind) = found.ok_or_else(|| Problem::not_found("the dashboard has no such file"))?;
    let mut headers: HeaderMap =
        HEADERS.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok((headers, file.contents()).into_response())
}

/// Returns the media type of a file. Files of other kinds are for authors only.
fn kind(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        _ => None,
    }
}
