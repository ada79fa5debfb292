//! Actions of an agent: decided, explained, recorded.

use std::sync::Arc;

use crate::{
    kernel::{Broken, Case, Command, Considered, Explanation, Judgement, Opinion, judge},
    model::{Action, Decision, Event, RequestId, Ruling, Verdict},
};

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
}

impl Authorization {
    /// What was decided, with the facts.
    pub fn decision(&self) -> &Arc<Decision> {
        match self {
            Authorization::Allowed(decision) | Authorization::Asked(decision, _) | Authorization::Denied(decision) => {
                decision
            }
        }
    }

    /// Whether it may happen now.
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
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone, or asks too often. That the answer is no is no error.
    ///
    /// # Cancellation
    ///
    /// Dropping the future before it is done may leave a question standing, as dropping the ticket does.
    pub async fn authorize(&self, action: Action) -> Result<Authorization, Error> {
        let (considered, opinions) = self.heard(action).await?;
        let broken = self.shared.broken(&self.id, considered.permissions())?;
        self.decide(considered, opinions, broken).await
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

    /// What people said about this agent's actions and still counts.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn rulings(&self) -> Result<Vec<Arc<Ruling>>, Error> {
        self.look(|_, agent, now| agent.rulings.iter().filter(|ruling| ruling.is_live(now)).cloned().collect())
    }

    fn judged<T>(&self, action: &Action, read: impl FnOnce(&Judgement, &Case<'_>) -> T) -> Result<T, Error> {
        let action = self.considered(action)?;
        let broken = self.shared.broken(&self.id, action.permissions())?;
        self.look(|state, agent, now| {
            let case = Case { state, agent, action: &action, broken: &broken, opinions: &[], now };
            read(&judge(&case), &case)
        })
    }

    /// `action`, understood as this agent means it.
    pub(super) fn considered(&self, action: &Action) -> Result<Considered, Error> {
        self.shared.consider(&*self.profile()?, action)
    }

    async fn heard(&self, action: Action) -> Result<(Considered, Vec<Opinion>), Error> {
        Ok((self.considered(&action)?, Vec::new()))
    }
}
