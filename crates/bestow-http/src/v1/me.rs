//! `GET /v1/agents/me`: the agent of the credential.

use std::sync::Arc;

use axum::{Json, extract::State};
use bestow::event::camel_case;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    sender::AgentSender,
    view::{AgentView, GrantView, SavedDecisionView},
};
use crate::{identity::Entrance, problem::Problem};

/// The agent of the credential, and everything that it holds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Me {
    agent: AgentView,
    /// The mode, the rules, the policies of the run, and the setting that allows questions.
    #[schema(value_type = Object)]
    state: Value,
    /// The grants that are valid now.
    grants: Vec<GrantView>,
    /// The decisions of people about actions of the agent that are valid now.
    saved_decisions: Vec<SavedDecisionView>,
    /// The state as a text for people.
    text: String,
}

/// Returns the agent of the credential.
#[utoipa::path(
    get, path = "/v1/agents/me", tag = "agent",
    responses((status = 200, description = "The agent, its state, and what it holds.", body = Me))
)]
pub(super) async fn me(
    State(entrance): State<Arc<Entrance>>,
    AgentSender { agent, .. }: AgentSender,
) -> Result<Json<Me>, Problem> {
    let state = agent.permission_state()?;
    Ok(Json(Me {
        agent: AgentView::of(&*agent.profile()?, entrance.engine()),
        grants: agent.grants()?.iter().map(|grant| GrantView::of(grant)).collect(),
        saved_decisions: agent.rulings()?.iter().map(|saved| SavedDecisionView::of(saved)).collect(),
        text: state.to_string(),
        state: camel_case(json!(state)),
    }))
}
