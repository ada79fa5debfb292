//! `/v1/events/ws`: events over WebSocket, one in each frame.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::HeaderMap,
    response::Response,
};
use tokio::time::{self, MissedTickBehavior};

use super::stream::{After, End, Stream};
use crate::{
    frames::{self, GOING_AWAY, LONGEST_SEND, NOT_AUTHENTICATED},
    identity::Entrance,
    places::ConnectionPlace,
    problem::Problem,
    v1::input::Asked,
};

/// The time between two pings. The credential is checked then.
const PING: Duration = Duration::from_secs(15);

/// The pings without any frame of the client after which it counts as gone.
const SILENT_PINGS: u32 = 3;

/// The close code for a client that reads too slowly.
const TOO_SLOW: u16 = 1013;

/// Sends events as they happen, one in each text frame. The frames are the `data` of `/v1/events`.
///
/// A frame of the client other than a ping or a pong closes the socket.
#[utoipa::path(
    get, path = "/v1/events/ws", tag = "events", params(After),
    responses(
        (status = 101, description = "A WebSocket."),
        (status = 410, description = "The events are not kept any more."),
    )
)]
pub(super) async fn open(
    State(entrance): State<Arc<Entrance>>,
    headers: HeaderMap,
    Asked(after): Asked<After>,
    place: Option<Extension<ConnectionPlace>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = frames::upgrade(upgrade)?;
    let caller = match &after.ticket {
        Some(ticket) => entrance.caller_with_ticket(&headers, Some(ticket))?,
        None => entrance.caller_of_socket(&headers)?,
    };
    let stream = Stream::open(&entrance, caller, after.number(&headers)?)?;
    Ok(upgrade.on_upgrade(async move |socket| {
        let _place = place;
        serve(socket, stream).await;
    }))
}

async fn serve(mut socket: WebSocket, mut stream: Stream) {
    let mut ping = time::interval_at(time::Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silent = 0;
    let end = loop {
        let message = tokio::select! {
            told = stream.next() => match told {
                Ok(told) => Message::text(told.text.clone()),
                Err(end) => break end,
            },
            received = socket.recv() => match received {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                    silent = 0;
                    continue;
                }
                Some(Ok(Message::Text(_) | Message::Binary(_))) => {
                    let _ = send(&mut socket, frames::close(UNSUPPORTED, "a client of this socket only listens")).await;
                    return;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            _ = ping.tick() => {
                silent += 1;
                match stream.refuse_revoked() {
                    Ok(()) if silent > SILENT_PINGS => return,
                    Ok(()) => Message::Ping(Vec::new().into()),
                    Err(end) => break end,
                }
            }
        };
        if !send(&mut socket, message).await {
            return;
        }
    };
    let (code, reason) = match end {
        End::NotAuthenticated => (NOT_AUTHENTICATED, "the credential is no longer valid"),
        End::Missed => (TOO_SLOW, "this client reads too slowly: go on after the last event"),
        End::EngineEnded => (GOING_AWAY, "the server ends"),
    };
    let _ = send(&mut socket, frames::close(code, reason)).await;
}

/// The close code for a frame that this socket does not take.
const UNSUPPORTED: u16 = 1003;

/// Sends a frame. Returns false if the client does not accept it.
async fn send(socket: &mut WebSocket, message: Message) -> bool {
    matches!(time::timeout(LONGEST_SEND, socket.send(message)).await, Ok(Ok(())))
}
