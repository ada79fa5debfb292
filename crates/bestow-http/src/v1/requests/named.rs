//! The requests that a name in a path means.

use axum::http::StatusCode;
use bestow::{
    Agent, Engine, Error,
    decision::Refusal,
    request::{RequestId, Ticket},
};

use crate::problem::Problem;

/// Returns the id in a name of a request of this agent: its id, or its short code. A waiting request goes before one
/// that has ended. The codes of other agents could be guessed, so they are not looked at.
pub(super) fn own_id(engine: &Engine, agent: &Agent, named: &str) -> Result<RequestId, Problem> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let code = named.trim().to_ascii_lowercase();
    let own = engine.pending()?.into_iter().map(|pending| pending.request);
    let mut matching = own.filter(|request| request.from == *agent.id() && request.code().to_string() == code);
    match (matching.next(), matching.next()) {
        (Some(request), None) => Ok(request.id),
        (Some(request), Some(_)) => Err(Error::from(Refusal::AmbiguousCode(request.code())).into()),
        (None, _) => {
            let ended = engine.resolution_with_code(&code)?.filter(|how| how.from == *agent.id());
            ended.map(|how| how.request).ok_or_else(unknown)
        }
    }
}

/// Returns the ticket of a request of this agent. A request of another agent looks like one that never was.
pub(super) fn ticket(engine: &Engine, agent: &Agent, named: &str) -> Result<Ticket, Problem> {
    agent.ticket(own_id(engine, agent, named)?).map_err(|why| {
        let problem = Problem::from(why);
        if problem.status == StatusCode::NOT_FOUND { unknown() } else { problem }
    })
}

pub(super) fn unknown() -> Problem {
    Problem::not_found("there is no such request")
}
