//! The handle of a person, the only handle that can answer requests.

use std::{fmt, sync::Arc};

use crate::{
    kernel::{Command, Person, Refusal, ResolvedAction, Start},
    model::{
        Action, Actor, AgentId, Answer, Code, Event, GrantId, Hold, InvalidText, OrText, Pending, Permissions, Reason,
        RequestId, Resolution, Revocation, Revoked, SavedDecisionId, Scope,
    },
};

use super::{
    ApproverSession, Error,
    fresh::fresh_run,
    link::EngineLink,
    shared::{Shared, granted},
    surface::Watched,
};

/// The handle of a person who acts for one owner, with the means they use. It cannot request permissions.
///
/// ```
/// # use bestow::{Answer, Approver, Error, grant::Scope};
/// async fn allow_everything_once(ann: &Approver) -> Result<(), Error> {
///     for waiting in ann.pending()? {
///         ann.answer(waiting.request.id, Answer::allow().scope(Scope::Once)).await?;
///     }
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0599
/// async fn ask_as_a_person(person: bestow::Approver, question: bestow::PermissionRequest) {
///     person.request(question).await;
/// }
/// ```
#[derive(Clone)]
pub struct Approver {
    pub(super) shared: EngineLink,
    /// The person, or the text of the caller that names none.
    pub(super) person: Result<Person, InvalidText>,
}

impl fmt::Debug for Approver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.person {
            Ok(Person { owner, by, means }) => write!(f, "Approver({by} for {owner}, {means})"),
            Err(why) => write!(f, "Approver({why})"),
        }
    }
}

