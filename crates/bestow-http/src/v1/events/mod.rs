//! Events: as a stream of server-sent events, and over WebSocket.

mod log;
mod recent;
mod seen;
mod socket;
mod sse;
mod stored;
mod stream;

use std::sync::Arc;

use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use self::log::EventLog;
pub(super) use self::log::LastReload;
use crate::identity::Entrance;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(sse::events)).routes(routes!(recent::recent)).routes(routes!(socket::open))
}
