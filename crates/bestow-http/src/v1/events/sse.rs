//! `GET /v1/events`: events as a stream of server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response, Sse, sse},
};
use futures_util::stream;
use serde_json::json;
use tokio::time;

use super::stream::{After, End, Stream};
use crate::{
    identity::Entrance,
    places::ConnectionPlace,
    problem::Problem,
    v1::{input::Asked, openapi::Event},
};

/// The time after which a comment is sent if there is no event. The credential is checked then.
const QUIET: Duration = Duration::from_secs(15);

/// Sends events as they happen. An agent gets its own, an approver those of its owner's agents, and an operator all.
///
/// The `id` of each is its number. With the header `Last-Event-ID`, the stream goes on after that event. If the events
/// after it are not kept any more, the answer is 410.
#[utoipa::path(
    get, path = "/v1/events", tag = "events", params(After),
    responses(
        (status = 200, description = "A stream of events, each as the `data` of a message.", body = Event,
            content_type = "text/event-stream"),
        (status = 410, description = "The events are not kept any more."),
    )
)]
pub(super) async fn events(
    State(entrance): State<Arc<Entrance>>,
    headers: HeaderMap,
    place: Option<Extension<ConnectionPlace>>,
    Asked(after): Asked<After>,
) -> Result<Response, Problem> {
    let caller = entrance.caller_with_ticket(&headers, after.ticket.as_deref(), place.as_deref())?;
    let place = entrance.place_for_socket(&caller)?;
    let stream = Stream::open(&entrance, caller, after.number(&headers)?).await?;
    let sent = stream::unfold(Some((stream, place)), async |open| {
        let (mut stream, place) = open?;
        let (event, is_open) = match time::timeout(QUIET, stream.next()).await {
            Ok(Ok(told)) => (sse::Event::default().id(told.sequence.to_string()).data(&told.text), true),
            Ok(Err(end)) => (last(end), false),
            Err(_) => match stream.refuse_revoked() {
                Ok(()) => (sse::Event::default().comment(""), true),
                Err(end) => (last(end), false),
            },
        };
        Some((Ok::<_, Infallible>(event), is_open.then_some((stream, place))))
    });
    Ok(Sse::new(sent).into_response())
}

/// Returns the last event of a stream.
fn last(end: End) -> sse::Event {
    let (code, detail) = match end {
        End::NotAuthenticated => ("unauthorized", "the credential is no longer valid"),
        End::Missed => ("events_missed", "the client reads too slowly: go on with `Last-Event-ID`"),
        End::EngineEnded => ("unavailable", "the engine has ended"),
    };
    sse::Event::default().event("end").data(json!({ "code": code, "detail": detail }).to_string())
}
