//! Saved decisions: a person sees and revokes them.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{Event, control::GrantOrDecisionId, decision::SavedDecisionId};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    grants::{Because, OfAgent, undo_held},
    input::{Asked, Named},
    sender::Person,
    view::SavedDecisionView,
};
use crate::{identity::Entrance, problem::Problem};

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(revoke)).routes(routes!(undo))
}

/// The saved decisions that are valid now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SavedDecisionList {
    saved_decisions: Vec<SavedDecisionView>,
}

/// Lists the decisions of people about actions that are saved.
#[utoipa::path(
    get, path = "/v1/decisions", tag = "decisions", params(OfAgent),
    responses((status = 200, description = "The saved decisions.", body = SavedDecisionList))
)]
async fn list(
    State(_): State<Arc<Entrance>>,
    Person { admin, .. }: Person,
    Asked(OfAgent { agent_id }): Asked<OfAgent>,
) -> Result<Json<SavedDecisionList>, Problem> {
    let saved = admin.saved_decisions(agent_id.as_ref())?;
    Ok(Json(SavedDecisionList { saved_decisions: saved.iter().map(|saved| SavedDecisionView::of(saved)).collect() }))
}

/// A revoked decision.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RevokedDecision {
    #[schema(value_type = String)]
    saved_decision_id: SavedDecisionId,
}

/// Revokes a saved decision. Permissions that an approval gave besides are grants of their own.
#[utoipa::path(
    delete, path = "/v1/decisions/{decision}", tag = "decisions",
    params(("decision" = String, Path, description = "The id of the saved decision, such as `r2`."), Because),
    responses((status = 200, description = "The decision is not valid any more.", body = RevokedDecision))
)]
async fn revoke(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, by }: Person,
    Named(id): Named<SavedDecisionId>,
    Asked(Because { reason }): Asked<Because>,
) -> Result<Json<RevokedDecision>, Problem> {
    let held = GrantOrDecisionId::Ruling(id);
    let revocation = entrance.work(&caller, async move { admin.revoke(held, reason, by).await }).await??;
    entrance.revocations().remember(&caller.credential().id, held, revocation);
    Ok(Json(RevokedDecision { saved_decision_id: id }))
}

/// Undoes the revocation of a saved decision of the last ten seconds, by the same credential and once. An equal
/// decision of this person is valid then, with an id of its own.
#[utoipa::path(
    post, path = "/v1/decisions/{decision}/undo", tag = "decisions",
    params(("decision" = String, Path, description = "The id of the revoked decision, such as `r2`.")),
    responses((status = 204, description = "An equal decision is valid."))
)]
async fn undo(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Named(id): Named<SavedDecisionId>,
) -> Result<StatusCode, Problem> {
    undo_held(&entrance, person, GrantOrDecisionId::Ruling(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_revocation(events: &[Event]) -> Option<Response> {
    let ended = |event: &Event| if let Event::RulingEnded { ruling, .. } = event { Some(ruling.id) } else { None };
    let saved_decision_id = events.iter().find_map(ended)?;
    Some(Json(RevokedDecision { saved_decision_id }).into_response())
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_undo(events: &[Event]) -> Option<Response> {
    let is_made = events.iter().any(|event| matches!(event, Event::RulingMade { .. }));
    is_made.then(|| StatusCode::NO_CONTENT.into_response())
}
