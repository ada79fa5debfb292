//! The dialect of `sources/000` and `sources/001` on `/ws`: runs of agents, and the requests of their tools.
//!
//! A person's client watches runs, answers requests and changes policies. A tool host with the credential of an agent
//! asks about the agent's actions.

mod board;
mod client;
mod message;
mod news;
mod outgoing;
mod output;
mod policy_signals;
mod program;
mod registry;
mod running;
mod tool_host;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::HeaderMap,
    response::{IntoResponse, Response},
    routing::get,
};

use crate::{
    credentials::Role,
    identity::Entrance,
    places::ConnectionPlace,
    problem::Problem,
    socket::{self, Socket},
};

use self::client::Client;
pub(crate) use self::{message::objection, registry::Runs};

pub(crate) fn routes() -> Router<Arc<Entrance>> {
    Router::new().route("/ws", get(open))
}

/// Opens the socket of a person's client or of a tool host, by its credential. Without a valid credential there is no
/// socket.
async fn open(
    State(entrance): State<Arc<Entrance>>,
    headers: HeaderMap,
    place: Option<Extension<ConnectionPlace>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    opened(entrance, &headers, place, upgrade).unwrap_or_else(IntoResponse::into_response)
}

fn opened(
    entrance: Arc<Entrance>,
    headers: &HeaderMap,
    place: Option<Extension<ConnectionPlace>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let caller = entrance.caller_of_socket(headers, place.as_deref())?;
    let upgrade = socket::limited(upgrade)?;
    let own = entrance.place_for_socket(&caller)?;
    let role = caller.credential().role.clone();
    Ok(match role {
        Role::Agent { .. } => {
            let agent = caller.agent()?;
            let socket = move |socket| Socket::new(entrance, caller, socket, (own, place));
            upgrade.on_upgrade(move |opened| tool_host::talk(socket(opened), agent))
        }
        Role::Approver { owner, .. } => {
            let approver = caller.approver()?;
            let client = Client::new(&entrance, approver, owner)?;
            let socket = move |socket| Socket::new(entrance, caller, socket, (own, place));
            upgrade.on_upgrade(move |opened| client.talk(socket(opened)))
        }
        Role::Operator => return Err(Problem::forbidden("this needs the credential of an approver or of an agent")),
    })
}
