//! The policy file, and a change of it that waits for a person.

mod change;
mod file;
mod globs;

use std::sync::Arc;

use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) use self::change::stored_agreement;
use crate::identity::Entrance;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new()
        .routes(routes!(file::file))
        .routes(routes!(globs::globs))
        .routes(routes!(change::get))
        .routes(routes!(change::agree))
}
