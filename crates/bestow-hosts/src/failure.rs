//! The reasons why there is no answer about a call.

use bestow::{AgentId, agent::InvalidId};

/// The reason why there is no answer. A call without an answer may not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The engine refuses, or cannot answer.
    #[error(transparent)]
    Engine(#[from] bestow::Error),
    /// The id of the session or subagent does not fit into the id of an agent.
    #[error("the id of the session or subagent cannot be a part of an agent's id: {0}")]
    Id(#[from] InvalidId),
    /// The id belongs to an agent that the host did not create.
    #[error(
        "the id `{0}` belongs to another agent, so it cannot be the id of a session or subagent: rename that agent in \
         the policy file"
    )]
    Taken(AgentId),
    /// The agent that limits the subagent's type belongs to another owner.
    #[error("the agent `{0}`, which limits this type of subagents, belongs to another owner")]
    OtherOwner(AgentId),
    /// The directory of the call cannot be the place of an action.
    #[error("the directory of the call is not usable: {0}")]
    Directory(String),
    /// The host has as many sessions as it may have, and all of them are in use.
    #[error("the agent `{0}` has as many sessions as it may have, and all of them are in use")]
    Full(AgentId),
    /// The server that was asked does not answer, or refuses.
    #[error("{0}")]
    Server(String),
}
