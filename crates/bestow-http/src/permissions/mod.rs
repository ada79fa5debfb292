//! The Permissions API (`sources/003`): a queue of tool calls that a person approves.

mod classify;
mod decide;
mod description;
mod enable;
mod frame;
mod item;
mod socket;
mod state;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};

pub(crate) use description::paths as described_paths;
pub(crate) use frame::Received;

use crate::identity::Entrance;

/// Returns the paths of this dialect.
pub(crate) fn routes() -> Router<Arc<Entrance>> {
    Router::new()
        .route("/api/permissions", get(decide::list).post(decide::decide))
        .route("/api/permissions/enable", post(enable::enable))
        .route("/api/hooks/classify", post(classify::classify))
        .route("/api/hooks/requests/{request}", get(state::state))
        .route("/ws/permissions", get(socket::open))
}
