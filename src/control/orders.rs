//! The orders of a person as calls, for every owner or for one.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use bestow_command::Classification;

use crate::{
    engine::{Approver, Engine, Error, InitialGrants},
    kernel::{Explanation, PermissionState, ProvenanceStep, Refusal},
    model::{
        Action, Actor, AgentId, ApproverId, Code, Grant, GrantId, HeldChange, Means, Mode, OwnerId, Pending,
        Permission, Process, ProcessId, Profile, Reason, RequestId, Resolution, Revocation, SavedDecision,
    },
};

use super::GrantOrDecisionId;

/// A sender of orders: the means by which it speaks, and the owner that limits it. The host program has authenticated
/// it.
///
/// What belongs to another owner is refused as if it did not exist.
#[derive(Clone, Debug)]
pub struct Admin {
    pub(super) engine: Engine,
    pub(super) owner: Option<OwnerId>,
    pub(super) means: Means,
}

impl Admin {
    /// Creates the orders of a sender that acts for every owner.
    ///
    /// # Authority
    ///
    /// The holder of the result can answer for every owner.
    pub fn of_every_owner(engine: &Engine, means: Means) -> Admin {
        Admin { engine: engine.clone(), owner: None, means }
    }

    /// Creates the orders of a sender that acts for one owner.
    ///
    /// # Authority
    ///
    /// The holder of the result can answer for this owner.
    pub fn of_owner(engine: &Engine, owner: OwnerId, means: Means) -> Admin {
        Admin { engine: engine.clone(), owner: Some(owner), means }
    }

    /// Adds an agent with its initial permissions, like [`Engine::register`]. The records name the means of this
    /// sender.
    ///
    /// # Authority
    ///
    /// This is a root of authority.
    ///
    /// # Errors
    ///
    /// The errors of [`Engine::register`]; [`Refusal::OtherOwner`] if this sender does not act for its owner.
    pub async fn register(&self, profile: Profile, holding: InitialGrants) -> Result<Arc<Profile>, Error> {
        if let Some(owner) = self.owner.as_ref().filter(|owner| **owner != profile.owner) {
            return Err(Refusal::OtherOwner { agent: profile.id, owner: owner.clone() }.into());
        }
        self.engine.register_via(profile, holding, Some(&self.means)).await?.profile()
    }

    /// Retires an agent, like [`Engine::retire`]. The records name the means of this sender.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`]; [`Refusal::InFile`] for an agent of the policy file.
    pub async fn retire(&self, agent: &AgentId) -> Result<(), Error> {
        self.profile(agent)?;
        self.engine.retire_via(agent.clone(), Some(&self.means)).await
    }

