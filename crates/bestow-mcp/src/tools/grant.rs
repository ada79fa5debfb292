//! `grant_permission`: the agent passes permissions on.

use bestow::{
    AgentId, Permission,
    grant::{GrantId, Scope},
    text::Reason,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acting, request::several};
use crate::failure::Failure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantPermission {
    /// The id of the agent that receives them.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// The permissions, at most 32. All of them are given, or none.
    #[schemars(with = "Vec<String>", length(min = 1, max = 32))]
    permissions: Vec<Permission>,
    /// The reason. The other agent reads it as well.
    #[schemars(with = "String", length(min = 1))]
    reason: Reason,
    /// The longest duration for the other agent: `once`, `session`, `always` (the default) or `until TIME`.
    #[schemars(with = "Option<String>")]
    scope: Option<Scope>,
}

/// The new grants.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Granted {
    /// The ids, in the order of the permissions. `revoke_permission` ends a grant.
    #[schemars(with = "Vec<String>")]
    grant_ids: Vec<GrantId>,
    /// The result as a sentence.
    message: String,
}

/// Passes permissions of the agent on.
pub(crate) async fn grant(acting: Acting, asked: GrantPermission) -> Result<Granted, Failure> {
    let (permissions, scope) = (several(asked.permissions)?, asked.scope.unwrap_or(Scope::Always));
    let message = format!("{} now holds {permissions}", asked.agent_id);
    let grant_ids = acting.agent.grant_for(asked.agent_id, permissions, scope, asked.reason).await?;
    Ok(Granted { grant_ids, message })
}
