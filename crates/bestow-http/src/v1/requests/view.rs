//! A request as this dialect shows it.

use bestow::{
    AgentId, Outcome, Permission,
    control::Admin,
    event::Timestamp,
    grant::Scope,
    request::{Pending, RequestId, Resolution, Ticket},
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{parts::Parts, question::Question};
use crate::shown;

/// A request, and its state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::v1) struct RequestState {
    #[schema(value_type = String)]
    id: RequestId,
    /// The short code, for people.
    code: String,
    status: Status,
    /// The question. It is there while the request waits, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Question>,
    /// The end of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<ResolutionView>,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    Granted,
    Denied,
    Expired,
    Cancelled,
    /// No person could answer, or the engine ended.
    Unavailable,
}

impl Status {
    fn of(outcome: Outcome) -> Status {
        match outcome {
            Outcome::Granted => Status::Granted,
            Outcome::Denied => Status::Denied,
            Outcome::Expired => Status::Expired,
            Outcome::Cancelled => Status::Cancelled,
            Outcome::Unavailable => Status::Unavailable,
        }
    }
}

/// The end of a request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResolutionView {
    #[schema(value_type = String)]
    agent_id: AgentId,
    #[schema(value_type = Vec<String>)]
    granted: Vec<Permission>,
    #[schema(value_type = Vec<String>)]
    refused: Vec<Permission>,
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// The cause, for people: the person and the means, a timeout, …
    decider: String,
    /// The remark of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// The input that the person approved instead. Only an action with this input may happen.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Value>,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The end as a text for people.
    text: String,
}

impl ResolutionView {
    fn of(how: &Resolution) -> ResolutionView {
        ResolutionView {
            agent_id: how.from.clone(),
            granted: how.granted.clone(),
            refused: how.refused.clone(),
            scope: how.scope,
            decider: how.decider.to_string(),
            feedback: how.feedback.as_ref().map(ToString::to_string),
            updated_input: how.updated_input.as_deref().map(shown::tool_input),
            at: how.at,
            text: how.to_string(),
        }
    }
}

impl RequestState {
    fn new(id: RequestId, status: Status) -> RequestState {
        RequestState { id, code: id.code().to_string(), status, question: None, resolution: None }
    }

    pub(super) fn pending(pending: &Pending, admin: &Admin, parts: &Parts) -> RequestState {
        let question = Question::of(&pending.request, pending.route.to_string(), admin, parts);
        RequestState { question: Some(question), ..RequestState::new(pending.request.id, Status::Pending) }
    }

    pub(super) fn ended(how: &Resolution) -> RequestState {
        let resolution = Some(ResolutionView::of(how));
        RequestState { resolution, ..RequestState::new(how.request, Status::of(how.outcome)) }
    }

    /// Returns a request of which nothing but the id is known.
    pub(super) fn waiting(id: RequestId) -> RequestState {
        RequestState::new(id, Status::Pending)
    }

    /// Returns what the asking agent learns.
    pub(super) fn of_ticket(ticket: &Ticket) -> RequestState {
        match ticket.poll() {
            Some(how) => RequestState::ended(&how),
            None => RequestState::waiting(ticket.id()),
        }
    }
}
