//! Actions of an agent: decided, explained, recorded.

use std::sync::Arc;

use crate::{
    kernel::{Broken, Case, Command, Considered, Explanation, Judgement, Opinion, Refusal, judge},
    model::{Action, Decision, Effect, Event, RequestId, Ruling, SandboxFacts},
};

#[cfg(feature = "sandbox")]
use crate::model::{Cause, Verdict};

use super::{Agent, Engine, Error, Ticket, fresh_request};

/// What came of [`Agent::authorize`].
#[derive(Debug)]
#[must_use = "an action that is not allowed must not happen"]
#[allow(clippy::exhaustive_enums, reason = "a host program has to know all of them")]
pub enum Authorization {
    /// It may happen now, once. What was for one use is used up.
    Allowed(Arc<Decision>),
    /// It may happen inside a sandbox, and nowhere else. That is no yes: carry it out with `Agent::exec`, or confine it and
    /// report how with [`Engine::confine`].
    Confined(Arc<Decision>, Confinement),
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
            | Authorization::Confined(decision, _)
            | Authorization::Asked(decision, _)
            | Authorization::Denied(decision)
            | Authorization::Updated(decision, _) => decision,
        }
    }

    /// Whether it may happen now, as it was asked about. What may happen only inside a sandbox may not.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Authorization::Allowed(_))
    }
}

/// An action that may happen inside a sandbox only, until somebody reports that it is in one.
#[must_use = "an action that was not confined must not happen"]
#[derive(Debug)]
pub struct Confinement {
    agent: Agent,
    action: Arc<Considered>,
    opinions: Vec<Opinion>,
    updated: Option<Box<Action>>,
}

impl Confinement {
    /// The action that may happen in the place of the one that was asked about, if a hook changed the input.
    pub fn instead(&self) -> Option<&Action> {
        self.updated.as_deref()
    }
}

impl Engine {
    /// Reports the sandbox that a host program has put around an action which may happen inside one only; then it may.
    ///
    /// The facts are recorded (`sandbox.applied`), with `stated` for how they are known, and the action is decided once
    /// more. It uses up what was for one use. Call it when the sandbox stands and nothing has run in it.
    ///
    /// # Authority
    ///
    /// The engine believes what it is told here. An agent cannot say it about itself.
    ///
    /// ```compile_fail,E0599
    /// async fn confine_oneself(agent: bestow::Agent, what: bestow::Confinement, facts: bestow::SandboxFacts) {
    ///     agent.confine(what, facts).await;
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: it may not happen by now, the facts let it write or reach more than it uses
    /// ([`Refusal::WiderThanDecided`]), or it was decided by another engine.
    pub async fn confine(&self, what: Confinement, mut facts: SandboxFacts) -> Result<Arc<Decision>, Error> {
        let Confinement { agent, action, opinions, .. } = what;
        if !Arc::ptr_eq(&self.shared, &agent.shared) {
            return Err(Refusal::UnknownAgent(agent.id).into());
        }
        facts.enforced = SandboxFacts::STATED.into();
        let broken = agent.shared.broken(&agent.id, action.permissions())?;
        let (of, applied) = (agent.id.clone(), Some(Arc::new(facts)));
        let run = |action| {
            let (agent, opinions, broken) = (of.clone(), opinions.clone(), broken.clone());
            Command::ActConfined { agent, action, opinions, broken, applied: applied.clone() }
        };
        let (events, _) = agent.execute_about(action, run).await?;
        events.iter().find_map(Event::decided).cloned().ok_or(Error::Closed)
    }
}

