//! `Idempotency-Key`: a write that is repeated with an equal key gets the answer of the first one.
//!
//! The engine stores the key in the same step as the effect, so a write happens once even if the server is killed. The
//! answers themselves are in memory. After a restart, an answer is made again from the events of the write.

mod store;
mod stored;

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bestow::event::WriteKey;
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
    let now = entrance.engine().now()?;
    let credential = caller.credential().id.clone();
    let uri = parts.uri.to_string();
    let request = [parts.method.as_str().as_bytes(), uri.as_bytes(), &sent];
    let write = WriteKey::new(credential.as_str(), &text, &request);
    let place = match entrance.answers().begin(Key { credential, text }, write.clone(), now, now.after(KEPT_FOR)) {
        Begun::First(place) => place,
        Begun::Answered(kept) => return Ok(again(kept)),
        Begun::Other => return Err(reused()),
        Begun::Running => {
            let detail = "the first request with this `Idempotency-Key` is not answered yet: repeat it later";
            return Err(Problem::new(StatusCode::CONFLICT, "idempotency_in_progress", detail));
        }
        Begun::Full => {
            let detail = "this credential has too many requests with a key that are not answered yet";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_keys", detail));
        }
    };
    let before = entrance.engine().written(&write)?;
    if before.iter().any(|step| !step.is_of(&write)) {
        return Err(reused());
    }
    if let Some(kept) = stored::answer(&entrance, &caller, &parts, &sent, &before).await? {
        place.keep(kept.clone());
        return Ok(again(kept));
    }
    parts.extensions.insert(caller.writing(write, &before));
    // The write goes on if the client is gone, so that its answer is there when the client comes back.
    let writing = tokio::spawn(async move {
        let response = next.run(Request::from_parts(parts, Body::from(sent))).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        if is_final(parts.status) {
            place.keep(Kept::of(&parts, body.clone()));
        }
        Response::from_parts(parts, Body::from(body))
    });
    let lost = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the write was not carried out");
    writing.await.map_err(lost)
}

fn reused() -> Problem {
    let detail = "this `Idempotency-Key` was used with another request: use a new key for a new request";
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused", detail)
}

/// Returns true if an equal request later would not get another answer for a reason that is over by then. A write that
/// waits for a person (202) goes on when it is repeated.
fn is_final(status: StatusCode) -> bool {
    let is_passing = matches!(
        status,
        StatusCode::ACCEPTED
            | StatusCode::UNAUTHORIZED
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::CONFLICT
            | StatusCode::TOO_MANY_REQUESTS
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
