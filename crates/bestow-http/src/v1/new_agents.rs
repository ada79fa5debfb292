//! The creation and the end of agents.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bestow::{
    Agent, AgentId, Engine, Error, Event, InitialGrants, Kind, Permission, Profile,
    control::Admin,
    decision::Refusal,
    path::SanitizedPath,
    text::{Name, Reason},
    user::OwnerId,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    input::{Named, Sent},
    sender::{AgentSender, Creator, Person},
    view::AgentView,
};
use crate::{credentials::Role, identity::Entrance, problem::Problem};

/// The most permissions with which an agent begins.
const MOST: usize = 1_000;

/// Returns the paths of this resource.
pub(super) fn resource() -> OpenApiRouter<Arc<Entrance>> {
    OpenApiRouter::new().routes(routes!(create)).routes(routes!(retire))
}

/// An agent to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewAgent {
    /// The id.
    #[schema(value_type = String)]
    agent_id: AgentId,
    /// The owner. An operator names it. A child belongs to the owner of its creator.
    #[schema(value_type = Option<String>)]
    owner_id: Option<OwnerId>,
    /// The name for people.
    #[schema(value_type = Option<String>)]
    name: Option<Name>,
    /// The kind: `subagent` (the default) or `permanent`, and for an operator also `foreground`, `system`, `cron` or
    /// `heartbeat`.
    #[schema(value_type = Option<String>)]
    kind: Option<Kind>,
    /// The directory in which its commands start, as an absolute path. Without it, that of the creator.
    #[schema(value_type = Option<String>)]
    working_dir: Option<SanitizedPath>,
    /// The permissions with which it begins, at most 1,000. All of them are given, or the agent is not created. A child
    /// gets what its creator can pass on.
    #[serde(default)]
    #[schema(value_type = Vec<String>, max_items = 1_000)]
    permissions: Vec<Permission>,
    /// The reason, for the records. An agent states it.
    #[schema(value_type = Option<String>)]
    reason: Option<Reason>,
}

impl NewAgent {
    /// Returns the profile with the given defaults.
    fn profile(&self, owner: OwnerId, working_dir: SanitizedPath) -> Profile {
        let kind = self.kind.unwrap_or(Kind::Subagent);
        let profile = Profile::new(self.agent_id.clone(), owner, kind, working_dir);
        self.name.clone().into_iter().fold(profile, Profile::named)
    }

    /// Returns the work that creates a child of `creator`.
    fn child_of(
        self,
        creator: Agent,
    ) -> Result<impl Future<Output = Result<Arc<Profile>, Error>> + Send + use<>, Problem> {
        let own = creator.profile()?;
        if self.owner_id.as_ref().is_some_and(|owner| *owner != own.owner) {
            return Err(Problem::forbidden("a child belongs to the owner of its creator: leave `ownerId` out"));
        }
        // The ids of all owners share one space. Below its own id, a client neither learns nor takes one of another
        // owner.
        if !self.agent_id.is_below(creator.id()) {
            let (agent, creator) = (self.agent_id, creator.id().clone());
            return Err(Error::Refused(Refusal::NameOfOther { agent, creator }).into());
        }
        let reason = self.reason.clone().ok_or_else(|| missing("reason"))?;
        let directory = self.working_dir.clone().unwrap_or_else(|| own.working_dir.clone());
        let (profile, permissions) = (self.profile(own.owner.clone(), directory), self.permissions);
        Ok(async move { creator.create(profile, &permissions, reason).await?.profile() })
    }

    /// Returns the work that adds the agent by the order of an operator.
    fn registered_by(
        self,
        admin: Admin,
    ) -> Result<impl Future<Output = Result<Arc<Profile>, Error>> + Send + use<>, Problem> {
        if self.reason.is_some() {
            return Err(invalid("reason", "an operator states no reason: it is for children"));
        }
        let owner = self.owner_id.clone().ok_or_else(|| missing("ownerId"))?;
        let directory = self.working_dir.clone().ok_or_else(|| missing("workingDir"))?;
        let (profile, grants) = (self.profile(owner, directory), InitialGrants::of(self.permissions));
        Ok(async move { admin.register(profile, grants).await })
    }
}

fn missing(field: &str) -> Problem {
    invalid(field, "it is missing")
}

fn invalid(field: &str, why: &str) -> Problem {
    let detail = format!("`{field}`: {why}");
    Problem::new(StatusCode::BAD_REQUEST, "invalid_body", detail).about(json!({ "field": field }))
}

/// Creates an agent. An agent creates a child, with only what it can pass on. An operator adds any agent.
#[utoipa::path(
    post, path = "/v1/agents", tag = "agents", request_body = NewAgent,
    responses((status = 201, description = "The agent.", body = AgentView))
)]
async fn create(
    State(entrance): State<Arc<Entrance>>,
    creator: Creator,
    Sent(new): Sent<NewAgent>,
) -> Result<(StatusCode, Json<AgentView>), Problem> {
    if new.permissions.len() > MOST {
        return Err(invalid("permissions", "an agent begins with at most 1000 permissions"));
    }
    let profile = match creator {
        Creator::Agent(AgentSender { caller, agent }) => entrance.work(&caller, new.child_of(agent)?).await??,
        Creator::Operator(Person { caller, admin, .. }) => entrance.work(&caller, new.registered_by(admin)?).await??,
    };
    Ok((StatusCode::CREATED, Json(AgentView::of(&profile, entrance.engine()))))
}

/// An agent that is gone.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Retired {
    #[schema(value_type = String)]
    agent_id: AgentId,
}

/// Retires an agent: everything that it held, gave and asked ends with it. It is for operators. An agent of the policy
/// file ends with its section there.
#[utoipa::path(
    delete, path = "/v1/agents/{agent}", tag = "agents",
    params(("agent" = String, Path, description = "The id of the agent.")),
    responses((status = 200, description = "The agent is gone.", body = Retired))
)]
async fn retire(
    State(entrance): State<Arc<Entrance>>,
    Person { caller, admin, .. }: Person,
    Named(agent): Named<AgentId>,
) -> Result<Json<Retired>, Problem> {
    if caller.credential().role != Role::Operator {
        return Err(Problem::forbidden("only an operator retires agents"));
    }
    let id = agent.clone();
    entrance.work(&caller, async move { admin.retire(&id).await }).await??;
    Ok(Json(Retired { agent_id: agent }))
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_agent(events: &[Event], engine: &Engine) -> Option<Response> {
    let profile = events.iter().find_map(|event| {
        let Event::AgentRegistered { profile, .. } = event else { return None };
        Some(profile)
    })?;
    Some((StatusCode::CREATED, Json(AgentView::of(profile, engine))).into_response())
}

/// Returns the answer to a write that was carried out before, from its events; none if they do not contain it.
pub(super) fn stored_retirement(events: &[Event]) -> Option<Response> {
    let agent_id = events.iter().find_map(|event| {
        let Event::AgentRetired { agent } = event else { return None };
        Some(agent.clone())
    })?;
    Some(Json(Retired { agent_id }).into_response())
}
