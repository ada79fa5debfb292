//! Grants: an agent passes permissions on, a person gives and revokes them.

mod give;
mod read;
mod revoke;

use std::sync::Arc;

use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) use self::{
    give::stored_grants,
    read::OfAgent,
    revoke::{Because, stored_revocation, undo_held},
};
use crate::identity::Entrance;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new()
        .routes(routes!(read::list, give::give))
        .routes(routes!(read::get, revoke::revoke))
        .routes(routes!(revoke::preview))
        .routes(routes!(revoke::undo))
}