impl Approver {
    /// Answers a request. The first valid answer wins. The permissions that it allows are in force when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::AlreadyResolved`] with the outcome, if another answer came first or the request
    /// ended otherwise; [`Refusal::UnknownRequest`]; [`Refusal::OtherOwner`]; [`Refusal::ScopeTooWide`];
    /// [`Refusal::NotAsked`].
    pub async fn answer(&self, request: RequestId, answer: Answer) -> Result<(), Error> {
        let modified = answer.modified.as_deref().map(|action| self.instead(request, action)).transpose()?;
        let command = Command::Answer { request, answer, modified, by: self.person()? };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// Understands the action that replaces the requested one, as the asker would mean it. It keeps the tool if none is
    /// named.
    fn instead(&self, request: RequestId, action: &Action) -> Result<Arc<ResolvedAction>, Error> {
        let (profile, asked) = self.shared.look(|state, _| {
            let waiting = state.pending.get(&request).ok_or(Refusal::UnknownRequest(request))?;
            let profile = Arc::clone(&state.agent(&waiting.request.from)?.profile);
            Ok::<_, Refusal>((profile, waiting.request.action.clone()))
        })??;
        let tool = action.tool.clone().or(asked.as_ref().map(|facts| facts.tool.clone()));
        let circumstances = asked.as_ref().and_then(|facts| facts.circumstances);
        let directory = asked.and_then(|facts| facts.directory.clone());
        let action = Action { tool, circumstances, directory, ..action.clone() };
        self.shared.understood(&profile, &action).map(Arc::new)
    }

    /// Approves exactly `action` of an agent once, even if it is destructive. Rules that deny it still apply.
    ///
    /// # Authority
    ///
    /// A person authorizes this. The approval lets exactly this action use, once, what its own line names and what its
    /// program needs, although the agent does not hold those permissions. Permissions that are declared beside the line
    /// ([`Action::needing`], the path of an [`Action::write`]) must still be held. The approval creates no grant.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent belongs to another owner.
    pub async fn enable(
        &self,
        agent: impl OrText<AgentId>,
        action: &Action,
        reason: impl OrText<Reason>,
    ) -> Result<SavedDecisionId, Error> {
        let (agent, reason) = (agent.value()?, reason.value()?);
        let profile = self.shared.look(|state, _| state.agent(&agent).map(|agent| Arc::clone(&agent.profile)))??;
        let action = Arc::new(self.shared.understood(&profile, action)?);
        let command = Command::Enable { by: self.person()?, agent, action, reason };
        let events = self.shared.execute(command).acknowledged().await?;
        let made = |event: &Event| if let Event::RulingMade { ruling } = event { Some(ruling.id) } else { None };
        events.iter().find_map(made).ok_or(Error::Closed)
    }

    /// Revokes the saved decision of a person of this owner about an action.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the saved decision does not exist, or is about an agent of another owner.
    pub async fn revoke_ruling(&self, ruling: SavedDecisionId, reason: Option<Reason>) -> Result<(), Error> {
        let Person { owner, by, means } = self.person()?;
        let by = Actor::Person { by, means };
        let command = Command::RevokeRuling { ruling, by, owner: Some(owner), reason };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// Finds the waiting request with this short code, which people use to name it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if no waiting request has the code, with its outcome if the request is remembered; or if two
    /// have it.
    pub fn request_with_code(&self, code: &str) -> Result<RequestId, Error> {
        let owner = self.person()?.owner;
        let wanted = Code::as_typed(code);
        let mut matching = self.pending()?.into_iter().filter(|pending| pending.request.code().to_string() == wanted);
        match (matching.next(), matching.next()) {
            (Some(pending), None) => Ok(pending.request.id),
            (Some(pending), Some(_)) => Err(Refusal::AmbiguousCode(pending.request.code()).into()),
            (None, _) => Err(match self.shared.ended_with_code(&wanted)?.filter(|how| how.owner == owner) {
                Some(how) => Refusal::AlreadyResolved(how).into(),
                None => Refusal::UnknownCode(code.into()).into(),
            }),
        }
    }

    /// Grants permissions without a request.
    ///
    /// # Authority
    ///
    /// A person authorizes this: it is a root of authority.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent belongs to another owner, or a permission is protected.
    pub async fn give(
        &self,
        to: impl OrText<AgentId>,
        permissions: impl OrText<Permissions>,
        scope: Scope,
        reason: impl OrText<Reason>,
    ) -> Result<Vec<GrantId>, Error> {
        self.give_to_hold(to.value()?, permissions.value()?, Hold::Use, scope, reason.value()?).await
    }

    /// Grants permissions that the agent may pass on but not use (`grant_only`).
    ///
    /// # Errors
    ///
    /// The errors of [`Approver::give`].
    pub async fn give_to_pass_on(
        &self,
        to: impl OrText<AgentId>,
        permissions: impl OrText<Permissions>,
        scope: Scope,
        reason: impl OrText<Reason>,
    ) -> Result<Vec<GrantId>, Error> {
        self.give_to_hold(to.value()?, permissions.value()?, Hold::PassOn, scope, reason.value()?).await
    }

    async fn give_to_hold(
        &self,
        to: AgentId,
        permissions: Permissions,
        hold: Hold,
        scope: Scope,
        reason: Reason,
    ) -> Result<Vec<GrantId>, Error> {
        let start = |permission| Ok(Start { pinned: self.shared.pin(permission)?, hold });
        let permissions = permissions.iter().map(start).collect::<Result<_, Error>>()?;
        let command = Command::Give { by: self.person()?, to, permissions, reason, scope };
        self.shared.execute(command).acknowledged().await.map(|events| granted(&events))
    }

    /// Revokes a grant of an agent of this owner, with every grant that depends on it alone.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the grant does not exist, belongs to another owner, or comes from a policy file.
    pub async fn revoke(&self, grant: GrantId, reason: Option<Reason>) -> Result<(), Error> {
        self.revoked(grant, reason).await.map(drop)
    }

    /// Revokes like [`Approver::revoke`]. Returns the revocation, which names all grants that ended and which
    /// [`Approver::undo`] takes back.
    ///
    /// # Errors
    ///
    /// The errors of [`Approver::revoke`].
    pub async fn revoke_undoably(&self, grant: GrantId, reason: Option<Reason>) -> Result<Revocation, Error> {
        // The runs are those before the revocation. An agent with another run then is another agent or has gone on.
        let runs = self.shared.look(|state, now| state.runs_that_depend_on(grant, now))?;
        let ended = |event| if let Event::GrantRevoked { grant, .. } = event { Some(grant) } else { None };
        let ended = self.revoked(grant, reason).await?.into_iter().filter_map(ended);
        let (own, also_ended): (Vec<_>, Vec<_>) = ended.partition(|ended| ended.id == grant);
        let revoked = own.into_iter().next().map(Revoked::Grant).ok_or(Error::Closed)?;
        Ok(Revocation { by: self.person()?.actor(), revoked, also_ended, runs })
    }

    /// Revokes like [`Approver::revoke_ruling`]. [`Approver::undo`] takes the revocation back.
    ///
    /// # Errors
    ///
    /// The errors of [`Approver::revoke_ruling`].
    pub async fn revoke_ruling_undoably(
        &self,
        ruling: SavedDecisionId,
        reason: Option<Reason>,
    ) -> Result<Revocation, Error> {
        let saved = self.shared.look(|state, _| state.rulings.get(&ruling).cloned())?;
        let saved = saved.ok_or(Refusal::UnknownRuling(ruling))?;
        let runs = self.shared.look(|state, _| state.run_of(&saved.agent).into_iter().collect())?;
        self.revoke_ruling(ruling, reason).await?;
        let by = self.person()?.actor();
        Ok(Revocation { by, revoked: Revoked::Ruling(saved), also_ended: Vec::new(), runs })
    }

    /// Gives again what a revocation of this person ended, all of it or nothing.
    ///
    /// # Authority
    ///
    /// A person authorizes this: the revoked grant is now a grant of this person. The grants that fell with it come
    /// back from the agents that gave them.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: [`Refusal::RevocationStands`] if another person revoked, or an agent of these grants has
    /// another run by now; the errors of [`Approver::give`] and of [`Agent::grant_for`](super::Agent::grant_for).
    pub async fn undo(&self, revocation: &Revocation) -> Result<Vec<GrantId>, Error> {
        let command = Command::Restore { by: self.person()?, undone: Arc::new(revocation.clone()) };
        self.shared.execute(command).acknowledged().await.map(|events| granted(&events))
    }

    async fn revoked(&self, grant: GrantId, reason: Option<Reason>) -> Result<Vec<Event>, Error> {
        let Person { owner, by, means } = self.person()?;
        let by = Actor::Person { by, means };
        let command = Command::Revoke { grant, by, owner: Some(owner), reason };
        self.shared.execute(command).acknowledged().await
    }

    /// Accepts change number `change` of the policy file, which [`Event::ConfigHeldBack`](crate::Event::ConfigHeldBack)
    /// reported.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if no change is held back, another change is by now, or the change gives agents of other
    /// owners more, and those of this owner nothing. Of a change for agents of several owners, the part for this owner
    /// takes effect, and the rest goes on waiting under its number.
    pub async fn agree_to_widening(&self, change: u64) -> Result<(), Error> {
        let person = self.person()?;
        let (by, owner) = (person.actor(), Some(person.owner));
        let command = Command::AgreeToWidening { by, owner, change, run: fresh_run() };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// Returns every waiting request of the agents of this owner.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn pending(&self) -> Result<Vec<Pending>, Error> {
        let owner = self.person()?.owner;
        self.shared.look(|state, _| state.all_pending(Some(&owner)))
    }

    /// Returns one waiting request of the agents of this owner.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn waiting(&self, request: RequestId) -> Result<Option<Pending>, Error> {
        let owner = self.person()?.owner;
        let pending = self.shared.look(|state, _| state.pending(request))?;
        Ok(pending.filter(|pending| pending.request.owner == owner))
    }

    /// Attends as a person. Every request of this owner is shown to the returned [`ApproverSession`].
    ///
    /// # Errors
    ///
    /// [`Error::Closed`], [`Error::Store`] if the store is broken.
    pub fn attend(&self) -> Result<ApproverSession, Error> {
        self.session(None)
    }

    /// Attends as a person who looks at some runs. The returned [`ApproverSession`] shows the requests of the runs that
    /// it [watches](ApproverSession::watch), and is not woken by others. At first it watches none. The person counts as
    /// present for every request of the owner.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`], [`Error::Store`] if the store is broken.
    pub fn attend_runs(&self) -> Result<ApproverSession, Error> {
        self.session(Some(Watched::default()))
    }

    fn session(&self, watched: Option<Watched>) -> Result<ApproverSession, Error> {
        let owner = self.person()?.owner;
        let (generation, receiver) = self.shared.attend(&owner, watched)?;
        Ok(ApproverSession { shared: Arc::downgrade(&self.shared), owner, generation, receiver })
    }

    /// Returns the person.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] if the handle was created with an invalid text.
    pub(super) fn person(&self) -> Result<Person, Error> {
        Ok(self.person.clone()?)
    }
}

impl Shared {
    /// Returns how the request with this code ended. If two remembered requests have the code, the latest counts.
    pub(super) fn ended_with_code(&self, code: &str) -> Result<Option<Arc<Resolution>>, Error> {
        self.look(|state, _| {
            let ended = state.resolved.values().filter(|how| how.request.code().to_string() == code);
            ended.max_by_key(|how| how.at).cloned()
        })
    }
}
