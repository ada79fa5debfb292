//! `POST /v1/explain`: the reasons of the decision that an action would get now.

use std::sync::Arc;

use axum::{Json, extract::State};
use bestow::{
    decision::{Explanation, Stage},
    event::camel_case,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    authorize::{ActionBody, AuthorizeResult},
    input::Sent,
    sender::AgentSender,
};
use crate::{identity::Entrance, problem::Problem};

/// An explained decision. Nothing was decided, asked or consumed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExplainResult {
    /// The decision that the action would get now.
    decision: AuthorizeResult,
    /// The deciding stage.
    #[schema(value_type = String)]
    decided_by: Stage,
    /// The changes that would together allow the action. It is empty if the action is allowed.
    ways_out: Vec<String>,
    /// The result of each stage, the uses of the action, and the provenance of the permissions.
    #[schema(value_type = Object)]
    details: Value,
    /// The explanation as a text for people.
    text: String,
}

impl ExplainResult {
    pub(super) fn of(explanation: &Explanation) -> ExplainResult {
        let details = json!({
            "stages": explanation.walk,
            "uses": explanation.uses,
            "held_by": explanation.held_by,
            "rule_refs": explanation.decision.rule_refs,
        });
        ExplainResult {
            decision: AuthorizeResult::of(&explanation.decision),
            decided_by: explanation.decided_by,
            ways_out: explanation.ways_out.clone(),
            details: camel_case(details),
            text: explanation.to_string(),
        }
    }
}

/// Explains the decision that an action of the agent would get now.
#[utoipa::path(
    post, path = "/v1/explain", tag = "agent", request_body = ActionBody,
    responses((status = 200, description = "The explanation.", body = ExplainResult))
)]
pub(super) async fn explain(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { caller, agent }: AgentSender,
    Sent(body): Sent<ActionBody>,
) -> Result<Json<ExplainResult>, Problem> {
    let action = body.action()?;
    let explained = entrance.work(&caller, async move { agent.explain(&action) }).await??;
    Ok(Json(ExplainResult::of(&explained)))
}
