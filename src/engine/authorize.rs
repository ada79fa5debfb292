//! Authorizes, explains and records the actions of agents.

use std::sync::Arc;

use crate::{
    kernel::{
        Command, Evaluation, EvaluationInput, Explanation, HookVerdict, Refusal, ResolvedAction, StaleGrants, evaluate,
    },
    model::{Action, Decision, Effect, Event, RequestId, SandboxFacts, SavedDecision},
};

#[cfg(feature = "sandbox")]
use crate::model::{Cause, Verdict};

use super::{Agent, Engine, Error, Ticket};

/// The result of [`Agent::authorize`].
///
/// ```
/// # use bestow::{Action, Agent, Error, action::Authorization};
/// async fn may_run(agent: &Agent, line: &str) -> Result<bool, Error> {
///     match agent.authorize(Action::command(line)).await? {
///         Authorization::Allowed(_) => Ok(true),
///         // A person is asked now. When the ticket is granted, authorize the action again.
///         Authorization::Asked(_, ticket) => {
///             println!("{}", ticket.resolution().await);
///             Ok(false)
///         }
///         Authorization::Denied(_) | Authorization::Confined(..) | Authorization::Updated(..) => Ok(false),
///     }
/// }
/// ```
#[derive(Debug)]
#[must_use = "an action that is not allowed must not happen"]
#[allow(clippy::exhaustive_enums, reason = "a host program has to know all of them")]
pub enum Authorization {
    /// The action may happen now, once. One-time permissions and approvals for it are consumed.
    Allowed(Arc<Decision>),
    /// The action may happen only inside a sandbox. It is not allowed as it is: run it with `Agent::exec`, or confine
    /// it and report the sandbox with [`Engine::confine`].
    Confined(Arc<Decision>, Confinement),
    /// A person must decide. When the ticket is granted, authorize the same action again: then it is allowed.
    Asked(Arc<Decision>, Ticket),
    /// The action may not happen.
    Denied(Arc<Decision>),
    /// A hook changed the input. The contained action may happen now, once, instead of the requested one.
    Updated(Arc<Decision>, Box<Action>),
}

impl Authorization {
    /// Returns the decision, with its facts.
    pub fn decision(&self) -> &Arc<Decision> {
        match self {
            Authorization::Allowed(decision)
            | Authorization::Confined(decision, _)
            | Authorization::Asked(decision, _)
            | Authorization::Denied(decision)
            | Authorization::Updated(decision, _) => decision,
        }
    }

    /// Returns true if the requested action may happen now. An action that may only happen inside a sandbox is not
    /// allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Authorization::Allowed(_))
    }
}

/// An action that may happen only inside a sandbox, until the host program reports the sandbox.
#[must_use = "an action that was not confined must not happen"]
#[derive(Debug)]
pub struct Confinement {
    agent: Agent,
    action: Arc<ResolvedAction>,
    opinions: Vec<HookVerdict>,
    updated: Option<Box<Action>>,
}

impl Confinement {
    /// Returns the action that may happen instead of the requested one, if a hook changed the input.
    pub fn instead(&self) -> Option<&Action> {
        self.updated.as_deref()
    }
}

