//! `request_permission` and `await_permission`: a request of the agent, and its outcome.

use std::time::Duration;

use bestow::{
    Permission, PermissionRequest,
    decision::Refusal,
    grant::{InvalidPermissions, Permissions, Scope},
    request::{RequestId, Ticket},
    text::Reason,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Acting;
use crate::failure::Failure;

/// The longest wait of one call. Clients commonly give up after 60 seconds.
const LONGEST: u64 = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestPermission {
    /// The permissions that are needed together, such as `@write:/work/site` or `@network`. At most 32.
    #[schemars(with = "Vec<String>", length(min = 1, max = 32))]
    permissions: Vec<Permission>,
    /// The reason, in one sentence, for the person who decides.
    #[schemars(with = "String", length(min = 1))]
    reason: Reason,
    /// The longest duration that you want: `once`, `session`, `always` or `until TIME`. Without it, the person decides.
    #[schemars(with = "Option<String>")]
    scope: Option<Scope>,
    /// The time to wait for the decision, in seconds, at most 50. Without it, the call returns at once.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50))]
    pub(crate) wait_seconds: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AwaitPermission {
    /// The `request_id` that `request_permission` returned.
    request_id: String,
    /// The time to wait, in seconds, at most 50. Without it, the call returns at once.
    #[serde(default)]
    #[schemars(range(min = 0, max = 50))]
    pub(crate) wait_seconds: u64,
}

/// Asks for permissions, and returns the ticket of the request.
pub(crate) async fn ask(acting: Acting, asked: RequestPermission) -> Result<(Ticket, Duration), Failure> {
    let patience = patience(asked.wait_seconds)?;
    let request = PermissionRequest::new(several(asked.permissions)?, asked.reason);
    let request = asked.scope.map_or(request.clone(), |scope| request.at_most(scope));
    Ok((acting.agent.request(request).await?, patience))
}

/// Returns the ticket of a request of the agent.
pub(crate) async fn find(acting: Acting, asked: AwaitPermission) -> Result<(Ticket, Duration), Failure> {
    let patience = patience(asked.wait_seconds)?;
    let unknown = || Failure::no_request(&asked.request_id);
    let id: RequestId = asked.request_id.parse().map_err(|_| unknown())?;
    match acting.agent.ticket(id) {
        Ok(ticket) => Ok((ticket, patience)),
        Err(bestow::Error::Refused(Refusal::NotYours(_) | Refusal::UnknownRequest(_))) => Err(unknown()),
        Err(why) => Err(why.into()),
    }
}

fn patience(seconds: u64) -> Result<Duration, Failure> {
    if seconds <= LONGEST {
        return Ok(Duration::from_secs(seconds));
    }
    Err(Failure::new(format!("`wait_seconds`: it is at most {LONGEST}: call `await_permission` again to wait longer")))
}

/// Returns permissions as a list that is neither empty nor too long.
pub(super) fn several(permissions: Vec<Permission>) -> Result<Permissions, Failure> {
    permissions.try_into().map_err(|why: InvalidPermissions| Failure::new(format!("`permissions`: {why}")))
}
