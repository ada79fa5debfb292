//! `Idempotency-Key`: a write that is repeated with an equal key gets the answer of the first one.

mod store;

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use hmac_sha256::Hash as Sha256;
use http_body_util::BodyExt;

pub(crate) use self::store::Answers;
use self::store::{Begun, Kept, Key};
use crate::{identity::Entrance, problem::Problem};

/// The header with the key.
const HEADER: &str = "idempotency-key";

/// The header of an answer that was stored.
const REPEATED: &str = "idempotency-replayed";

/// The longest key, in bytes.
pub(super) const LONGEST_KEY: usize = 255;

/// The time for which an answer is kept.
const KEPT_FOR: Duration = Duration::from_secs(600);

/// Answers a write with a key that was sent before with the stored answer.
pub(super) async fn once(State(entrance): State<Arc<Entrance>>, request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD) || !request.headers().contains_key(HEADER) {
        return next.run(request).await;
    }
    match repeated(entrance, request, next).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn repeated(entrance: Arc<Entrance>, request: Request, next: Next) -> Result<Response, Problem> {
    let (mut parts, sent) = request.into_parts();
    let caller = entrance.caller(&parts)?;
    parts.extensions.insert(caller.clone());
    let text = key(&parts.headers)?;
    let sent = entrance.bytes(&caller, sent).await?;
    let mut hash = Sha256::new();
    for part in [parts.method.as_str().as_bytes(), parts.uri.to_string().as_bytes(), &sent] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    let now = entrance.engine().now()?;
    let key = Key { credential: caller.credential().id.clone(), text };
    let place = match entrance.answers().begin(key, hash.finalize(), now, now.after(KEPT_FOR)) {
        Begun::First(place) => place,
        Begun::Answered(kept) => return Ok(again(kept)),
        Begun::Other => {
            let detail = "this `Idempotency-Key` was used with another request: use a new key for a new request";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused", detail));
        }
        Begun::Running => {
            let detail = "the first request with this `Idempotency-Key` is not answered yet: repeat it later";
            return Err(Problem::new(StatusCode::CONFLICT, "idempotency_in_progress", detail));
        }
        Begun::Full => {
            let detail = "this credential has too many requests with a key that are not answered yet";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_keys", detail));
        }
    };
    // The write goes on if the client is gone, so that its answer is there when the client comes back.
    let writing = tokio::spawn(async move {
        let response = next.run(Request::from_parts(parts, Body::from(sent))).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        if is_final(parts.status) {
            place.keep(Kept {
                status: parts.status,
                kind: parts.headers.get(header::CONTENT_TYPE).cloned(),
                body: body.clone(),
            });
        }
        Response::from_parts(parts, Body::from(body))
    });
    let lost = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the write was not carried out");
    writing.await.map_err(lost)
}

/// Returns true if an equal request later would not get another answer for a reason that is over by then.
fn is_final(status: StatusCode) -> bool {
    let is_passing = matches!(
        status,
        StatusCode::UNAUTHORIZED | StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS
    );
    !is_passing && !status.is_server_error()
}

fn again(kept: Kept) -> Response {
    let mut response = (kept.status, kept.body).into_response();
    match kept.kind {
        Some(kind) => response.headers_mut().insert(header::CONTENT_TYPE, kind),
        None => response.headers_mut().remove(header::CONTENT_TYPE),
    };
    response.headers_mut().insert(REPEATED, HeaderValue::from_static("true"));
    response
}

fn key(headers: &HeaderMap) -> Result<String, Problem> {
    let mut given = headers.get_all(HEADER).iter();
    let one = given.next().filter(|_| given.next().is_none()).and_then(|key| key.to_str().ok());
    let key = one.filter(|key| (1..=LONGEST_KEY).contains(&key.len()));
    key.map(str::to_owned).ok_or_else(|| {
        let detail = format!("`Idempotency-Key` is one text of 1 to {LONGEST_KEY} visible ASCII characters");
        Problem::new(StatusCode::BAD_REQUEST, "invalid_idempotency_key", detail)
    })
}
