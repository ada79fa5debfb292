//! The sender of a request, by the role of its credential. It is read before the body.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use bestow::{Agent, control::Admin, user::ApproverId};

use crate::{
    credentials::Role,
    identity::{Caller, Entrance},
    problem::Problem,
};

/// A sender with the credential of an agent.
pub(super) struct AgentSender {
    pub(super) caller: Caller,
    pub(super) agent: Agent,
}

/// A sender with the credential of an approver or of an operator.
pub(super) struct Person {
    pub(super) caller: Caller,
    pub(super) admin: Admin,
    /// The name in records.
    pub(super) by: ApproverId,
}

/// A sender with any credential.
pub(super) enum Sender {
    Agent(AgentSender),
    Person(Person),
}

impl Sender {
    pub(super) fn caller(&self) -> &Caller {
        match self {
            Sender::Agent(sender) => &sender.caller,
            Sender::Person(person) => &person.caller,
        }
    }
}

impl AgentSender {
    fn of(caller: Caller) -> Result<AgentSender, Problem> {
        let agent = caller.agent()?;
        Ok(AgentSender { caller, agent })
    }
}

impl Person {
    fn of(caller: Caller) -> Result<Person, Problem> {
        let (admin, by) = caller.admin()?;
        Ok(Person { caller, admin, by })
    }
}

/// Returns the sender, and leaves it for the reader of the body.
fn caller(parts: &mut Parts, entrance: &Entrance) -> Result<Caller, Problem> {
    let caller = entrance.caller(parts)?;
    parts.extensions.insert(caller.clone());
    Ok(caller)
}

impl FromRequestParts<Arc<Entrance>> for AgentSender {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        AgentSender::of(caller(parts, entrance)?)
    }
}

impl FromRequestParts<Arc<Entrance>> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        Person::of(caller(parts, entrance)?)
    }
}

/// A sender who may add agents: an agent, or an operator.
pub(super) enum Creator {
    Agent(AgentSender),
    Operator(Person),
}

impl FromRequestParts<Arc<Entrance>> for Creator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        let caller = caller(parts, entrance)?;
        match &caller.credential().role {
            Role::Agent { .. } => AgentSender::of(caller).map(Creator::Agent),
            Role::Operator => Person::of(caller).map(Creator::Operator),
            Role::Approver { .. } => Err(Problem::forbidden(
                "an operator adds agents, and an agent creates its children: a person adds an agent to the policy file",
            )),
        }
    }
}

impl FromRequestParts<Arc<Entrance>> for Sender {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, entrance: &Arc<Entrance>) -> Result<Self, Problem> {
        let caller = caller(parts, entrance)?;
        match &caller.credential().role {
            Role::Agent { .. } => AgentSender::of(caller).map(Sender::Agent),
            Role::Approver { .. } | Role::Operator => Person::of(caller).map(Sender::Person),
        }
    }
}
