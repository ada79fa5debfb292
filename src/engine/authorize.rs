//! Actions of an agent: decided, explained, recorded.

use std::sync::Arc;

use crate::{
    kernel::{Broken, Case, Command, Considered, Explanation, Judgement, Opinion, judge},
    model::{Action, Decision, Event, RequestId, Ruling, Verdict},
};

#[cfg(feature = "sandbox")]
use crate::model::Cause;

use super::{Agent, Error, Ticket, fresh_request};

/// What came of [`Agent::authorize`].
#[derive(Debug)]
#[must_use = "an action that is not allowed must not happen"]
#[allow(clippy::exhaustive_enums, reason = "yes, a question, and no are all there is")]
pub enum Authorization {
    /// It may happen now, once. What was for one use is used up.
    Allowed(Arc<Decision>),
    /// A person has to say. When the ticket is granted, authorize the same action again: then it is allowed.
    Asked(Arc<Decision>, Ticket),
    /// It may not happen.
    Denied(Arc<Decision>),
    /// Not what was asked about, but this may happen now, once, in its place: a hook changed the input.
    Updated(Arc<Decision>, Box<Action>),
}

impl Authorization {
    /// What was decided, with the facts.
    pub fn decision(&self) -> &Arc<Decision> {
        match self {
            Authorization::Allowed(decision)
            | Authorization::Asked(decision, _)
            | Authorization::Denied(decision)
            | Authorization::Updated(decision, _) => decision,
        }
    }

    /// Whether it may happen now, as it was asked about.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Authorization::Allowed(_))
    }
}

impl Agent {
    /// Decides whether `action` may happen now, and leaves the record (`permission.evaluated`).
    ///
    /// A yes uses up what was for one use; so each yes is for one happening. Where a person has to say, the question is
    /// asked as [`Agent::request`] asks, and the ticket tells how it ended. What the person allows is this very input:
    /// whatever differs is another question (`sources/002`, "Permission decision").
    ///
    /// Hooks are heard first, all at once, each for at most [`Settings::hook_timeout`](crate::Settings::hook_timeout).
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone, or asks too often. [`Error::NoRuntime`] if there are hooks and no Tokio
    /// runtime. That the answer is no is no error.
    ///
    /// # Cancellation
    ///
    /// Until the hooks are heard, dropping the future leaves nothing but the fact that they were asked in vain. What comes
    /// then is one step: a decision with all its consequences, or none of it.
    pub async fn authorize(&self, action: Action) -> Result<Authorization, Error> {
        let heard = self.heard(action).await?;
        let broken = self.shared.broken(&self.id, heard.action.permissions())?;
        let updated = heard.updated;
        let decided = self.decide(heard.action, heard.opinions, broken).await?;
        Ok(match (decided, updated) {
            (Authorization::Allowed(decision), Some(action)) => Authorization::Updated(decision, action),
            (decided, _) => decided,
        })
    }

    async fn decide(&self, action: Considered, opinions: Vec<Opinion>, broken: Broken) -> Result<Authorization, Error> {
        let (agent, action, request) = (self.id.clone(), Arc::new(action), fresh_request());
        let events = self.execute(Command::Authorize { agent, action, opinions, request, broken }).await?;
        let decision = events.iter().find_map(Event::decided).ok_or(Error::Closed)?;
        match decision.verdict() {
            Verdict::Allow => Ok(Authorization::Allowed(Arc::clone(decision))),
            Verdict::Deny => Ok(Authorization::Denied(Arc::clone(decision))),
            Verdict::Ask => {
                let asked: RequestId = events.iter().find_map(Event::opened).unwrap_or(request);
                Ok(Authorization::Asked(Arc::clone(decision), self.ticket(asked)?))
            }
        }
    }

    /// Lets `action` happen now, once, and leaves the record; or says why not. A question is no here: it is asked with
    /// [`Agent::authorize`].
    #[cfg(feature = "sandbox")]
    pub(crate) async fn go_ahead(&self, action: Action) -> Result<Option<Arc<Cause>>, Error> {
        let (action, opinions) = self.unchanged(action).await?;
        self.let_run(action, opinions).await
    }

    /// The same for the host program, which runs it confined to what it names: then what nothing but its tier asks is no
    /// question.
    #[cfg(all(feature = "sandbox", feature = "schedule"))]
    pub(crate) async fn go_ahead_confined(&self, action: Action) -> Result<Option<Arc<Cause>>, Error> {
        let (action, opinions) = self.unchanged(action).await?;
        self.let_run(Considered { confined: true, ..action }, opinions).await
    }

    /// What the hooks say about just `action`: whoever runs a command runs its words, and not what a hook put in their place.
    #[cfg(feature = "sandbox")]
    async fn unchanged(&self, action: Action) -> Result<(Considered, Vec<Opinion>), Error> {
        let heard = self.heard(action.clone()).await?;
        if heard.updated.is_none() {
            return Ok((heard.action, heard.opinions));
        }
        let hook = "changed the input".into();
        let why = Some("what runs are the words of the command, and nothing in their place".into());
        Ok((self.considered(&action)?, vec![Opinion { hook, verdict: Verdict::Deny, failed: false, about: 0, why }]))
    }

    #[cfg(feature = "sandbox")]
    async fn let_run(&self, action: Considered, opinions: Vec<Opinion>) -> Result<Option<Arc<Cause>>, Error> {
        let broken = self.shared.broken(&self.id, action.permissions())?;
        let (agent, action) = (self.id.clone(), Arc::new(action));
        let events = self.execute(Command::Act { agent, action, opinions, broken }).await?;
        Ok(events.iter().find_map(Event::decided).and_then(|decision| Cause::of(decision)).map(Arc::new))
    }

    /// What would be decided about `action` now. Nothing is asked, used up or recorded; hooks are not heard.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn verdict(&self, action: &Action) -> Result<Verdict, Error> {
        self.judged(action, |judgement, _| judgement.conclusion.ruled.verdict())
    }

    /// The same with the whole way to it: what each stage says, where that is written, where the rights come from, and
    /// what would make it allowed.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn explain(&self, action: &Action) -> Result<Explanation, Error> {
        self.judged(action, |judgement, case| judgement.explanation(case))
    }

    /// The same for what the host program would have run confined to what it names (`go_ahead_confined`).
    #[cfg(all(feature = "sandbox", feature = "schedule"))]
    pub(crate) fn explain_confined(&self, action: &Action) -> Result<Explanation, Error> {
        let action = Considered { confined: true, ..self.considered(action)? };
        self.judged_as(&action, |judgement, case| judgement.explanation(case))
    }

    /// What people said about this agent's actions and still counts.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn rulings(&self) -> Result<Vec<Arc<Ruling>>, Error> {
        self.look(|_, agent, now| agent.rulings.iter().filter(|ruling| ruling.is_live(now)).cloned().collect())
    }

    fn judged<T>(&self, action: &Action, read: impl FnOnce(&Judgement<'_>, &Case<'_>) -> T) -> Result<T, Error> {
        self.judged_as(&self.considered(action)?, read)
    }

    fn judged_as<T>(&self, action: &Considered, read: impl FnOnce(&Judgement<'_>, &Case<'_>) -> T) -> Result<T, Error> {
        let broken = self.shared.broken(&self.id, action.permissions())?;
        self.look(|state, agent, now| {
            let case = Case { state, agent, action, broken: &broken, opinions: &[], now };
            read(&judge(&case), &case)
        })
    }

    /// `action`, understood as this agent means it.
    pub(super) fn considered(&self, action: &Action) -> Result<Considered, Error> {
        self.shared.consider(&*self.profile()?, action)
    }
}
