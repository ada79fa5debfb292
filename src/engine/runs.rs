//! Runs of agents: begun, joined and ended by the host program and by people, never by an agent.

use crate::{
    kernel::{Command, Entering},
    model::{Actor, AgentId, OwnerId, RunId},
};

use super::{Approver, Engine, Error, fresh_run, shared::Shared};

/// Runs. Every agent is in one of its own from when it comes, however it came; what a person says for the run, and the
/// policies set for it, are for who is in it.
///
/// ```compile_fail,E0599
/// async fn begin_a_run_of_ones_own(agent: bestow::Agent, run: bestow::RunId) {
///     agent.begin_run(run).await;
/// }
/// ```
impl Engine {
    /// Begins a new run of an agent: rights of scope `session`, questions, and what a person said for the run before end
    /// with that.
    ///
    /// # Authority
    ///
    /// What was denied for the run before is no longer denied to this agent. Agents that it created in that run stay bound.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::RunGoesOn`](crate::Refusal::RunGoesOn) if others are in that run; there is no such
    /// agent.
    pub async fn begin_run(&self, agent: &AgentId, run: RunId) -> Result<(), Error> {
        self.shared.begin_run(agent, run, Entering::Own, Actor::Operator, None).await
    }

    /// Puts an agent into a run that goes on for others of its owner.
    ///
    /// # Authority
    ///
    /// The policies of that run hold for this agent, those that allow too, and so do the noes; and it has left its own run
    /// as with [`Engine::begin_run`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`](crate::Refusal::UnknownRun) if nobody of its owner is in it; there is no
    /// such agent.
    pub async fn join_run(&self, agent: &AgentId, run: &RunId) -> Result<(), Error> {
        self.shared.begin_run(agent, run.clone(), Entering::Shared, Actor::Operator, None).await
    }

    /// Ends the run of an agent: what was for it ends, and what the agent does next is in a run of no name.
    ///
    /// # Authority
    ///
    /// As [`Engine::begin_run`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub async fn end_run(&self, agent: &AgentId) -> Result<(), Error> {
        self.shared.begin_run(agent, fresh_run(), Entering::Own, Actor::Operator, None).await
    }

    /// The run that an agent is in.
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
    /// Begins a new run of an agent, as [`Engine::begin_run`] does.
    ///
    /// # Authority
    ///
    /// A person stands behind it: what was denied for the run before is no longer denied to this agent.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::RunGoesOn`](crate::Refusal::RunGoesOn) if others are in that run; another owner's
    /// agent; no such agent.
    pub async fn begin_run(&self, agent: &AgentId, run: RunId) -> Result<(), Error> {
        let (by, owner) = (self.person().actor(), Some(self.owner.clone()));
        self.shared.begin_run(agent, run, Entering::Own, by, owner).await
    }

    /// Puts an agent into a run that goes on for others, as [`Engine::join_run`] does.
    ///
    /// # Authority
    ///
    /// A person stands behind it: the policies of that run hold for this agent, those that allow too.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::UnknownRun`](crate::Refusal::UnknownRun) if nobody of this owner is in it; another
    /// owner's agent; no such agent.
    pub async fn join_run(&self, agent: &AgentId, run: &RunId) -> Result<(), Error> {
        let (by, owner) = (self.person().actor(), Some(self.owner.clone()));
        self.shared.begin_run(agent, run.clone(), Entering::Shared, by, owner).await
    }

    /// Ends the run of an agent, as [`Engine::end_run`] does.
    ///
    /// # Authority
    ///
    /// As [`Approver::begin_run`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: another owner's agent, or no such agent.
    pub async fn end_run(&self, agent: &AgentId) -> Result<(), Error> {
        self.begin_run(agent, fresh_run()).await
    }
}

impl Shared {
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
