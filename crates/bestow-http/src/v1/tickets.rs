//! `POST /v1/tickets`: a secret for one use, for a client that cannot send the `Authorization` header.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use bestow::event::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::sender::Sender;
use crate::{identity::Entrance, problem::Problem};

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// A ticket.
#[derive(Debug, Serialize, ToSchema)]
struct Issued {
    /// The secret. It opens one WebSocket as the subprotocol `ticket.TICKET`, or one stream of events as
    /// `?ticket=TICKET`.
    ticket: String,
    /// The time from which it is refused.
    #[schema(value_type = String, format = DateTime)]
    until: Timestamp,
}

/// Creates a ticket that stands for the credential once, for 30 seconds. It ends with the credential.
#[utoipa::path(
    post, path = "/v1/tickets", tag = "tickets",
    responses((status = 201, description = "The ticket.", body = Issued))
)]
async fn create(State(entrance): State<Arc<Entrance>>, sender: Sender) -> Result<(StatusCode, Json<Issued>), Problem> {
    let ticket = entrance.ticket(sender.caller())?;
    Ok((StatusCode::CREATED, Json(Issued { ticket: ticket.text, until: ticket.until })))
}
