//! Grants and requests as a model reads them. The native HTTP API has the same words in camel case.

use bestow::{
    AgentId, Outcome, Permission,
    grant::{Grant, GrantId, Hold, Origin, Scope},
    request::{Pending, RequestId, Resolution, Ticket},
};
use schemars::JsonSchema;
use serde::Serialize;

/// A grant: a permission of one agent, and its source.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GrantView {
    /// The id, such as `g4`.
    #[schemars(with = "String")]
    grant_id: GrantId,
    /// The agent that holds the permission.
    #[schemars(with = "String")]
    agent_id: AgentId,
    #[schemars(with = "String")]
    permission: Permission,
    /// `use`, or `pass_on` for passing on only.
    #[schemars(with = "String")]
    hold: Hold,
    /// The giver: `agent`, `file`, `operator` or `person`.
    origin: &'static str,
    /// `once`, `session`, `always` or `until TIME`.
    #[schemars(with = "String")]
    scope: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The grant as a sentence.
    text: String,
}

impl GrantView {
    pub(crate) fn of(grant: &Grant) -> GrantView {
        GrantView {
            grant_id: grant.id,
            agent_id: grant.to.clone(),
            permission: grant.pinned.permission.clone(),
            hold: grant.hold,
            origin: match &grant.origin {
                Origin::Agent { .. } => "agent",
                Origin::Config(_) => "file",
                Origin::Operator => "operator",
                Origin::Person { .. } => "person",
            },
            scope: grant.scope,
            reason: grant.reason.as_ref().map(ToString::to_string),
            text: grant.to_string(),
        }
    }
}

/// A request of the agent, and its state.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RequestState {
    #[schemars(with = "String")]
    request_id: RequestId,
    /// The short code, for people.
    code: String,
    status: Status,
    /// The permissions that were granted.
    #[schemars(with = "Vec<String>")]
    granted: Vec<Permission>,
    /// The permissions that were refused.
    #[schemars(with = "Vec<String>")]
    refused: Vec<Permission>,
    /// The scope of what was granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    scope: Option<Scope>,
    /// The cause of the end: the person and the means, a timeout, and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    decider: Option<String>,
    /// The remark of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// The state as a sentence.
    message: String,
}

/// The state of a request: `granted` gives all permissions, `denied` those that `granted` lists, and no other one gives
/// any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    Granted,
    Denied,
    Expired,
    Cancelled,
    Unavailable,
}

/// The sentence about a request that waits.
const PENDING: &str = "The request waits for a person. Continue with work that does not need it, and call \
                       `await_permission` with this `request_id` later.";

impl RequestState {
    pub(crate) fn of(ticket: &Ticket) -> RequestState {
        match ticket.poll() {
            Some(how) => RequestState::ended(&how),
            None => RequestState {
                request_id: ticket.id(),
                code: ticket.code().to_string(),
                status: Status::Pending,
                granted: Vec::new(),
                refused: Vec::new(),
                scope: None,
                decider: None,
                feedback: None,
                message: PENDING.to_owned(),
            },
        }
    }

    fn ended(how: &Resolution) -> RequestState {
        RequestState {
            request_id: how.request,
            code: how.request.code().to_string(),
            status: match how.outcome {
                Outcome::Granted => Status::Granted,
                Outcome::Denied => Status::Denied,
                Outcome::Expired => Status::Expired,
                Outcome::Cancelled => Status::Cancelled,
                Outcome::Unavailable => Status::Unavailable,
            },
            granted: how.granted.clone(),
            refused: how.refused.clone(),
            scope: how.scope,
            decider: Some(how.decider.to_string()),
            feedback: how.feedback.as_ref().map(ToString::to_string),
            message: how.to_string(),
        }
    }
}

/// A request that waits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaitingView {
    #[schemars(with = "String")]
    request_id: RequestId,
    /// The short code, for people.
    code: String,
    /// The permissions that an approval gives.
    #[schemars(with = "Vec<String>")]
    permissions: Vec<Permission>,
    reason: String,
    /// The place where it waits.
    route: String,
    /// The question as a person reads it.
    text: String,
}

impl WaitingView {
    pub(crate) fn of(pending: &Pending) -> WaitingView {
        let request = &pending.request;
        WaitingView {
            request_id: request.id,
            code: request.code().to_string(),
            permissions: request.permissions().cloned().collect(),
            reason: request.reason.to_string(),
            route: pending.route.to_string(),
            text: request.to_string(),
        }
    }
}
