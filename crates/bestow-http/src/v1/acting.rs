//! The use of a permission, and messages.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use bestow::{AgentId, Permission, user::Delivery};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    input::Sent,
    sender::{AgentSender, Person, Sender},
};
use crate::{identity::Entrance, problem::Problem};

/// The longest message, in bytes.
const LONGEST: usize = 64 << 10;

/// Returns the path of messages.
pub(super) fn messages() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(send))
}

/// A permission to use.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UseBody {
    /// The permission.
    #[schema(value_type = String, example = "@network")]
    permission: Permission,
}

/// A permission that was used.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Used {
    #[schema(value_type = String)]
    permission: Permission,
}

/// Uses a permission now. The use is an action: it is decided and recorded. A permission for one use is consumed.
#[utoipa::path(
    post, path = "/v1/use", tag = "agent", request_body = UseBody,
    responses((status = 200, description = "The agent may use it now, once.", body = Used))
)]
pub(super) async fn spend(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Sent(UseBody { permission }): Sent<UseBody>,
) -> Result<Json<Used>, Problem> {
    let wanted = permission.clone();
    entrance.work(&caller, async move { agent.spend(&wanted).await }).await??;
    Ok(Json(Used { permission }))
}

/// A message. It carries no permission.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MessageBody {
    /// The agent that receives it. Without it, an agent writes to its own user.
    #[schema(value_type = Option<String>)]
    agent_id: Option<AgentId>,
    /// The text, at most 64 KiB.
    text: String,
}

/// Sends a message: of an agent to another agent of its owner or to its own user, or of a person to an agent.
#[utoipa::path(
    post, path = "/v1/messages", tag = "messages", request_body = MessageBody,
    responses((status = 204, description = "The message is delivered."))
)]
async fn send(
    State(entrance): State<Arc<Entrance>>,
    sender: Sender,
    Sent(MessageBody { agent_id, text }): Sent<MessageBody>,
) -> Result<StatusCode, Problem> {
    if text.len() > LONGEST {
        let detail = format!("`text`: a message has at most {LONGEST} bytes");
        return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail).about(json!({ "field": "text" })));
    }
    match (sender, agent_id) {
        (Sender::Agent(AgentSender { agent, .. }), Some(to)) => agent.message(&to, &text).await?,
        (Sender::Agent(AgentSender { agent, .. }), None) => match agent.say(&text).await? {
            Delivery::Shown => {}
            Delivery::ByNobody => {
                let detail = "no user of this agent is connected: name another agent in `agentId`";
                return Err(Problem::new(StatusCode::CONFLICT, "no_user", detail));
            }
        },
        (Sender::Person(Person { admin, .. }), Some(to)) => {
            admin.profile(&to)?;
            entrance.engine().message(&to, None, &text).await?;
        }
        (Sender::Person(_), None) => {
            let problem = Problem::new(StatusCode::BAD_REQUEST, "invalid_body", "`agentId`: it is missing");
            return Err(problem.about(json!({ "field": "agentId" })));
        }
    }
    Ok(StatusCode::NO_CONTENT)
}
