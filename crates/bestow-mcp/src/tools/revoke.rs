//! `revoke_permission`: the agent ends a grant that it gave, or gives up one that it holds.

use bestow::{grant::GrantId, text::Reason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Acting;
use crate::failure::Failure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RevokePermission {
    /// The id of the grant, such as `g4`.
    #[schemars(with = "String")]
    grant_id: GrantId,
    /// The reason. The holder learns it.
    #[schemars(with = "Option<String>")]
    reason: Option<Reason>,
}

/// A revoked grant.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Revoked {
    #[schemars(with = "String")]
    grant_id: GrantId,
    /// The result as a sentence.
    message: String,
}

/// Revokes a grant.
pub(crate) async fn revoke(acting: Acting, asked: RevokePermission) -> Result<Revoked, Failure> {
    let grant_id = asked.grant_id;
    acting.agent.revoke(grant_id, asked.reason).await?;
    let message = format!("{grant_id} has ended, with every grant that depended on it alone");
    Ok(Revoked { grant_id, message })
}
