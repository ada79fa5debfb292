//! The events that a sender may see.

use bestow::{AgentId, Engine, user::OwnerId};

use super::stored::Told;
use crate::{credentials::Role, identity::Caller, problem::Problem};

/// The events that a sender may see.
pub(super) enum Seen {
    /// Those of every owner, and those that belong to none.
    All,
    /// Those of the agents of one owner.
    Of(OwnerId),
    /// Those of one agent.
    OfAgent(AgentId),
}

impl Seen {
    pub(super) fn by(caller: &Caller) -> Result<Seen, Problem> {
        match &caller.credential().role {
            Role::Operator => Ok(Seen::All),
            Role::Approver { owner, .. } => Ok(Seen::Of(owner.clone())),
            Role::Agent { agent } => {
                caller.agent()?;
                Ok(Seen::OfAgent(agent.clone()))
            }
        }
    }

    pub(super) fn may_see(&self, told: &Told, engine: &Engine) -> bool {
        match self {
            Seen::All => true,
            Seen::Of(owner) => told.owner.as_ref() == Some(owner),
            // An agent of another owner may have had the id before.
            Seen::OfAgent(agent) => told.agent.as_ref() == Some(agent) && told.owner == owner_of(engine, agent),
        }
    }
}

fn owner_of(engine: &Engine, agent: &AgentId) -> Option<OwnerId> {
    let profile = engine.agent(agent).and_then(|agent| agent.profile()).ok()?;
    Some(profile.owner.clone())
}
