//! The place of a connection among all of a server.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

/// The place of a connection. Each request of the connection carries it, and a WebSocket keeps it.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionPlace(#[expect(dead_code, reason = "it is held, not read")] Arc<OwnedSemaphorePermit>);

impl ConnectionPlace {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> ConnectionPlace {
        ConnectionPlace(Arc::new(permit))
    }
}
