//! The native API: everything that an outside program may do, over HTTP.
//!
//! Each module is one resource. An agent's credential acts as one agent. An approver's credential acts for one owner
//! and an operator's for every owner. Both give their orders through [`bestow::control::Admin`], as the control socket
//! does.

mod acting;
mod agents;
mod audit;
mod authorize;
mod check;
mod config;
mod covered;
mod decisions;
mod events;
mod explain;
mod grants;
mod hosts;
mod idempotency;
mod input;
mod me;
mod new_agents;
mod openapi;
mod owner;
mod policies;
mod processes;
mod requests;
mod runs;
mod sender;
mod session;
mod suggestions;
mod tasks;
mod tickets;
mod tools;
mod view;

use std::sync::Arc;

use axum::{Json, Router, middleware, routing::get};
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use self::{events::EventLog, idempotency::Answers, requests::Parts};
use crate::identity::Entrance;

/// Returns the paths of this dialect, and their description.
pub(crate) fn routes(entrance: &Arc<Entrance>) -> Router<Arc<Entrance>> {
    let once = middleware::from_fn_with_state(Arc::clone(entrance), idempotency::once);
    let (router, described) = decisions().merge(resources().layer(once)).split_for_parts();
    let described = openapi::completed(described);
    router.route("/v1/openapi.json", get(async move || Json(described.clone())))
}

/// Returns the paths whose answers hold for one moment. Each call is a decision of its own, so none is repeated from
/// memory.
fn decisions() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::with_openapi(openapi::Described::openapi())
        .routes(routes!(me::me))
        .routes(routes!(check::check))
        .routes(routes!(authorize::authorize))
        .routes(routes!(explain::explain))
        .routes(routes!(acting::spend))
        .routes(routes!(agents::explain))
        .merge(session::resource())
        .merge(hosts::resource())
}

fn resources() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::default()
        .merge(requests::resource())
        .merge(grants::resource())
        .merge(agents::resource())
        .merge(new_agents::resource())
        .merge(runs::resource())
        .merge(processes::resource())
        .merge(tools::resource())
        .merge(acting::messages())
        .merge(decisions::resource())
        .merge(policies::resource())
        .merge(config::resource())
        .merge(tasks::resource())
        .merge(audit::resource())
        .merge(events::resource())
        .merge(tickets::resource())
        .merge(suggestions::resource())
}
