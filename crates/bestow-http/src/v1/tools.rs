//! The declarations of tools by people: the effects of tools that the engine does not know.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use bestow::{
    Event,
    event::camel_case,
    tool::{ToolName, Tools},
    user::ApproverId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    input::{Asked, Sent},
    owner::OfOwner,
    sender::Person,
};
use crate::{identity::Entrance, problem::Problem};

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(list, declare))
}

/// The tools that people declared for the agents of an owner.
#[derive(Debug, Serialize, ToSchema)]
struct ToolDeclarations {
    declarations: Vec<PersonsTools>,
}

/// The tools that one person declared.
#[derive(Debug, Serialize, ToSchema)]
struct PersonsTools {
    #[schema(value_type = String)]
    by: ApproverId,
    #[schema(value_type = Vec<Object>)]
    tools: Value,
}

/// Lists the tools that people declared.
#[utoipa::path(
    get, path = "/v1/tools", tag = "tools", params(OfOwner),
    responses((status = 200, description = "The declarations, by person.", body = ToolDeclarations))
)]
async fn list(
    State(_): State<Arc<Entrance>>,
    person: Person,
    Asked(owner): Asked<OfOwner>,
) -> Result<Json<ToolDeclarations>, Problem> {
    let all = owner.approver(&person)?.declarations()?.into_iter();
    let declarations = all.map(|(by, tools)| PersonsTools { by, tools: camel_case(json!(*tools)) }).collect();
    Ok(Json(ToolDeclarations { declarations }))
}

/// Tools to declare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct DeclareBody {
    /// The tools. They replace those that this person declared before.
    #[schema(value_type = Vec<Object>)]
    tools: Tools,
}

/// The tools of a person from now on.
#[derive(Debug, Serialize, ToSchema)]
struct DeclaredTools {
    #[schema(value_type = Vec<String>)]
    tools: Vec<ToolName>,
}

/// Declares tools for the agents of the owner. A declaration grants no permission and hides nothing.
#[utoipa::path(
    put, path = "/v1/tools", tag = "tools", request_body = DeclareBody, params(OfOwner),
    responses((status = 200, description = "The names of the tools.", body = DeclaredTools))
)]
async fn declare(
    State(entrance): State<Arc<Entrance>>,
    person: Person,
    Asked(owner): Asked<OfOwner>,
    Sent(DeclareBody { tools }): Sent<DeclareBody>,
) -> Result<Json<DeclaredTools>, Problem> {
    let approver = owner.approver(&person)?;
    let names = tools.iter().map(|tool| tool.name().clone()).collect();
    entrance.work(&person.caller, async move { approver.declare(tools).await }).await??;
    Ok(Json(DeclaredTools { tools: names }))
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_declaration(events: &[Event]) -> Option<Response> {
    let declared = events.iter().find_map(|event| {
        let Event::DeclarationsChanged { tools, .. } = event else { return None };
        Some(tools)
    })?;
    let tools = declared.iter().map(|tool| tool.name().clone()).collect();
    Some(Json(DeclaredTools { tools }).into_response())
}
