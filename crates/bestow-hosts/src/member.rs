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

    /// Returns the reason why the type of the subagent may not do this, if its agent in the policy file is denied it.
    /// This reads the disk on the calling thread, like [`Agent::authorize`].
    ///
    /// # Errors
    ///
    /// The engine has no answer. The action may not happen.
    pub fn denied_to_kind(&self, action: &Action) -> Result<Option<String>, Failure> {
        let Some(limit) = &self.limit else { return Ok(None) };
        if limit.verdict(action)? != Effect::Deny {
            return Ok(None);
        }
        let why = limit.explain(action)?.decision.full_reason();
        Ok(Some(format!("the type of this subagent, `{}`, is denied it: {why}", limit.id())))
    }
}
