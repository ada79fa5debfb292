//! `DELETE /v1/grants/ID`: revokes a grant. `GET /v1/grants/ID/cascade`: shows before what would end with it.
//! `POST /v1/grants/ID/undo`: undoes the revocation.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{Event, control::GrantOrDecisionId, grant::GrantId, text::Reason};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{
        input::{Asked, Named},
        sender::{Person, Sender},
        view::GrantView,
    },
};

/// The reason of a revocation.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::v1) struct Because {
    /// The reason. The holder learns it.
    #[param(value_type = Option<String>)]
    pub(in crate::v1) reason: Option<Reason>,
}

/// A revoked grant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Revoked {
    #[schema(value_type = String)]
    grant_id: GrantId,
    /// The grants that ended with it. A person sees them.
    also_ended: Vec<GrantView>,
}

/// The grants that would end with a grant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cascade {
    grant: GrantView,
    would_end: Vec<GrantView>,
}

/// Revokes a grant, with every grant that depends on it alone. An agent revokes what it gave, or gives up what it
/// holds.
#[utoipa::path(
    delete, path = "/v1/grants/{grant}", tag = "grants",
    params(("grant" = String, Path, description = "The id of the grant, such as `g4`."), Because),
    responses((status = 200, description = "The grant ended.", body = Revoked))
)]
pub(super) async fn revoke(
    State(entrance): State<Arc<Entrance>>,
    sender: Sender,
    Named(id): Named<GrantId>,
    Asked(Because { reason }): Asked<Because>,
) -> Result<Json<Revoked>, Problem> {
    let also_ended = match sender {
        Sender::Agent(from) => {
            let agent = from.agent;
            entrance.work(&from.caller, async move { agent.revoke(id, reason).await }).await??;
            Vec::new()
        }
        Sender::Person(Person { caller, admin, by }) => {
            let held = GrantOrDecisionId::Grant(id);
            let revocation = entrance.work(&caller, async move { admin.revoke(held, reason, by).await }).await??;
            let also_ended = revocation.also_ended().iter().map(|grant| GrantView::of(grant)).collect();
            entrance.revocations().remember(&caller.credential().id, held, revocation);
            also_ended
        }
    };
    Ok(Json(Revoked { grant_id: id, also_ended }))
}

/// Shows the grants that would end with a grant. Nothing changes.
#[utoipa::path(
    get, path = "/v1/grants/{grant}/cascade", tag = "grants",
    params(("grant" = String, Path, description = "The id of the grant, such as `g4`.")),
    responses((status = 200, description = "The grant, and those that would end with it.", body = Cascade))
)]
pub(super) async fn preview(
    State(_): State<Arc<Entrance>>,
    Person { admin, .. }: Person,
    Named(id): Named<GrantId>,
) -> Result<Json<Cascade>, Problem> {
    let (grant, would_end) = (admin.grant(id)?, admin.would_end_with(id)?);
    let would_end = would_end.iter().map(|grant| GrantView::of(grant)).collect();
    Ok(Json(Cascade { grant: GrantView::of(&grant), would_end }))
}

/// The grants that a person gave again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::v1) struct Undone {
    /// The ids of the new grants: the revoked one first, then those that fell with it.
    #[schema(value_type = Vec<String>)]
    grant_ids: Vec<GrantId>,
}

/// Undoes a revocation of the last ten seconds, by the same credential and once. The revoked grant is then a grant of
/// this person. The grants that fell with it come back from the agents that gave them. All of them come back, or none.
#[utoipa::path(
    post, path = "/v1/grants/{grant}/undo", tag = "grants",
    params(("grant" = String, Path, description = "The id of the revoked grant, such as `g4`.")),
    responses((status = 201, description = "The grants are in force again.", body = Undone))
)]
pub(super) async fn undo(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Named(id): Named<GrantId>,
) -> Result<(StatusCode, Json<Undone>), Problem> {
    let grant_ids = undo_held(&entrance, person, GrantOrDecisionId::Grant(id)).await?;
    Ok((StatusCode::CREATED, Json(Undone { grant_ids })))
}

/// Undoes a revocation. One that the engine refuses to undo can be tried again in its time.
pub(in crate::v1) async fn undo_held(
    entrance: &Arc<Entrance>,
    Person { caller, admin, by }: Person,
    held: GrantOrDecisionId,
) -> Result<Vec<GrantId>, Problem> {
    let too_late = || Problem::not_found("there is no revocation to undo: it was undone, or is older than 10 seconds");
    let own = &caller.credential().id;
    let remembered = entrance.revocations().take(own, held).ok_or_else(too_late)?;
    let undoing = async move {
        let undone = admin.undo(&remembered.revocation, by).await;
        (remembered, undone)
    };
    let (remembered, undone) = entrance.work(&caller, undoing).await?;
    if undone.is_err() {
        entrance.revocations().put_back(own, remembered);
    }
    Ok(undone?)
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
/// A person sees what ended with the grant.
pub(in crate::v1) fn stored_revocation(events: &[Event], is_person: bool) -> Option<Response> {
    let mut revoked = events.iter().filter_map(|event| {
        let Event::GrantRevoked { grant, .. } = event else { return None };
        Some(grant)
    });
    let grant_id = revoked.next()?.id;
    let also_ended = revoked.filter(|_| is_person).map(|grant| GrantView::of(grant)).collect();
    Some(Json(Revoked { grant_id, also_ended }).into_response())
}
