//! The mode of an agent, changed while the engine runs.

use crate::{
    kernel::{Command, PermissionState},
    model::{Actor, AgentId, Event, Mode, OwnerId},
};

use super::{Agent, Approver, Engine, Error, shared::Shared};

impl Engine {
    /// The mode, rules, policies, interaction and rights of one agent, as they are now.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub fn permission_state(&self, agent: &AgentId) -> Result<PermissionState, Error> {
        self.agent(agent)?.permission_state()
    }

    /// Judges `agent` in `mode` from now on, and leaves the fact (`mode.changed`).
    ///
    /// It stays until somebody sets another mode, over restarts too, or until the file changes its own line for this agent:
    /// then the file says it. Questions that the mode answers with a no end. Agents below are bound at once.
    ///
    /// # Authority
    ///
    /// A looser mode lets more happen without a person. An agent cannot set one.
    ///
    /// ```compile_fail,E0599
    /// async fn loosen_oneself(agent: bestow::Agent) {
    ///     agent.set_mode(bestow::Mode::Bypass).await;
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent. [`Error::Store`] if it cannot be stored; then a mode that lets nothing
    /// more happen is in force all the same, and another one is not.
    pub async fn set_mode(&self, agent: &AgentId, mode: Mode) -> Result<(), Error> {
        self.shared.set_mode(agent, mode, Actor::Operator, None).await
    }
}

impl Agent {
    /// The mode, rules, policies, interaction and rights of this agent, as they are now.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn permission_state(&self) -> Result<PermissionState, Error> {
        self.look(|state, agent, now| state.permission_state(agent, now))
    }
}

impl Approver {
    /// Judges an agent of this owner in `mode` from now on, as [`Engine::set_mode`] does.
    ///
    /// # Authority
    ///
    /// A person stands behind it.
    ///
    /// # Errors
    ///
    /// As [`Engine::set_mode`]; [`Error::Refused`] if the agent belongs to another owner.
    pub async fn set_mode(&self, agent: &AgentId, mode: Mode) -> Result<(), Error> {
        self.shared.set_mode(agent, mode, self.person().actor(), Some(self.owner.clone())).await
    }
}

impl Shared {
    async fn set_mode(&self, agent: &AgentId, mode: Mode, by: Actor, owner: Option<OwnerId>) -> Result<(), Error> {
        let changed = self.change(Command::SetMode { agent: agent.clone(), mode, by, owner }).await?;
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
