//! The handle: what a host program holds, and what it hands to agents and approvers.
//!
//! [`Engine`] is the operator's handle. An [`Agent`] acts as one agent and no other; an [`Approver`] is the only
//! thing that can answer. Whoever holds none of them can do nothing.

mod agent;
mod approver;
mod authorize;
mod below;
mod cell;
mod consider;
mod declarations;
mod error;
mod files;
mod guards;
mod holding;
mod hooks;
mod input;
mod keep;
mod lines;
mod look;
mod mail;
mod modes;
mod obeyed;
mod outside;
mod pin;
mod presence;
mod processes;
mod program;
mod publish;
mod rehearse;
mod resolved;
mod restore;
mod runs;
mod shared;
mod subscription;
mod surface;
mod tell;
mod ticket;
mod timer;
mod tool_call;

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use crate::{
    command::Classifier,
    kernel::{Check, Command, Refusal, Start, State},
    model::{
        Actor, AgentId, ApproverId, Envelope, GrantId, Hold, HookName, Means, OwnerId, Permission, Policy, Profile,
        Reason, Recorded, RequestId, Right, RulingId, RunId, RuntimeId, SanitizedPath, Settings, Tools, Want,
    },
    seam::{Clock, DiskPaths, Hook, Paths, SystemClock},
};

use self::shared::Shared;
pub use self::{
    agent::Agent,
    approver::Approver,
    authorize::{Authorization, Confinement},
    error::{Error, FileFailure},
    files::Files,
    holding::Holding,
    mail::{Mail, Mailbox},
    rehearse::Rehearsal,
    resolved::Resolved,
    subscription::{NoEvent, Subscription},
    surface::{Attendance, Connection, Heard, ToPerson},
    ticket::Ticket,
};
#[cfg(feature = "sandbox")]
pub(crate) use outside::Outside;
#[cfg(feature = "sandbox")]
pub(crate) use processes::{Standing, WeakAgent};
#[cfg(feature = "config")]
pub(crate) use rehearse::Examples;

