//! Read access to the state of an engine.

use std::sync::Arc;

use bestow_command::Classification;

use super::{Engine, Error, fresh::fresh_run};
#[cfg(feature = "journal")]
use crate::model::{GrantId, OwnerId};
use crate::{
    kernel::ProvenanceStep,
    model::{
        AgentId, Grant, HeldChange, Pending, Permission, Profile, RequestId, Resolution, SavedDecision, Settings,
        Timestamp,
    },
};

impl Engine {
    /// Returns the change of the policy file that is held back until a person accepts it, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn held_change(&self) -> Result<Option<HeldChange>, Error> {
        Ok(self.shared.look(|state, now| state.held_change(&fresh_run(), now))??)
    }

    /// Returns the part of the waiting change that is about agents of `owner`, or none if no part is. A sentence about
    /// the settings concerns every owner.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    #[cfg(feature = "journal")]
    pub(crate) fn held_change_of(&self, owner: &OwnerId) -> Result<Option<HeldChange>, Error> {
        Ok(self.shared.look(|state, now| state.held_change_of(owner, &fresh_run(), now))??)
    }

    /// Returns the grants that would end with `grant`. Nothing changes.
    #[cfg(feature = "journal")]
    pub(crate) fn would_end_with(&self, grant: GrantId) -> Result<Vec<Arc<Grant>>, Error> {
        self.shared.look(|state, now| state.would_end_with(grant, now).into_iter().map(|grant| grant.whole()).collect())
    }

    /// Classifies a command line by the tables and settings that decisions use.
    pub fn classify(&self, command: &str) -> Classification {
        self.shared.classifier.load().classify(command)
    }

    /// Returns the number of the last event. A subscriber that knows it has missed nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn last_sequence(&self) -> Result<u64, Error> {
        self.shared.last_sequence()
    }

    /// Returns the current time of this engine.
    ///
    /// # Errors
    ///
    /// [`Error::Clock`].
    pub fn now(&self) -> Result<Timestamp, Error> {
        Ok(self.shared.clock.now()?)
    }

    /// Returns the settings in force.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn settings(&self) -> Result<Arc<Settings>, Error> {
        self.shared.look(|state, _| Arc::clone(&state.settings))
    }

    /// Returns every waiting request.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn pending(&self) -> Result<Vec<Pending>, Error> {
        self.shared.look(|state, _| state.all_pending(None))
    }

    /// Returns one waiting request.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn waiting(&self, request: RequestId) -> Result<Option<Pending>, Error> {
        self.shared.look(|state, _| state.pending(request))
    }

    /// Returns the outcome of a request, if it ended and is still remembered.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn resolution(&self, request: RequestId) -> Result<Option<Arc<Resolution>>, Error> {
        self.shared.look(|state, _| state.resolved.get(&request).cloned())
    }

    /// Returns the outcome of the request with this short code. If two remembered requests have the code, the latest
    /// counts.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn resolution_with_code(&self, code: &str) -> Result<Option<Arc<Resolution>>, Error> {
        self.shared.ended_with_code(&code.trim().to_ascii_lowercase())
    }

    /// Returns every grant that is valid now.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn grants(&self) -> Result<Vec<Arc<Grant>>, Error> {
        self.shared.look(|state, now| {
            state.grants.values().filter(|grant| grant.is_live(now)).map(|grant| grant.whole()).collect()
        })
    }

    /// Returns the grant with this id, if it is valid now.
    #[cfg(feature = "journal")]
    pub(crate) fn grant(&self, id: GrantId) -> Result<Option<Arc<Grant>>, Error> {
        self.shared
            .look(|state, now| state.grants.get(&id).filter(|grant| grant.is_live(now)).map(|grant| grant.whole()))
    }

    /// Returns the provenance of `permission` for `agent`: its own grant first, the root last. The result is empty if
    /// the agent does not hold the permission. If only a chain with a replaced object is left, the result contains a
    /// [`ProvenanceStep::Replaced`] link, and that chain gives no permission.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn why(&self, agent: &AgentId, permission: &Permission) -> Result<Vec<ProvenanceStep>, Error> {
        let broken = self.shared.broken(agent, std::iter::once(permission))?;
        self.shared.look(|state, now| state.why(agent, permission, &broken, now))
    }

    /// Returns the saved decisions about actions that are still valid.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn rulings(&self) -> Result<Vec<Arc<SavedDecision>>, Error> {
        self.shared.look(|state, now| state.rulings.values().filter(|ruling| ruling.is_live(now)).cloned().collect())
    }

    /// Returns the profile of every agent, sorted by id.
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
