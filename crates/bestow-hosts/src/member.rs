//! The agent of a session or subagent, while a call of it is in progress.

use std::sync::Arc;

use bestow::{Action, Agent, Effect};

use crate::failure::Failure;

/// The agent of a session or subagent. As long as this value exists, the session is in use and is not retired to make
/// room for others.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) agent: Agent,
    /// The agent of the policy file that limits the type of the subagent.
    pub(crate) limit: Option<Agent>,
    /// Shared with the book of sessions, which counts the holders: for the session, and for the subagent.
    pub(crate) _in_use: Vec<Arc<()>>,
}

impl Member {
    /// Returns the agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the agent of the policy file that limits the type of the subagent, if it is denied this. This reads the
    /// disk on the calling thread, like [`Agent::authorize`].
    ///
    /// # Errors
    ///
    /// The engine has no answer. The action may not happen.
    pub(crate) fn limit_that_denies(&self, action: &Action) -> Result<Option<Agent>, Failure> {
        let Some(limit) = &self.limit else { return Ok(None) };
        Ok((limit.verdict(action)? == Effect::Deny).then(|| limit.clone()))
    }
}