impl Engine {
    /// Reports the sandbox that a host program set up for an action which is allowed only inside one. Then it may run.
    ///
    /// The facts are recorded (`sandbox.applied`) as `stated`, and the action is evaluated again. One-time permissions
    /// and approvals are consumed. Call this when the sandbox is set up and nothing has run in it yet.
    ///
    /// # Authority
    ///
    /// The engine believes these facts. An agent cannot report them about itself.
    ///
    /// ```compile_fail,E0599
    /// use bestow::{Agent, action::Confinement, event::SandboxFacts};
    /// async fn confine_oneself(agent: Agent, what: Confinement, facts: SandboxFacts) {
    ///     agent.confine(what, facts).await;
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the action is denied by now, if the facts let it write or reach more than it uses
    /// ([`Refusal::WiderThanDecided`]), or if another engine decided it.
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
    /// Decides if `action` may happen now, and records the evaluation (`permission.evaluated`).
    ///
    /// An allowed action consumes one-time permissions and approvals, so each call allows it once. If a person must
    /// decide, the engine opens a request like [`Agent::request`], and the ticket returns the outcome. The person
    /// approves this exact input: any other input needs another request (`sources/002`, "Permission decision").
    ///
    /// This reads the disk on the calling task. An action that uses a whole directory may take a second.
    ///
    /// ```
    /// use bestow::{
    ///     Action, Agent, Answer, Engine, Error, InitialGrants, Kind, Outcome, Profile, Settings,
    ///     action::Authorization,
    /// };
    ///
    /// # fn carry_out(_: &Action) -> String { "built".to_owned() }
    /// async fn call(agent: &Agent, action: Action) -> Result<String, Error> {
    ///     loop {
    ///         match agent.authorize(action.clone()).await? {
    ///             Authorization::Allowed(_) => return Ok(carry_out(&action)),
    ///             // The hook's input replaces the requested one.
    ///             Authorization::Updated(_, other) => return Ok(carry_out(&other)),
    ///             Authorization::Asked(_, ticket) => {
    ///                 let ended = ticket.resolution().await; // meanwhile, other tasks go on
    ///                 if ended.outcome != Outcome::Granted {
    ///                     return Ok(format!("not now: {ended}")); // for the model, with the person's reason
    ///                 }
    ///             }
    ///             // For the person who asks for the reason: each stage, and the missing permission or approval.
    ///             Authorization::Denied(decision) | Authorization::Confined(decision, _) => {
    ///                 eprintln!("{}", agent.explain(&action)?);
    ///                 return Ok(format!("no: {}", decision.decision_reason));
    ///             }
    ///         }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::new(Settings::default())?;
    /// let profile = Profile::new("lead".parse()?, "you".parse()?, Kind::Foreground, "/tmp".parse()?);
    /// let agent = engine.register(profile, InitialGrants::nothing()).await?;
    /// let you = engine.approver("you", "ann", "terminal");
    /// tokio::spawn(engine.serve_user("lead", &you, async |question| {
    ///     println!("[{}] {question}", question.code()); // untrusted text in it is quoted
    ///     Answer::allow()
    /// }));
    /// let action = Action::tool("Bash".parse()?, serde_json::json!({ "command": "make" }));
    /// assert_eq!(call(&agent, action.because("to build the site".parse()?)).await?, "built");
    /// let never = Action::command("rm -rf /");
    /// assert!(call(&agent, never).await?.starts_with("no: "));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Hooks are asked first, all at the same time, each for at most
    /// [`Settings::hook_timeout`](crate::Settings::hook_timeout).
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone, or asks too often. [`Error::NoRuntime`] if there are hooks and no Tokio
    /// runtime. A denial is no error.
    ///
    /// # Cancellation
    ///
    /// Dropping the future before the hooks have answered records only that they were asked in vain. The rest is one
    /// step: the decision takes effect with all its consequences, or not at all.
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

