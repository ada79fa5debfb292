//! `/v1/events/ws`: events over WebSocket, one in each frame.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::HeaderMap,
    response::Response,
};

use super::stream::{After, End, Stream};
use crate::{
    identity::Entrance,
    places::ConnectionPlace,
    problem::Problem,
    socket::{self, Ended, Incoming, Socket},
    v1::input::Asked,
};

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
    let upgrade = socket::limited(upgrade)?;
    let caller = match &after.ticket {
        Some(ticket) => entrance.caller_with_ticket(&headers, Some(ticket), place.as_deref())?,
        None => entrance.caller_of_socket(&headers, place.as_deref())?,
    };
    let own = entrance.place_for_socket(&caller)?;
    let stream = Stream::open(&entrance, caller.clone(), after.number(&headers)?).await?;
    Ok(upgrade.on_upgrade(async move |socket| {
        let _ = serve(Socket::new(entrance, caller, socket, (own, place)), stream).await;
    }))
}

async fn serve(mut socket: Socket, mut stream: Stream) -> Result<(), Ended> {
    loop {
        tokio::select! {
            told = stream.next() => match told {
                Ok(told) => socket.say_text(told.text.clone()).await?,
                Err(End::NotAuthenticated) => return socket.not_authenticated().await,
                Err(End::Missed) => return socket.too_slow().await,
                Err(End::EngineEnded) => return socket.going_away().await,
            },
            received = socket.next() => match received? {
                Incoming::Text(_) | Incoming::Binary => return socket.unsupported().await,
                Incoming::Beat => socket.beat().await?,
            },
        }
    }
}
