//! `GET /v1/requests/ID/preview`: what the permissions of a request would cover now.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{covered::Covered, input::Named, sender::Person},
};

/// The objects that the permissions of a request would cover now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Preview {
    permissions: Vec<Covered>,
}

/// Shows what the permissions of a waiting request would cover now.
#[utoipa::path(
    get, path = "/v1/requests/{request}/preview", tag = "requests",
    params(("request" = String, Path, description = "The id of the request, or its short code.")),
    responses((status = 200, description = "The objects under each permission.", body = Preview))
)]
pub(super) async fn preview(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
    Named(named): Named<String>,
) -> Result<Json<Preview>, Problem> {
    let request = admin.waiting(&named)?.request;
    let protected = entrance.engine().protected()?;
    let look = async move { request.permissions().map(|permission| Covered::of(permission, &protected)).collect() };
    Ok(Json(Preview { permissions: entrance.work(&caller, look).await? }))
}