impl Agent {
    /// Decides whether `action` may happen now, and leaves the record (`permission.evaluated`).
    ///
    /// A yes uses up what was for one use; so each yes is for one happening. Where a person has to say, the question is
    /// asked as [`Agent::request`] asks, and the ticket tells how it ended. What the person allows is this very input:
    /// whatever differs is another question (`sources/002`, "Permission decision").
    ///
    /// It looks at the disk on the task that calls: what an action uses with all below it may take a second.
    ///
    /// ```
    /// use bestow::{
    ///     Action, Agent, Answer, Approver, Authorization, Engine, Error, Holding, Kind, Outcome, Profile, Settings, ToPerson,
    /// };
    ///
    /// # fn carry_out(_: &Action) -> String { "built".to_owned() }
    /// async fn call(agent: &Agent, action: Action) -> Result<String, Error> {
    ///     loop {
    ///         match agent.authorize(action.clone()).await? {
    ///             Authorization::Allowed(_) => return Ok(carry_out(&action)),
    ///             // The hook's input, and not the one that was asked about.
    ///             Authorization::Updated(_, other) => return Ok(carry_out(&other)),
    ///             Authorization::Asked(_, ticket) => {
    ///                 let ended = ticket.resolution().await; // meanwhile, other tasks go on
    ///                 if ended.outcome != Outcome::Granted {
    ///                     return Ok(format!("not now: {ended}")); // for the model, with what the person said
    ///                 }
    ///             }
    ///             // For the person who wonders why: each stage, and what would make it allowed.
    ///             Authorization::Denied(decision) | Authorization::Confined(decision, _) => {
    ///                 eprintln!("{}", agent.explain(&action)?);
    ///                 return Ok(format!("no: {}", decision.decision_reason));
    ///             }
    ///         }
    ///     }
    /// }
    ///
    /// async fn person(you: Approver) -> Result<(), Error> {
    ///     let mut there = you.attend()?; // while this lives, somebody is there
    ///     while let Some(shown) = there.next().await {
    ///         if let ToPerson::Ask(question) = shown {
    ///             println!("[{}] {question}", question.code()); // everything foreign in it is quoted
    ///             you.answer(question.id, Answer::allow()).await?;
    ///         }
    ///     }
    ///     Ok(())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::new(Settings::default())?;
    /// let profile = Profile::new("lead".parse()?, "you".parse()?, Kind::Foreground, "/tmp".parse()?);
    /// let agent = engine.register(profile, Holding::nothing()).await?;
    /// tokio::spawn(person(engine.approver(&"you".parse()?, "ann".parse()?, "terminal")));
    /// let action = Action::tool("Bash".parse()?, serde_json::json!({ "command": "make" }));
    /// assert_eq!(call(&agent, action.because("to build the site".parse()?)).await?, "built");
    /// let never = Action::command("rm -rf /");
    /// assert!(call(&agent, never).await?.starts_with("no: "));
    /// # Ok(())
    /// # }
    /// ```
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
            (Authorization::Confined(decision, what), updated) => {
                Authorization::Confined(decision, Confinement { updated, ..what })
            }
            (decided, _) => decided,
        })
    }

    async fn decide(&self, action: Considered, opinions: Vec<Opinion>, broken: Broken) -> Result<Authorization, Error> {
        let request = fresh_request();
        let ask = |action| {
            let (agent, opinions, broken) = (self.id.clone(), opinions.clone(), broken.clone());
            Command::Authorize { agent, action, opinions, request, broken }
        };
        let (events, action) = self.execute_about(Arc::new(action), ask).await?;
        let decision = events.iter().find_map(Event::decided).ok_or(Error::Closed)?;
        match decision.verdict() {
            Effect::Allow => Ok(Authorization::Allowed(Arc::clone(decision))),
            Effect::Confined => {
                let what = Confinement { agent: self.clone(), action, opinions, updated: None };
                Ok(Authorization::Confined(Arc::clone(decision), what))
            }
            Effect::Deny => Ok(Authorization::Denied(Arc::clone(decision))),
            Effect::Ask => {
                let asked: RequestId = events.iter().find_map(Event::opened).unwrap_or(request);
                Ok(Authorization::Asked(Arc::clone(decision), self.ticket(asked)?))
            }
        }
    }

    /// Carries out a command about `action`; once more with all its rights bound to the disk, if the kernel did nothing for
    /// lack of that.
    async fn execute_about(
        &self,
        action: Arc<Considered>,
        command: impl Fn(Arc<Considered>) -> Command,
    ) -> Result<(Vec<Event>, Arc<Considered>), Error> {
        let events = self.execute(command(Arc::clone(&action))).await?;
        if action.placed || !events.is_empty() {
            return Ok((events, action));
        }
        let action = Arc::into_inner(action).ok_or(Error::Closed)?;
        let action = Arc::new(self.shared.placed(action));
        Ok((self.execute(command(Arc::clone(&action))).await?, action))
    }

    /// Lets `action` happen now inside the library's sandbox, once, and leaves the record; or says why not. A question is no here: it is asked with
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
        let run = |action| {
            let (agent, opinions, broken) = (self.id.clone(), opinions.clone(), broken.clone());
            Command::ActConfined { agent, action, opinions, broken, applied: None }
        };
        let (events, _) = self.execute_about(Arc::new(action), run).await?;
        // Without a decision nothing was let happen.
        let decision = events.iter().find_map(Event::decided).ok_or(Error::Closed)?;
        Ok(Cause::of(decision).map(Arc::new))
    }

    /// What would be decided about `action` now. Nothing is asked, used up or recorded; hooks are not heard.
    /// It looks at the disk on the thread that calls, as [`Agent::authorize`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn verdict(&self, action: &Action) -> Result<Effect, Error> {
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
        self.judged_as(action, |judgement, case| judgement.explanation(case))
    }

    /// What people said about this agent's actions and still counts.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn rulings(&self) -> Result<Vec<Arc<Ruling>>, Error> {
        self.look(|_, agent, now| agent.rulings.iter().filter(|ruling| ruling.is_live(now)).cloned().collect())
    }

    pub(super) fn judged<T>(
        &self,
        action: &Action,
        read: impl FnOnce(&Judgement<'_>, &Case<'_>) -> T,
    ) -> Result<T, Error> {
        self.judged_as(self.considered(action)?, read)
    }

    fn judged_as<T>(
        &self,
        mut action: Considered,
        read: impl FnOnce(&Judgement<'_>, &Case<'_>) -> T,
    ) -> Result<T, Error> {
        let broken = self.shared.broken(&self.id, action.permissions())?;
        let mut read = Some(read);
        loop {
            let read = self.look(|state, agent, now| {
                let case = Case { state, agent, action: &action, broken: &broken, opinions: &[], now };
                let judgement = judge(&case);
                let is_decided = !action.lacks_place_of(judgement.lacking.iter());
                read.take_if(|_| is_decided).map(|read| read(&judgement, &case))
            })?;
            match read {
                Some(read) => return Ok(read),
                None => action = self.shared.placed(action),
            }
        }
    }

    /// `action`, understood as this agent means it.
    pub(super) fn considered(&self, action: &Action) -> Result<Considered, Error> {
        self.shared.understood_so_far(&*self.profile()?, action)
    }
}
