//! The client of an agent: it carries out the agent's messages, and has the agent's news.

#[cfg(feature = "sandbox")]
use crate::engine::process_order::Runner;
use crate::engine::{Agent, Engine};

use super::{
    agent::AgentPart,
    error_mapping::NotDone,
    message::{Fault, FromAgent, ToAgent},
    session::{Ended, Peer, Reply, now},
};

/// One client of an agent, over any transport. An agent can have several clients at the same time. Each gets the
/// results of its own requests and the changes of the agent's permissions, and no message or other notice of the agent.
pub struct AgentClient {
    engine: Engine,
    part: AgentPart,
}

impl std::fmt::Debug for AgentClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AgentClient({:?})", self.part.agent)
    }
}

impl AgentClient {
    /// Creates a client of `agent`.
    ///
    /// # Authority
    ///
    /// The client can do everything that the agent can. It cannot answer requests.
    pub fn new(agent: Agent) -> AgentClient {
        let engine = agent.engine();
        AgentClient { part: AgentPart::one_of_several(engine.clone(), agent), engine }
    }

    /// Returns this client with a runner that starts long-running processes.
    #[cfg(feature = "sandbox")]
    pub(crate) fn with_runner(self, runner: std::sync::Arc<dyn Runner>) -> AgentClient {
        AgentClient { part: self.part.with_runner(Some(runner)), ..self }
    }

    /// Returns the first message.
    ///
    /// # Errors
    ///
    /// [`Ended`] if there is no such agent.
    pub fn hello(&mut self) -> Result<ToAgent, Ended> {
        self.part.greeting()
    }

    /// Carries out a message, and returns the direct reply, if the message has one.
    ///
    /// # Errors
    ///
    /// A fault if the message was not carried out. Then nothing has changed.
    pub async fn carry_out(&mut self, said: FromAgent) -> Result<Option<ToAgent>, Fault> {
        match self.part.hear(said).await {
            Reply::Nothing | Reply::End(_) => Ok(None),
            Reply::Say(reply) => Ok(Some(reply)),
            Reply::NotDone { why: NotDone { code, message }, request_id, then: _ } => {
                Err(Fault { code, message, request_id, ts: now(&self.engine) })
            }
        }
    }

    /// Waits for news, and returns the messages about it.
    ///
    /// # Errors
    ///
    /// [`Ended`] if the agent is retired, or if the engine ended.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Vec<ToAgent>, Ended> {
        let news = self.part.news().await?;
        Ok(self.part.messages_about(news))
    }
}
