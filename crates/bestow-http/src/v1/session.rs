//! `/v1/session`: the session of a person's browser.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use bestow::{
    AgentId,
    event::Timestamp,
    user::{ApproverId, OwnerId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{input::understood, sender::Sender};
use crate::{
    credentials::{Credential, CredentialId, Role},
    identity::Entrance,
    problem::Problem,
};

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(open, get, end))
}

/// The secret of a link, as `bestow dashboard` prints it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LinkBody {
    link: String,
}

/// A new session.
#[derive(Debug, Serialize, ToSchema)]
struct OpenedSession {
    /// The token of the session. The client sends it as `Authorization: Bearer TOKEN`.
    token: String,
    session: SessionView,
}

/// The credential of a sender.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionView {
    #[schema(value_type = String)]
    credential_id: CredentialId,
    role: SessionRole,
    /// The agent, if the credential is an agent's.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<AgentId>,
    /// The owner, if the credential is an approver's.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_id: Option<OwnerId>,
    /// The name of the approver in records.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<ApproverId>,
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// The version of the server.
    version: &'static str,
}

/// The role of a credential.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SessionRole {
    Agent,
    Approver,
    Operator,
}

impl SessionView {
    fn of(credential: &Credential) -> SessionView {
        let (role, agent_id, owner_id, by) = match credential.role.clone() {
            Role::Agent { agent } => (SessionRole::Agent, Some(agent), None, None),
            Role::Approver { owner, by } => (SessionRole::Approver, None, Some(owner), Some(by)),
            Role::Operator => (SessionRole::Operator, None, None, None),
        };
        SessionView {
            credential_id: credential.id.clone(),
            role,
            agent_id,
            owner_id,
            by,
            expires_at: credential.expires_at,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Exchanges the secret of a link for a session. A link works once, within five minutes. It needs no credential.
#[utoipa::path(
    post, path = "/v1/session", tag = "session", request_body = LinkBody, security(()),
    responses((status = 200, description = "The session has begun.", body = OpenedSession))
)]
async fn open(
    State(entrance): State<Arc<Entrance>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<OpenedSession>, Problem> {
    let LinkBody { link } = understood(Value::Object(entrance.object_of_anybody(&headers, body).await?))?;
    let issued = entrance.open_session(link).await?;
    Ok(Json(OpenedSession { token: issued.token, session: SessionView::of(&issued.credential) }))
}

/// Returns the credential of the sender.
#[utoipa::path(
    get, path = "/v1/session", tag = "session",
    responses((status = 200, description = "The credential.", body = SessionView))
)]
async fn get(sender: Sender) -> Json<SessionView> {
    Json(SessionView::of(sender.caller().credential()))
}

/// Ends the session: the credential is revoked, and refused from now on.
#[utoipa::path(
    delete, path = "/v1/session", tag = "session",
    responses((status = 204, description = "The session has ended."))
)]
async fn end(State(entrance): State<Arc<Entrance>>, sender: Sender) -> Result<StatusCode, Problem> {
    entrance.end_session(sender.caller()).await?;
    Ok(StatusCode::NO_CONTENT)
}
