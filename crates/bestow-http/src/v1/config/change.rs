//! A change of the policy file that waits for a person.

use std::sync::Arc;

use axum::{Json, extract::State};
use bestow::{AgentId, Permission, event::HeldChange};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    identity::Entrance,
    problem::Problem,
    v1::{input::Named, sender::Person},
};

/// The change that waits.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WaitingChange {
    /// The change, or null if none waits.
    change: Option<ChangeView>,
}

/// A change of the policy file that gives more than before.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeView {
    number: u64,
    /// The permissions that agents would gain.
    would_gain: Vec<Gain>,
    /// Further changes, one sentence each.
    besides: Vec<Sentence>,
    /// The change as a text for people.
    text: String,
}

/// A permission that an agent would gain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Gain {
    #[schema(value_type = String)]
    agent_id: AgentId,
    #[schema(value_type = String)]
    permission: Permission,
}

/// A change in words.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Sentence {
    /// The agent. Without it, the sentence is about the settings.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<AgentId>,
    text: String,
}

impl ChangeView {
    pub(super) fn of(held: &HeldChange) -> ChangeView {
        let gain = |(agent, permission): &(AgentId, Permission)| Gain {
            agent_id: agent.clone(),
            permission: permission.clone(),
        };
        let sentence =
            |(agent, text): &(Option<AgentId>, Arc<str>)| Sentence { agent_id: agent.clone(), text: text.to_string() };
        ChangeView {
            number: held.change,
            would_gain: held.would_gain.iter().map(gain).collect(),
            besides: held.besides.iter().map(sentence).collect(),
            text: held.to_string(),
        }
    }
}

/// Returns the change of the policy file that waits for a person. An approver sees the part about its owner's agents.
#[utoipa::path(
    get, path = "/v1/config/change", tag = "config",
    responses((status = 200, description = "The change, if one waits.", body = WaitingChange))
)]
pub(super) async fn get(
    State(_): State<Arc<Entrance>>,
    Person { admin, .. }: Person,
) -> Result<Json<WaitingChange>, Problem> {
    Ok(Json(WaitingChange { change: admin.held_change()?.as_ref().map(ChangeView::of) }))
}

/// Approves exactly this change. An approver can approve a change that concerns agents of its owner only.
#[utoipa::path(
    post, path = "/v1/config/change/{number}/agree", tag = "config",
    params(("number" = u64, Path, description = "The number of the change.")),
    responses((status = 200, description = "The change is in force.", body = ChangeView))
)]
pub(super) async fn agree(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, by }: Person,
    Named(number): Named<u64>,
) -> Result<Json<ChangeView>, Problem> {
    let agreed = entrance.work(&caller, async move { admin.agree(number, by).await }).await??;
    Ok(Json(ChangeView::of(&agreed)))
}
