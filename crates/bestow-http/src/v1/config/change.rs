//! A change of the policy file that waits for a person.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use bestow::{AgentId, Event, Permission, event::HeldChange};
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

impl Gain {
    fn of((agent, permission): &(AgentId, Permission)) -> Gain {
        Gain { agent_id: agent.clone(), permission: permission.clone() }
    }
}

impl Sentence {
    fn of((agent, text): &(Option<AgentId>, Arc<str>)) -> Sentence {
        Sentence { agent_id: agent.clone(), text: text.to_string() }
    }
}

impl ChangeView {
    pub(super) fn of(held: &HeldChange) -> ChangeView {
        ChangeView {
            number: held.change,
            would_gain: held.would_gain.iter().map(Gain::of).collect(),
            besides: held.besides.iter().map(Sentence::of).collect(),
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

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(in crate::v1) fn stored_agreement(events: &[Event], number: u64) -> Option<Response> {
    let agreed = events.iter().find(|event| matches!(event, Event::ConfigReloaded { agreed: Some(_), .. }))?;
    let Event::ConfigReloaded { gained, widened, .. } = agreed else { return None };
    let view = ChangeView {
        number,
        would_gain: gained.iter().map(Gain::of).collect(),
        besides: widened.iter().map(Sentence::of).collect(),
        text: agreed.to_string(),
    };
    Some(Json(view).into_response())
}