    /// Returns the running processes of the agents.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn processes(&self) -> Result<Vec<Arc<Process>>, Error> {
        let all = self.engine.processes()?.into_iter();
        Ok(all.filter(|process| self.reaches(&process.owner)).collect())
    }

    /// Orders a process to stop: it may end by itself within `grace`, then it is killed.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`].
    pub async fn stop_process(
        &self,
        process: ProcessId,
        grace: Duration,
        reason: Option<Reason>,
        by: ApproverId,
    ) -> Result<(), Error> {
        let found = self.processes()?.into_iter().find(|found| found.id == process);
        let owner = &found.ok_or(Refusal::UnknownProcess(process))?.owner;
        self.approver(owner, by).stop_process(process, grace, reason).await
    }

    /// Returns true if no owner limits this sender.
    pub fn is_of_every_owner(&self) -> bool {
        self.owner.is_none()
    }

    /// Returns the handle of a person who acts for `owner`, or for the owner that limits this sender.
    pub fn approver(&self, owner: &OwnerId, by: ApproverId) -> Approver {
        self.engine.approver(self.owner.as_ref().unwrap_or(owner), by, Arc::clone(&self.means))
    }

    /// Returns the handle of a person who acts for the owner of `agent`.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub fn approver_of(&self, agent: &AgentId, by: ApproverId) -> Result<Approver, Error> {
        let profile = self.profile(agent)?;
        Ok(self.approver(&profile.owner, by))
    }

    pub(super) fn reaches(&self, owner: &OwnerId) -> bool {
        self.owner.as_ref().is_none_or(|own| own == owner)
    }

    /// Returns the profiles of the agents.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn agents(&self) -> Result<Vec<Arc<Profile>>, Error> {
        let all = self.engine.agents()?.into_iter();
        Ok(all.filter(|profile| self.reaches(&profile.owner)).collect())
    }

    /// Returns the profile of an agent.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub fn profile(&self, agent: &AgentId) -> Result<Arc<Profile>, Error> {
        let unknown = || Refusal::UnknownAgent(agent.clone());
        let known = self.engine.agent(agent)?.profile()?;
        Ok(Some(known).filter(|profile| self.reaches(&profile.owner)).ok_or_else(unknown)?)
    }

    /// Returns the creator of an agent, the creator of that one, and so on. The list ends where the next one is gone.
    pub fn creators(&self, agent: &AgentId) -> Vec<AgentId> {
        let creator = |agent: &AgentId| self.profile(agent).ok()?.parent.clone();
        let mut above = Vec::new();
        let mut next = creator(agent);
        // The id of a creator that is gone may belong to a later agent, which the created one has created.
        while let Some(found) = next.filter(|found| found != agent && !above.contains(found)) {
            next = creator(&found);
            above.push(found);
        }
        above
    }

    /// Classifies a command line as the engine does.
    pub fn classify(&self, command: &str) -> Classification {
        self.engine.classify(command)
    }

    /// Explains the decision that an action of an agent would get now. Nothing is decided, asked or consumed.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub fn explain(&self, agent: &AgentId, action: &Action) -> Result<Explanation, Error> {
        self.profile(agent)?;
        self.engine.agent(agent)?.explain(action)
    }

    /// Returns the permission state of an agent.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub fn state(&self, agent: &AgentId) -> Result<PermissionState, Error> {
        self.profile(agent)?;
        self.engine.permission_state(agent)
    }

    /// Returns the grants of every agent, or of one.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub fn grants(&self, agent: Option<&AgentId>) -> Result<Vec<Arc<Grant>>, Error> {
        let profiles = agent.map_or_else(|| self.agents(), |agent| self.profile(agent).map(|profile| vec![profile]))?;
        let agents: BTreeSet<_> = profiles.iter().map(|profile| &profile.id).collect();
        Ok(self.engine.grants()?.into_iter().filter(|grant| agents.contains(&grant.to)).collect())
    }

    /// Returns the saved decisions about every agent, or about one.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub fn saved_decisions(&self, agent: Option<&AgentId>) -> Result<Vec<Arc<SavedDecision>>, Error> {
        if let Some(agent) = agent {
            self.profile(agent)?;
        }
        let all = self.engine.rulings()?.into_iter().filter(|saved| self.reaches(&saved.owner));
        Ok(all.filter(|saved| agent.is_none_or(|agent| saved.agent == *agent)).collect())
    }

    /// Returns the provenance of a permission: the grant of the agent first, the root last. The result is empty if the
    /// agent does not hold it.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub fn why(&self, agent: &AgentId, permission: &Permission) -> Result<Vec<ProvenanceStep>, Error> {
        self.profile(agent)?;
        self.engine.why(agent, permission)
    }

    /// Returns the waiting requests.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn pending(&self) -> Result<Vec<Pending>, Error> {
        let all = self.engine.pending()?.into_iter();
        Ok(all.filter(|pending| self.reaches(&pending.request.owner)).collect())
    }

    /// Returns the waiting request with this code or id.
    ///
    /// # Errors
    ///
    /// [`Refusal::AlreadyResolved`] with the outcome, [`Refusal::UnknownRequest`], [`Refusal::UnknownCode`],
    /// [`Refusal::AmbiguousCode`].
    pub fn waiting(&self, named: &str) -> Result<Pending, Error> {
        if let Ok(id) = named.parse::<RequestId>() {
            let found = self.engine.waiting(id)?;
            return match found.filter(|pending| self.reaches(&pending.request.owner)) {
                Some(pending) => Ok(pending),
                None => Err(ended_or(self.own(self.engine.resolution(id)?), Refusal::UnknownRequest(id))),
            };
        }
        let code = Code::as_typed(named);
        let mut matching = self.pending()?.into_iter().filter(|pending| pending.request.code().to_string() == code);
        match (matching.next(), matching.next()) {
            (Some(pending), None) => Ok(pending),
            (Some(pending), Some(_)) => Err(Refusal::AmbiguousCode(pending.request.code()).into()),
            (None, _) => {
                let how = self.own(self.engine.resolution_with_code(&code)?);
                Err(ended_or(how, Refusal::UnknownCode(Arc::from(named))))
            }
        }
    }

    fn own(&self, how: Option<Arc<Resolution>>) -> Option<Arc<Resolution>> {
        how.filter(|how| self.reaches(&how.owner))
    }

    /// Returns the change of the policy file that waits for a person. A person of one owner sees the part about that
    /// owner's agents.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn held_change(&self) -> Result<Option<HeldChange>, Error> {
        match &self.owner {
            Some(owner) => self.engine.held_change_of(owner),
            None => self.engine.held_change(),
        }
    }

    /// Approves a change of the policy file that waits. Returns the change.
    ///
    /// # Errors
    ///
    /// [`Refusal::NothingHeldBack`], [`Refusal::OtherChange`]; [`Refusal::OtherOwner`] if the change gives agents of
    /// other owners more, and those of this owner nothing, or if it changes a setting for all agents.
    pub async fn agree(&self, change: u64, by: ApproverId) -> Result<HeldChange, Error> {
        let held = self.held_change()?.ok_or(Refusal::NothingHeldBack)?;
        match &self.owner {
            Some(owner) => self.approver(owner, by).agree_to_widening(change).await?,
            None => {
                let by = Actor::Person { by, means: Arc::clone(&self.means) };
                self.engine.agree_as(by, change).await?;
            }
        }
        Ok(HeldChange { change, ..held })
    }

    /// Sets the mode of an agent.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`].
    pub async fn set_mode(&self, agent: &AgentId, mode: Mode, by: ApproverId) -> Result<(), Error> {
        self.approver_of(agent, by)?.set_mode(agent, mode).await
    }

    /// Revokes a grant or a saved decision. Returns the revocation, which the same person can undo.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownGrant`], [`Refusal::UnknownRuling`]; [`Refusal::FromFile`] for a line of the policy file.
    pub async fn revoke(
        &self,
        held: GrantOrDecisionId,
        reason: Option<Reason>,
        by: ApproverId,
    ) -> Result<Revocation, Error> {
        match held {
            GrantOrDecisionId::Grant(id) => {
                let grant = self.grant(id)?;
                self.approver_of(&grant.to, by)?.revoke_undoably(id, reason).await
            }
            GrantOrDecisionId::Ruling(id) => {
                let mut all = self.saved_decisions(None)?.into_iter();
                let saved = all.find(|saved| saved.id == id).ok_or(Refusal::UnknownRuling(id))?;
                self.approver(&saved.owner, by).revoke_ruling_undoably(id, reason).await
            }
        }
    }

    /// Undoes a revocation of this person. Returns the ids of the new grants.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownAgent`]; the errors of [`Approver::undo`].
    pub async fn undo(&self, revocation: &Revocation, by: ApproverId) -> Result<Vec<GrantId>, Error> {
        self.approver_of(revocation.agent(), by)?.undo(revocation).await
    }

    /// Returns a grant that is valid now.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownGrant`].
    pub fn grant(&self, id: GrantId) -> Result<Arc<Grant>, Error> {
        let found = self.engine.grant(id)?.filter(|grant| self.profile(&grant.to).is_ok());
        Ok(found.ok_or(Refusal::UnknownGrant(id))?)
    }

    /// Returns the grants that would end with a grant. Nothing changes.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownGrant`].
    pub fn would_end_with(&self, id: GrantId) -> Result<Vec<Arc<Grant>>, Error> {
        self.engine.would_end_with(self.grant(id)?.id)
    }
}

fn ended_or(how: Option<Arc<Resolution>>, unknown: Refusal) -> Error {
    how.map_or(unknown, Refusal::AlreadyResolved).into()
}