/// The operator's handle to one running engine. Clones share it; when the last handle of any kind is gone, every
/// waiting question is over.
///
/// # Authority
///
/// Whoever holds this can do everything: add agents with any rights, act as any of them, answer for any owner.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("open", &self.shared.is_open()).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine that knows nobody, on this machine's clock and disk, in the Tokio runtime it is made in.
    ///
    /// # Errors
    ///
    /// [`Error::NoRuntime`] outside a runtime.
    pub fn new(settings: Settings) -> Result<Engine, Error> {
        Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(DiskPaths))
    }

    /// The same on another clock and other paths.
    ///
    /// # Errors
    ///
    /// [`Error::NoRuntime`] outside a runtime, [`Error::Commands`] if rules about commands contradict their examples.
    pub fn on(settings: Settings, clock: Arc<dyn Clock>, paths: Arc<dyn Paths>) -> Result<Engine, Error> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let classifier = Classifier::for_settings(&settings)?;
        let shared = Arc::new(Shared::new(State::new(settings).on(paths.floor()), classifier, clock, paths, seed()));
        runtime.spawn(timer::run(Arc::downgrade(&shared)));
        Ok(Engine { shared })
    }

    /// Adds an agent with what it starts with. Paths are followed to where they really lead.
    ///
    /// # Authority
    ///
    /// This is where authority comes from: nobody has to hold what is given here.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the id is taken, or something is protected; [`Error::Path`] if a path cannot be followed.
    pub async fn register(&self, profile: Profile, holding: Holding) -> Result<Agent, Error> {
        let start =
            |(permission, hold): &(Permission, Hold)| Ok(Start { right: self.shared.pin(permission)?, hold: *hold });
        let rights = holding.permissions.iter().map(start).collect::<Result<_, Error>>()?;
        let id = profile.id.clone();
        let run = fresh_run();
        self.shared.execute(Command::Register { profile, run, rights }).acknowledged().await?;
        self.agent(&id)
    }

    /// Removes an agent. What it held, gave, asked and waited for ends with it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none.
    pub async fn retire(&self, agent: &AgentId) -> Result<(), Error> {
        self.shared.execute(Command::Retire { agent: agent.clone() }).acknowledged().await.map(drop)
    }

    /// Acts as one agent.
    ///
    /// # Authority
    ///
    /// Whoever gets the result can act as `id`.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none.
    pub fn agent(&self, id: &AgentId) -> Result<Agent, Error> {
        let unknown = || Error::Refused(Refusal::UnknownAgent(id.clone()));
        let cell = self.shared.cell(id).ok_or_else(unknown)?;
        Ok(Agent { shared: Arc::clone(&self.shared), id: id.clone(), cell })
    }

    /// Answers for one owner, as `by`, through `means` (`terminal`, `dashboard`, …); both stay with every decision.
    ///
    /// # Authority
    ///
    /// Whoever gets the result can give agents of `owner` anything that is not protected.
    pub fn approver(&self, owner: &OwnerId, by: ApproverId, means: impl Into<Means>) -> Approver {
        Approver { shared: Arc::clone(&self.shared), owner: owner.clone(), by, means: means.into() }
    }

    /// Whether `agent` holds `want` now. An agent nobody registered holds nothing. Who asks often keeps an [`Agent`].
    pub fn check<'w>(&self, agent: &AgentId, want: impl Into<Want<'w>>) -> Check {
        if !self.shared.is_open() {
            return Check::NotHeld;
        }
        let cell = self.shared.cell(agent);
        cell.map_or(Check::NotHeld, |cell| cell.check(want.into(), || self.shared.clock.now().ok()))
    }

    /// Every path that is protected: what no engine gives up, and what the settings in force add. Nothing reaches one but a
    /// line of a file that names exactly it; below `/proc` and on disks below `/dev` the name alone says no.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn protected(&self) -> Result<Vec<SanitizedPath>, Error> {
        self.shared.look(|state, _| state.protected_paths())
    }

    /// Opens the way to the user of a foreground agent. An earlier one of the same agent closes.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, or it is not a foreground agent.
    pub fn connect(&self, agent: &AgentId) -> Result<Connection, Error> {
        let (generation, receiver) = self.shared.connect(agent)?;
        Ok(Connection { shared: Arc::downgrade(&self.shared), agent: agent.clone(), generation, receiver })
    }

    /// Notes that a user did something through a foreground agent: the next question of a background agent goes there.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, or it is not a foreground agent.
    pub async fn user_active(&self, agent: &AgentId) -> Result<(), Error> {
        self.shared.execute(Command::UserActive { agent: agent.clone() }).acknowledged().await.map(drop)
    }

    /// Puts a message into an agent's mailbox; from its user, if `from` is none. No message carries a right.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub async fn message(&self, to: &AgentId, from: Option<&AgentId>, text: &str) -> Result<(), Error> {
        let cell = self.shared.cell(to).ok_or_else(|| Refusal::UnknownAgent(to.clone()))?;
        // Under the lock, so that it cannot reach the next agent of that name.
        self.shared.look_as(to, &cell, |_, _, _| {
            cell.mail().post(Mail::Message { from: from.cloned(), text: text.into() });
        })
    }

    /// Takes a grant away, with everything that rests on it only. After this no check that starts later sees it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none, or if it stands in a file.
    pub async fn revoke(&self, grant: GrantId, reason: Option<Reason>) -> Result<(), Error> {
        self.shared
            .execute(Command::Revoke { grant, by: Actor::Operator, owner: None, reason })
            .acknowledged()
            .await
            .map(drop)
    }

    /// Takes over a policy that was read from a file.
    ///
    /// # Authority
    ///
    /// What the policy says is given. If the settings in force ask for it, what gives more than now is held back.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the whole of it cannot be taken over, [`Error::Commands`] if rules about commands contradict
    /// their examples; then nothing of it is. [`Error::Store`] if it cannot be stored; then what of it gives nobody more than
    /// before is in force all the same, and the rest is not.
    pub async fn configure(&self, policy: Policy) -> Result<(), Error> {
        Classifier::for_settings(&policy.settings)?;
        let run = fresh_run();
        self.shared.change(Command::Configure { policy: Arc::new(policy), run }).await.map(drop)
    }

    /// Leaves the fact that a file was not taken, and that the last good one stays.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub async fn reject_config(&self, why: &str) -> Result<(), Error> {
        self.shared.execute(Command::RejectConfig { why: why.into() }).acknowledged().await.map(drop)
    }

    /// Leaves the fact that a file cannot be watched, and is looked at every now and then.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub async fn poll_config(&self, why: &str) -> Result<(), Error> {
        self.shared.execute(Command::PollConfig { why: why.into() }).acknowledged().await.map(drop)
    }

    /// Agrees to change number `change` of the file, as [`Event::ConfigHeldBack`](crate::Event::ConfigHeldBack) told it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if nothing is held back, or another change by now.
    pub async fn agree_to_widening(&self, change: u64) -> Result<(), Error> {
        self.agree_as(Actor::Operator, change).await
    }

    /// The same as somebody who stands for every owner.
    pub(crate) async fn agree_as(&self, by: Actor, change: u64) -> Result<(), Error> {
        let command = Command::AgreeToWidening { by, owner: None, change, run: fresh_run() };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// For whoever waits on this engine's time.
    #[cfg(feature = "schedule")]
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.shared.clock)
    }

    /// Leaves the fact that something happened to a scheduled task.
    #[cfg(feature = "schedule")]
    pub(crate) fn tell_task(&self, event: crate::model::TaskEvent) -> Result<(), Error> {
        self.shared.execute(Command::Task(event)).at_once().map(drop)
    }

    /// The rights to write that have ended so far.
    #[cfg(feature = "schedule")]
    pub(crate) fn write_ends(&self) -> Result<crate::kernel::WriteEnds, Error> {
        self.shared.look(|state, _| state.write_ends())
    }

    /// Returns true if the file of `task`, one of whose `paths` it is, may be an agent's, which could write it once.
    #[cfg(feature = "schedule")]
    pub(crate) fn may_be_an_agents(
        &self,
        task: &crate::model::TaskId,
        paths: &[crate::model::SanitizedPath],
        version: crate::model::FileVersion,
    ) -> Result<bool, Error> {
        self.shared.look(|state, _| state.may_be_an_agents(task, paths, version))
    }

    /// Remembers whether the file of a task is taken for a person's, where an agent could write it once.
    #[cfg(feature = "schedule")]
    pub(crate) fn judge_task_file(
        &self,
        task: &crate::model::TaskId,
        paths: &[crate::model::SanitizedPath],
        version: crate::model::FileVersion,
        ends: u64,
        trusted: bool,
    ) -> Result<(), Error> {
        let is_new = self.shared.look(|state, _| state.is_new_judgement(task, paths, version, trusted))?;
        let event = crate::model::TaskEvent::FileJudged { task: task.clone(), version, ends, trusted };
        if is_new { self.tell_task(event) } else { Ok(()) }
    }

    /// Leaves the fact that a process which spoke at the control socket was not heard.
    #[cfg(feature = "journal")]
    pub(crate) fn peer_refused(
        &self,
        peer: Arc<str>,
        order: &'static str,
        claims: Option<ApproverId>,
        why: Arc<str>,
    ) -> Result<(), Error> {
        self.shared.execute(Command::RefusePeer { peer, order, claims, why }).at_once().map(drop)
    }

    /// Hears everything that happens from now on.
    pub fn subscribe(&self) -> Subscription {
        Subscription(self.shared.subscribe())
    }

    /// What `recorded` says, in the form in which other programs take it.
    pub fn envelope(&self, recorded: &Recorded) -> Envelope {
        Envelope::of(recorded, &self.shared.runtime)
    }

    /// Asks `hook` about every action from now on, before it is decided. The name stays with what it says.
    ///
    /// # Authority
    ///
    /// A hook can keep any agent from anything, and sees what all agents do. It gives nothing.
    ///
    /// # Errors
    ///
    /// [`Error::HookExists`] if there is one of that name: nothing takes the place of a hook.
    pub fn add_hook(&self, name: HookName, hook: Arc<dyn Hook>) -> Result<(), Error> {
        self.shared.add_hook(name, hook)
    }

    /// Declares the tools of the host program, in the place of those that it declared before. A tool of the settings goes
    /// before one of this name, and this one before a built-in one. They hold for this engine and are not stored.
    ///
    /// ```
    /// # use bestow::{Engine, Operation, Tool, Tools};
    /// # async fn example(engine: Engine) -> Result<(), Box<dyn std::error::Error>> {
    /// let save = Tool::new("save_page".parse()?, Operation::Write).path("page.path".parse()?);
    /// engine.declare_tools(Tools::new([save])?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Authority
    ///
    /// A declaration gives no right. It says what a call does, so a wrong one lets more happen than a right one.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`]; [`Error::Commands`] if rules about commands contradict their examples.
    pub fn declare_tools(&self, tools: Tools) -> Result<(), Error> {
        self.shared.declare_tools(tools)
    }

    /// The tools that are declared, by settings and by the host program.
    pub fn tools(&self) -> Tools {
        self.shared.classifier.load().tools().clone()
    }

    /// Takes back what a person said about an action.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such ruling.
    pub async fn revoke_ruling(&self, ruling: RulingId, reason: Option<Reason>) -> Result<(), Error> {
        let command = Command::RevokeRuling { ruling, by: Actor::Operator, owner: None, reason };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// Ends the engine: every waiting question is cancelled, and from then on everything is refused.
    ///
    /// If events are stored, what was decided is stored first, questions stand for the next engine, and when this returns
    /// another one can be opened on the same directory.
    pub async fn shutdown(&self) {
        self.shared.finish().await;
    }

    /// Whether it has not ended.
    #[cfg(feature = "journal")]
    pub(crate) fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// Processes of the host program at which a person sits: number, and when each began.
    #[cfg(feature = "journal")]
    pub(crate) fn surface_processes(&self) -> Arc<std::sync::Mutex<Vec<(u32, u64)>>> {
        Arc::clone(&self.shared.surfaces)
    }

    /// A handle that does not keep the engine alive.
    #[cfg(any(feature = "config", feature = "journal"))]
    pub(crate) fn downgrade(&self) -> WeakEngine {
        WeakEngine { shared: Arc::downgrade(&self.shared) }
    }
}

