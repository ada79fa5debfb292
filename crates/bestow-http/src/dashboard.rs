//! The pages of the dashboard: files that are part of the program. They speak to `/v1` and to nothing else.

use std::{
    collections::HashMap,
    io::Write,
    sync::{Arc, LazyLock},
};

use axum::{
    Router,
    body::Bytes,
    extract::Path,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use flate2::{Compression, write::GzEncoder};
use include_dir::{Dir, include_dir};

use crate::{identity::Entrance, problem::Problem};

/// The files.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/dashboard");

/// The headers of every page, beside those of every answer: nothing from elsewhere, no inline script, and no frame.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
    ),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The compressed files, by name.
static COMPRESSED: LazyLock<HashMap<&'static str, Bytes>> = LazyLock::new(|| {
    let files = FILES.files().filter_map(|file| Some((file.path().to_str()?, compressed(file.contents())?)));
    files.collect()
});

/// Returns the paths of the dashboard.
pub(crate) fn routes() -> Router<Arc<Entrance>> {
    Router::new()
        .route("/", get(async |headers: HeaderMap| page("index.html", &headers)))
        .route("/dashboard/{name}", get(async |Path(name): Path<String>, headers: HeaderMap| page(&name, &headers)))
}

fn page(name: &str, asked: &HeaderMap) -> Result<Response, Problem> {
    let found = FILES.get_file(name).zip(kind(name));
    let (file, kind) = found.ok_or_else(|| Problem::not_found("the dashboard has no such file"))?;
    let mut headers: HeaderMap =
        HEADERS.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let body = match COMPRESSED.get(name).filter(|_| accepts_gzip(asked)) {
        Some(body) => {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            body.clone()
        }
        None => Bytes::from_static(file.contents()),
    };
    Ok((headers, body).into_response())
}

/// Returns the file in the form that `Content-Encoding: gzip` names.
fn compressed(file: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(file).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Returns true if the client names gzip without a weight, as browsers do.
fn accepts_gzip(asked: &HeaderMap) -> bool {
    let all = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|coding| coding.trim().eq_ignore_ascii_case("gzip"))
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