    async fn decide(
        &self,
        action: ResolvedAction,
        opinions: Vec<HookVerdict>,
        broken: StaleGrants,
    ) -> Result<Authorization, Error> {
        let request = self.shared.fresh_request();
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

    /// Executes a command about `action`. If the kernel returned no events because the permissions were not yet bound
    /// to the disk, this binds all of them and executes the command again.
    async fn execute_about(
        &self,
        action: Arc<ResolvedAction>,
        command: impl Fn(Arc<ResolvedAction>) -> Command,
    ) -> Result<(Vec<Event>, Arc<ResolvedAction>), Error> {
        let events = self.execute(command(Arc::clone(&action))).await?;
        if action.placed || !events.is_empty() {
            return Ok((events, action));
        }
        let action = Arc::into_inner(action).ok_or(Error::Closed)?;
        let action = Arc::new(self.shared.placed(action));
        Ok((self.execute(command(Arc::clone(&action))).await?, action))
    }

    /// Authorizes one run of `action` inside the library's sandbox and records the evaluation, or returns the reason
    /// for the denial. An action that needs a person's approval is denied here; [`Agent::authorize`] opens the request.
    #[cfg(feature = "sandbox")]
    pub(crate) async fn go_ahead(&self, action: Action) -> Result<Option<Arc<Cause>>, Error> {
        let (action, opinions) = self.unchanged(action).await?;
        self.let_run(action, opinions).await
    }

    /// Authorizes like `go_ahead`, for the host program, which confines the action to what it names. An action that
    /// needs an approval only because of its tier is then allowed.
    #[cfg(feature = "sandbox")]
    pub(crate) async fn go_ahead_confined(&self, action: Action) -> Result<Option<Arc<Cause>>, Error> {
        let (action, opinions) = self.unchanged(action).await?;
        self.let_run(ResolvedAction { confined: true, ..action }, opinions).await
    }

    /// Asks the hooks about `action`. A hook that changed the input counts as a denial, because the command runs as
    /// written.
    #[cfg(feature = "sandbox")]
    async fn unchanged(&self, action: Action) -> Result<(ResolvedAction, Vec<HookVerdict>), Error> {
        let heard = self.heard(action.clone()).await?;
        if heard.updated.is_none() {
            return Ok((heard.action, heard.opinions));
        }
        let hook = "changed the input".into();
        let why = Some("the engine runs exactly the words of the command, so nothing can replace them".into());
        Ok((
            self.considered(&action)?,
            vec![HookVerdict { hook, verdict: Verdict::Deny, failed: false, about: 0, why }],
        ))
    }

    #[cfg(feature = "sandbox")]
    async fn let_run(&self, action: ResolvedAction, opinions: Vec<HookVerdict>) -> Result<Option<Arc<Cause>>, Error> {
        let broken = self.shared.broken(&self.id, action.permissions())?;
        let run = |action| {
            let (agent, opinions, broken) = (self.id.clone(), opinions.clone(), broken.clone());
            Command::ActConfined { agent, action, opinions, broken, applied: None }
        };
        let (events, _) = self.execute_about(Arc::new(action), run).await?;
        // A command without a decision did not run.
        let decision = events.iter().find_map(Event::decided).ok_or(Error::Closed)?;
        Ok(Cause::of(decision).map(Arc::new))
    }

    /// Returns the decision that `action` would get now. This opens no request, consumes no permission, records no
    /// event and asks no hook. It reads the disk on the calling thread, like [`Agent::authorize`].
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn verdict(&self, action: &Action) -> Result<Effect, Error> {
        self.judged(action, |judgement, _| judgement.conclusion.ruled.verdict())
    }

    /// Explains the decision that `action` would get now: the result of each stage, the place of each rule, the
    /// provenance of the permissions, and what would make the action allowed.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn explain(&self, action: &Action) -> Result<Explanation, Error> {
        self.judged(action, |judgement, case| judgement.explanation(case))
    }

    /// Explains like [`Agent::explain`], for an action that the host program would confine to what it names
    /// (`go_ahead_confined`).
    #[cfg(all(feature = "sandbox", feature = "schedule"))]
    pub(crate) fn explain_confined(&self, action: &Action) -> Result<Explanation, Error> {
        let action = ResolvedAction { confined: true, ..self.considered(action)? };
        self.judged_as(action, |judgement, case| judgement.explanation(case))
    }

    /// Returns the saved decisions about actions of this agent that are still valid.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn rulings(&self) -> Result<Vec<Arc<SavedDecision>>, Error> {
        self.look(|_, agent, now| agent.rulings.iter().filter(|ruling| ruling.is_live(now)).cloned().collect())
    }

    pub(super) fn judged<T>(
        &self,
        action: &Action,
        read: impl FnOnce(&Evaluation<'_>, &EvaluationInput<'_>) -> T,
    ) -> Result<T, Error> {
        self.judged_as(self.considered(action)?, read)
    }

    fn judged_as<T>(
        &self,
        mut action: ResolvedAction,
        read: impl FnOnce(&Evaluation<'_>, &EvaluationInput<'_>) -> T,
    ) -> Result<T, Error> {
        let broken = self.shared.broken(&self.id, action.permissions())?;
        let mut read = Some(read);
        loop {
            let read = self.look(|state, agent, now| {
                let case = EvaluationInput { state, agent, action: &action, broken: &broken, opinions: &[], now };
                let judgement = evaluate(&case);
                let is_decided = !action.lacks_place_of(judgement.lacking.iter());
                read.take_if(|_| is_decided).map(|read| read(&judgement, &case))
            })?;
            match read {
                Some(read) => return Ok(read),
                None => action = self.shared.placed(action),
            }
        }
    }

    /// Resolves `action` for this agent.
    pub(super) fn considered(&self, action: &Action) -> Result<ResolvedAction, Error> {
        self.shared.understood_so_far(&*self.profile()?, action)
    }
}
