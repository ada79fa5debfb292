//! `list_permissions`: what the agent holds, what it gave, and what waits.

use bestow::{AgentId, Kind, agent::Mode, grant::Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Acting;
use crate::{
    failure::Failure,
    view::{GrantView, WaitingView},
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListPermissions {}

/// The agent, and its grants.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// `foreground`, `cron`, `heartbeat`, `subagent`, `system` or `permanent`.
    #[schemars(with = "String")]
    kind: Kind,
    #[schemars(with = "String")]
    mode: Mode,
    working_dir: String,
    /// The grants that you hold.
    grants: Vec<GrantView>,
    /// The grants that you gave to other agents.
    given: Vec<GrantView>,
    /// Your requests that wait for a person.
    waiting: Vec<WaitingView>,
}

/// Lists the grants of the agent.
pub(crate) async fn list(acting: Acting, _: ListPermissions) -> Result<Listed, Failure> {
    let profile = acting.agent.profile()?;
    let (grants, given) = grants_of(&acting)?;
    Ok(Listed {
        agent_id: profile.id.clone(),
        kind: profile.kind,
        mode: profile.mode,
        working_dir: profile.working_dir.as_str().to_owned(),
        grants,
        given,
        waiting: waiting_of(&acting)?,
    })
}

/// Returns the grants that the agent holds, and those that it gave.
pub(crate) fn grants_of(acting: &Acting) -> Result<(Vec<GrantView>, Vec<GrantView>), Failure> {
    let id = acting.agent.id();
    let held = acting.agent.grants()?;
    let given = acting.engine.grants()?;
    let given = given.iter().filter(|grant| matches!(&grant.origin, Origin::Agent { from } if from == id));
    Ok((held.iter().map(|grant| GrantView::of(grant)).collect(), given.map(|grant| GrantView::of(grant)).collect()))
}

/// Returns the requests of the agent that wait, oldest first.
pub(crate) fn waiting_of(acting: &Acting) -> Result<Vec<WaitingView>, Failure> {
    let mut pending = acting.engine.pending()?;
    pending.retain(|pending| pending.request.from == *acting.agent.id());
    pending.sort_by_key(|pending| (pending.request.since, pending.request.id));
    Ok(pending.iter().map(WaitingView::of).collect())
}
