//! The forms in which a connector's bot sees what the engine knows: requests, their ends, and policies.

use std::sync::Arc;

use crate::model::{Access, Event, OwnerId, Permission, Request, Resolution, Timestamp};

use super::message::{
    GuardForAll, GuardUpdated, Operation, PermissionRequest, PermissionResolved, PolicyName, ReasonKind, ToConnector,
};

/// Describes the actions that `allow-always` would allow; `None` if it is not on offer.
fn always(request: &Request) -> Option<String> {
    request.lasting_shape().map(|shape| shape.shown.to_string())
}

impl From<&Request> for PermissionRequest {
    fn from(request: &Request) -> PermissionRequest {
        let (operation, resource) = match (&request.action, request.widest_first().first().copied()) {
            (Some(action), _) => (action.operation.into(), action.resource.as_ref().to_owned()),
            (None, first) => asked_first(first),
        };
        let overrides = request.action.as_ref().is_some_and(|action| action.overrides);
        PermissionRequest {
            run_id: request.run.clone(),
            request_id: request.id,
            code: request.code().to_string(),
            agent_id: request.from.clone(),
            agent_name: request.name.as_ref().map_or(request.from.as_str(), |name| name.as_str()).to_owned(),
            agent_kind: request.kind,
            tool_name: request.action.as_ref().map(|action| action.tool.clone()),
            operation,
            resource,
            details: request.details.as_ref().map(Into::into),
            tier: request.action.as_ref().map(|action| action.tier),
            always: always(request),
            always_text: request.lasting().map(|lasting| lasting.to_string()),
            once_only: request.is_once_only(),
            permissions: request.widest_first().into_iter().cloned().collect(),
            scope: request.scope,
            reason: if overrides { ReasonKind::PolicyDenyOverride } else { ReasonKind::PolicyAsk },
            reason_text: request.reason.clone(),
            prompt: request.to_string(),
            expires_at: request.deadline,
            ts: request.since,
        }
    }
}

/// Returns the operation and the resource of the first requested permission.
fn asked_first(first: Option<&Permission>) -> (Operation, String) {
    match first {
        Some(Permission::Path(Access::Read, path)) => (Operation::Read, path.to_string()),
        Some(Permission::Path(Access::Write, path)) => (Operation::Write, path.to_string()),
        Some(Permission::Tool(name)) => (Operation::Tool, name.to_string()),
        Some(Permission::Network) => (Operation::Network, Permission::Network.to_string()),
        // A request that is shown names at least one permission. This arm only occurs for `@events`.
        Some(Permission::Events) | None => (Operation::Events, Permission::Events.to_string()),
    }
}

impl From<&Resolution> for PermissionResolved {
    fn from(resolution: &Resolution) -> PermissionResolved {
        PermissionResolved {
            permission_request_id: resolution.request,
            code: resolution.request.code().to_string(),
            agent_id: resolution.from.clone(),
            outcome: resolution.outcome,
            granted: resolution.granted.clone(),
            refused: resolution.refused.clone(),
            scope: resolution.scope,
            text: resolution.to_string(),
            ts: resolution.at,
        }
    }
}

impl ToConnector {
    /// Returns the message about a change of tool policies in a run of `owner`; `None` for every other event.
    pub fn of_policy(event: &Event, owner: &OwnerId, ts: Timestamp) -> Option<ToConnector> {
        let names_of = |whose: &OwnerId, policies: &[Arc<str>]| (whose == owner).then(|| names(policies));
        if let Event::PolicyForAll { owner: whose, run, policies, .. } = event {
            let policies = names_of(whose, policies)?;
            return Some(ToConnector::PolicyForAll(GuardForAll { run_id: run.clone(), policies, ts }));
        }
        let Event::PolicyUpdated { owner: whose, run, tool, policies, .. } = event else { return None };
        let policies = names_of(whose, policies)?;
        Some(ToConnector::PolicyUpdated(GuardUpdated { run_id: run.clone(), tool: tool.clone(), policies, ts }))
    }
}

/// Returns policies by their names.
pub(super) fn names(policies: &[Arc<str>]) -> Vec<PolicyName> {
    policies.iter().map(|name| PolicyName { name: name.as_ref().to_owned() }).collect()
}
