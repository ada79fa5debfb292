//! The tools: one module for each, with its arguments and its answer.

mod action;
mod check;
mod explain;
mod grant;
mod list;
mod request;
mod revoke;
mod table;

use bestow::{Agent, AgentId, Engine, Error, decision::Refusal};

use crate::failure::Failure;

pub(crate) use check::check;
pub(crate) use explain::explain;
pub(crate) use grant::grant;
pub(crate) use list::{grants_of, list, waiting_of};
pub(crate) use request::{ask, find};
pub(crate) use revoke::revoke;
pub(crate) use table::{Tool, definitions};

/// The agent that a call acts as, and its engine.
#[derive(Clone, Debug)]
pub(crate) struct Acting {
    pub(crate) engine: Engine,
    pub(crate) agent: Agent,
}

impl Acting {
    pub(crate) fn as_agent(engine: &Engine, id: &AgentId) -> Result<Acting, Failure> {
        match engine.agent(id) {
            Ok(agent) => Ok(Acting { engine: engine.clone(), agent }),
            Err(Error::Refused(Refusal::UnknownAgent(_))) => {
                let why = format!("the agent `{id}` is not registered: a person can add it to the policy file");
                Err(Failure::new(why))
            }
            Err(why) => Err(why.into()),
        }
    }
}