/// For tasks that serve an engine and must not keep it alive.
#[cfg(any(feature = "config", feature = "journal"))]
#[derive(Debug)]
pub(crate) struct WeakEngine {
    shared: std::sync::Weak<Shared>,
}

#[cfg(any(feature = "config", feature = "journal"))]
impl WeakEngine {
    /// The engine, unless its last handle is gone.
    pub(crate) fn upgrade(&self) -> Option<Engine> {
        self.shared.upgrade().map(|shared| Engine { shared })
    }
}

/// Makes fingerprints differ from engine to engine.
fn seed() -> u64 {
    RandomState::new().hash_one("fingerprints")
}

/// A run nobody had before.
fn fresh_run() -> RunId {
    let text = format!("run-{}", uuid::Uuid::now_v7().simple());
    // Letters, digits and a dash: always an id.
    text.parse().unwrap_or_else(|_| fresh_run())
}

/// An engine nobody had before.
fn fresh_runtime() -> RuntimeId {
    let text = format!("engine-{}", uuid::Uuid::now_v7().simple());
    text.parse().unwrap_or_else(|_| fresh_runtime())
}

fn fresh_request() -> RequestId {
    RequestId::new(uuid::Uuid::now_v7())
}

/// Only for what the types above share.
fn permissions_of(rights: &[Right]) -> impl Iterator<Item = &Permission> + Clone {
    rights.iter().map(|right| &right.permission)
}
