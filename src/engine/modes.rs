//! Modes of agents, which can change while the engine runs.

use crate::{
    kernel::{Command, PermissionState},
    model::{Actor, AgentId, Event, Mode, OwnerId},
};

use super::{Agent, Approver, Engine, Error, link::EngineLink};

impl Engine {
    /// Returns the current mode, rules, policies, interaction and permissions of one agent.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub fn permission_state(&self, agent: &AgentId) -> Result<PermissionState, Error> {
        self.agent(agent)?.permission_state()
    }

    /// Sets the mode in which `agent` is evaluated from now on, and records it (`mode.changed`).
    ///
    /// The mode stays until another one is set, also after a restart. If the policy file changes its own line for this
    /// agent, the file takes precedence again. Requests that the mode now denies end. The mode restricts child agents
    /// at once.
    ///
    /// # Authority
    ///
    /// A less strict mode allows more actions without a person. An agent cannot set one.
    ///
    /// ```compile_fail,E0599
    /// async fn loosen_oneself(agent: bestow::Agent) {
    ///     agent.set_mode(bestow::agent::Mode::Bypass).await;
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent. [`Error::Store`] if the mode cannot be stored; then a mode that
    /// allows no more than before is in force, and any other is not.
    pub async fn set_mode(&self, agent: &AgentId, mode: Mode) -> Result<(), Error> {
        self.shared.set_mode(agent, mode, Actor::Operator, None).await
    }
}

impl Agent {
    /// Returns the current mode, rules, policies, interaction and permissions of this agent.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn permission_state(&self) -> Result<PermissionState, Error> {
        self.look(|state, agent, now| state.permission_state(agent, now))
    }
}

impl Approver {
    /// Sets the mode of an agent of this owner, like [`Engine::set_mode`].
    ///
    /// # Authority
    ///
    /// A person authorizes this.
    ///
    /// # Errors
    ///
    /// The errors of [`Engine::set_mode`]; [`Error::Refused`] if the agent belongs to another owner.
    pub async fn set_mode(&self, agent: &AgentId, mode: Mode) -> Result<(), Error> {
        let person = self.person()?;
        self.shared.set_mode(agent, mode, person.actor(), Some(person.owner)).await
    }
}

impl EngineLink {
    async fn set_mode(&self, agent: &AgentId, mode: Mode, by: Actor, owner: Option<OwnerId>) -> Result<(), Error> {
        let changed = self.execute(Command::SetMode { agent: agent.clone(), mode, by, owner }).acknowledged().await?;
        if !changed.iter().any(|event| matches!(event, Event::ModeChanged { .. })) {
            return Ok(());
        }
        let actions = self.asked_about(None)?;
        if actions.is_empty() {
            return Ok(());
        }
        self.execute(Command::JudgeAgain { actions }).acknowledged().await.map(drop)
    }
}
