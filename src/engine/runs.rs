//! Runs of agents. The host program and people begin, join and end them; an agent never does.

use crate::{
    kernel::{Command, Entering},
    model::{Actor, AgentId, OwnerId, RunId},
};

use super::{Approver, Engine, Error, fresh::fresh_run, link::EngineLink};

/// Runs. Every agent is in a run of its own from its creation on. Saved decisions and policies for a run apply to the
/// agents in it.
///
/// ```compile_fail,E0599
/// async fn begin_a_run_of_ones_own(agent: bestow::Agent, run: bestow::agent::RunId) {
///     agent.begin_run(run).await;
/// }
/// ```
impl Engine {
    /// Begins a new run of an agent. Grants of scope `session`, requests, and saved decisions of the previous run end.
    ///
    /// # Authority
    ///
    /// Denials of the previous run no longer apply to this agent. They still apply to agents that it created in that
    /// run.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::RunGoesOn`](crate::decision::Refusal::RunGoesOn)
    /// if other agents are in that run; or there is no such agent.
    pub async fn begin_run(&self, agent: &AgentId, run: RunId) -> Result<(), Error> {
        self.shared.begin_run(agent, run, Entering::Own, Actor::Operator, None).await
    }

    /// Puts an agent into a run in which other agents of its owner are.
    ///
    /// # Authority
    ///
    /// The policies of that run apply to this agent, including those that allow, and so do its denials. The agent
    /// leaves its own run as with [`Engine::begin_run`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`](crate::decision::Refusal::UnknownRun)
    /// if no agent of its owner is in that run; or there is no such agent.
    pub async fn join_run(&self, agent: &AgentId, run: &RunId) -> Result<(), Error> {
        self.shared.begin_run(agent, run.clone(), Entering::Shared, Actor::Operator, None).await
    }

    /// Ends the run of an agent, with everything that was valid for that run. The next actions of the agent are in an
    /// unnamed run.
    ///
    /// # Authority
    ///
    /// The authority of [`Engine::begin_run`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub async fn end_run(&self, agent: &AgentId) -> Result<(), Error> {
        self.shared.begin_run(agent, fresh_run(), Entering::Own, Actor::Operator, None).await
    }

    /// Returns the run of an agent.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub fn run_of(&self, agent: &AgentId) -> Result<RunId, Error> {
        Ok(self.shared.look(|state, _| state.agent(agent).map(|agent| agent.run.clone()))??)
    }
}

/// Runs of this owner's agents.
impl Approver {
    /// Begins a new run of an agent, like [`Engine::begin_run`].
    ///
    /// # Authority
    ///
    /// A person authorizes this. Denials of the previous run no longer apply to this agent.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::RunGoesOn`](crate::decision::Refusal::RunGoesOn)
    /// if other agents are in that run; the agent belongs to another owner; or there is no such agent.
    pub async fn begin_run(&self, agent: &AgentId, run: RunId) -> Result<(), Error> {
        let person = self.person()?;
        let (by, owner) = (person.actor(), Some(person.owner));
        self.shared.begin_run(agent, run, Entering::Own, by, owner).await
    }

    /// Puts an agent into a run of other agents, like [`Engine::join_run`].
    ///
    /// # Authority
    ///
    /// A person authorizes this. The policies of that run apply to this agent, including those that allow.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`](crate::decision::Refusal::UnknownRun)
    /// if no agent of this owner is in that run; the agent belongs to another owner; or there is no such agent.
    pub async fn join_run(&self, agent: &AgentId, run: &RunId) -> Result<(), Error> {
        let person = self.person()?;
        let (by, owner) = (person.actor(), Some(person.owner));
        self.shared.begin_run(agent, run.clone(), Entering::Shared, by, owner).await
    }

    /// Ends the run of an agent, like [`Engine::end_run`].
    ///
    /// # Authority
    ///
    /// The authority of [`Approver::begin_run`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: the agent belongs to another owner, or there is no such agent.
    pub async fn end_run(&self, agent: &AgentId) -> Result<(), Error> {
        self.begin_run(agent, fresh_run()).await
    }
}

impl EngineLink {
    async fn begin_run(
        &self,
        agent: &AgentId,
        run: RunId,
        entering: Entering,
        by: Actor,
        owner: Option<OwnerId>,
    ) -> Result<(), Error> {
        let command = Command::BeginRun { agent: agent.clone(), run, entering, by, owner };
        self.execute(command).acknowledged().await.map(drop)
    }
}
