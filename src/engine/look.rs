//! What can be seen of an engine: reading changes nothing.

use std::sync::Arc;

use super::{Engine, Error, fresh_run};
use crate::{
    kernel::Support,
    model::{
        AgentId, Grant, HeldChange, Pending, Permission, Profile, RequestId, Resolution, Ruling, Settings, Timestamp,
    },
};

impl Engine {
    /// The change of the file that waits until a person agrees to it, if one does.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn held_change(&self) -> Result<Option<HeldChange>, Error> {
        Ok(self.shared.look(|state, now| state.held_change(&fresh_run(), now))??)
    }

    /// What time it is for this engine.
    ///
    /// # Errors
    ///
    /// [`Error::Clock`].
    pub fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.shared.clock.now()?)
    }

    /// The settings in force.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn settings(&self) -> Result<Arc<Settings>, Error> {
        self.shared.look(|state, _| Arc::clone(&state.settings))
    }

    /// Every question that waits.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn pending(&self) -> Result<Vec<Pending>, Error> {
        self.shared.look(|state, _| state.all_pending(None))
    }

    /// How a request ended, if it did and is still remembered.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn resolution(&self, request: RequestId) -> Result<Option<Arc<Resolution>>, Error> {
        self.shared.look(|state, _| state.resolved.get(&request).cloned())
    }

    /// How the request with this short code ended; the latest, if two that are remembered have it.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn resolution_with_code(&self, code: &str) -> Result<Option<Arc<Resolution>>, Error> {
        self.shared.ended_with_code(&code.trim().to_ascii_lowercase())
    }

    /// Every grant that counts now.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn grants(&self) -> Result<Vec<Arc<Grant>>, Error> {
        self.shared.look(|state, now| state.grants.values().filter(|grant| grant.is_live(now)).cloned().collect())
    }

    /// Why `agent` holds `permission`: its own grant first, the root last. Empty if it does not hold it;
    /// with a link that is [`Support::Replaced`], if only such a chain is left, which counts for nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn why(&self, agent: &AgentId, permission: &Permission) -> Result<Vec<Support>, Error> {
        let broken = self.shared.broken(agent, std::iter::once(permission))?;
        self.shared.look(|state, now| state.why(agent, permission, &broken, now))
    }

    /// What people said about actions and still counts.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn rulings(&self) -> Result<Vec<Arc<Ruling>>, Error> {
        self.shared.look(|state, now| state.rulings.values().filter(|ruling| ruling.is_live(now)).cloned().collect())
    }

    /// Every agent.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn agents(&self) -> Result<Vec<Arc<Profile>>, Error> {
        self.shared.look(|state, _| {
            let mut all: Vec<_> = state.agents.values().map(|agent| Arc::clone(&agent.profile)).collect();
            all.sort_by(|one, other| one.id.cmp(&other.id));
            all
        })
    }
}
