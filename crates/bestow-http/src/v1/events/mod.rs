//! Events: as a stream of server-sent events, and over WebSocket.

mod log;
mod seen;
mod socket;
mod sse;

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, broadcast};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use self::log::EventLog;
use self::{log::Told, seen::Seen};
use crate::{
    identity::{Caller, Entrance},
    problem::Problem,
};

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(sse::events)).routes(routes!(socket::open))
}

/// The place in the stream after which a client goes on.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct After {
    /// The number of the last event that the client has. The header `Last-Event-ID` means the same and comes first.
    last_event_id: Option<u64>,
    /// A ticket, for a client that cannot send the header `Authorization`.
    ticket: Option<String>,
}

impl After {
    /// Returns the number of the last event that the client has.
    fn number(&self, headers: &HeaderMap) -> Result<Option<u64>, Problem> {
        let Some(given) = headers.get("last-event-id") else { return Ok(self.last_event_id) };
        let number = given.to_str().ok().and_then(|given| given.trim().parse().ok());
        let invalid = || {
            let detail = "`Last-Event-ID` is the number of an event";
            Problem::new(StatusCode::BAD_REQUEST, "invalid_last_event_id", detail)
        };
        number.map(Some).ok_or_else(invalid)
    }
}

/// The events for one client.
struct Stream {
    entrance: Arc<Entrance>,
    caller: Caller,
    seen: Seen,
    /// The events that happened before, oldest first.
    before: std::vec::IntoIter<Arc<Told>>,
    live: broadcast::Receiver<Arc<Told>>,
    /// The place of the credential.
    _place: OwnedSemaphorePermit,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The credential is not valid any more.
    NotAuthenticated,
    /// The client reads too slowly. It can go on after the last event that it has.
    TooSlow,
    /// The engine ended.
    EngineEnded,
}

impl Stream {
    /// Opens the stream of a caller, after the event with this number.
    fn open(entrance: &Arc<Entrance>, caller: Caller, after: Option<u64>) -> Result<Stream, Problem> {
        let seen = Seen::by(&caller, entrance.engine())?;
        let place = entrance.place_for_socket(&caller)?;
        let (before, live) = entrance.events().after(after)?;
        Ok(Stream { entrance: Arc::clone(entrance), caller, seen, before: before.into_iter(), live, _place: place })
    }

    /// Returns the next event that the client may see.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no event.
    async fn next(&mut self) -> Result<Arc<Told>, End> {
        loop {
            let told = match self.before.next() {
                Some(told) => told,
                None => self.live.recv().await.map_err(|why| match why {
                    broadcast::error::RecvError::Closed => End::EngineEnded,
                    broadcast::error::RecvError::Lagged(_) => End::TooSlow,
                })?,
            };
            self.refuse_revoked()?;
            if self.seen.may_see(&told, self.entrance.engine()) {
                return Ok(told);
            }
        }
    }

    fn refuse_revoked(&self) -> Result<(), End> {
        if self.entrance.still_accepts(&self.caller) { Ok(()) } else { Err(End::NotAuthenticated) }
    }
}
