//! The events for one client, in order and without a gap.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tokio::sync::broadcast;
use utoipa::IntoParams;

use super::{log::Live, seen::Seen, stored::Told};
use crate::{
    identity::{Caller, Entrance},
    problem::Problem,
};

/// The place in the stream after which a client goes on.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct After {
    /// The number of the last event that the client has. The header `Last-Event-ID` means the same and comes first.
    last_event_id: Option<u64>,
    /// A ticket, for a client that cannot send the header `Authorization`.
    pub(super) ticket: Option<String>,
}

impl After {
    /// Returns the number of the last event that the client has.
    pub(super) fn number(&self, headers: &HeaderMap) -> Result<Option<u64>, Problem> {
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
pub(super) struct Stream {
    entrance: Arc<Entrance>,
    caller: Caller,
    seen: Seen,
    /// The events that happened before, oldest first.
    before: std::vec::IntoIter<Arc<Told>>,
    live: Live,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The credential is not valid any more.
    NotAuthenticated,
    /// Events were missed, because the client or the server was too slow. The client can go on after its last event.
    Missed,
    /// The engine ended.
    EngineEnded,
}

impl Stream {
    /// Opens the stream of a caller, after the event with this number.
    pub(super) async fn open(entrance: &Arc<Entrance>, caller: Caller, after: Option<u64>) -> Result<Stream, Problem> {
        let seen = Seen::by(&caller)?;
        let (before, live) = entrance.events().after(after).await?;
        Ok(Stream { entrance: Arc::clone(entrance), caller, seen, before: before.into_iter(), live })
    }

    /// Returns the next event that the client may see.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no event.
    pub(super) async fn next(&mut self) -> Result<Arc<Told>, End> {
        loop {
            let told = match self.before.next() {
                Some(told) => told,
                None => self.live.recv().await.map_err(|why| match why {
                    // The log began anew after a gap, or the engine ended.
                    broadcast::error::RecvError::Closed if self.entrance.engine().last_sequence().is_err() => {
                        End::EngineEnded
                    }
                    broadcast::error::RecvError::Closed | broadcast::error::RecvError::Lagged(_) => End::Missed,
                })?,
            };
            self.refuse_revoked()?;
            if self.seen.may_see(&told, self.entrance.engine()) {
                return Ok(told);
            }
        }
    }

    pub(super) fn refuse_revoked(&self) -> Result<(), End> {
        if self.entrance.still_accepts(&self.caller) {
            return Ok(());
        }
        // Without a clock nobody is accepted, and that says nothing about the credential.
        Err(if self.entrance.engine().now().is_err() { End::EngineEnded } else { End::NotAuthenticated })
    }
}
