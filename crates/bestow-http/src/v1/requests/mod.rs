//! Requests: an agent makes them and waits, a person answers them.

mod answer;
mod create;
mod named;
mod parts;
mod preview;
mod question;
mod read;
mod view;
mod wait;

use std::sync::Arc;

use utoipa_axum::{router::OpenApiRouter, routes};

pub(super) use self::create::{stored_end, stored_request};
pub(crate) use self::parts::Parts;
use crate::identity::Entrance;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new()
        .routes(routes!(read::list, create::create))
        .routes(routes!(read::get, create::cancel))
        .routes(routes!(wait::wait))
        .routes(routes!(answer::answer))
        .routes(routes!(preview::preview))
}
