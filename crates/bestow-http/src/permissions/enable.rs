//! `POST /api/permissions/enable`: a person enables one call of an agent, even if it is destructive.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::StatusCode,
};
use bestow::{Action, AgentId, text::Reason, tool::ToolName};
use serde_json::{Value, json};

use crate::{body::Fields, identity::Entrance, problem::Problem};

/// A call to enable.
struct Wanted {
    agent: AgentId,
    tool: ToolName,
    input: Value,
    reason: Reason,
}

impl Wanted {
    fn read(mut fields: Fields) -> Result<Wanted, Problem> {
        let bad = |name: &str, why: &dyn std::fmt::Display| {
            Problem::new(StatusCode::BAD_REQUEST, "invalid_body", format!("`{name}` is not valid: {why}"))
        };
        let wanted = Wanted {
            agent: fields.required("agentId")?.parse().map_err(|why| bad("agentId", &why))?,
            tool: fields.required("toolName")?.parse().map_err(|why| bad("toolName", &why))?,
            input: fields.object("toolInput")?,
            reason: fields.required("reason")?.parse().map_err(|why| bad("reason", &why))?,
        };
        fields.nothing_else()?;
        Ok(wanted)
    }
}

/// Enables exactly this call of this agent, once.
pub(super) async fn enable(State(entrance): State<Arc<Entrance>>, request: Request) -> Result<Json<Value>, Problem> {
    let (parts, body) = request.into_parts();
    let caller = entrance.caller(&parts)?;
    let approver = caller.approver()?;
    let Wanted { agent, tool, input, reason } = Wanted::read(entrance.object(&caller, &parts.headers, body).await?)?;
    let action = Action::tool(tool, input.clone()).with_details(input);
    let saved = entrance.work(&caller, async move { approver.enable(agent, &action, reason).await }).await??;
    Ok(Json(json!({ "success": true, "savedDecision": saved })))
}
