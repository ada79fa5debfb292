//! The handles: the host program holds them, and passes them to agents and approvers.
//!
//! [`Engine`] is the operator's handle. An [`Agent`] acts as one agent; only an [`Approver`] can answer requests. A
//! caller without a handle can do nothing.

mod agent;
#[cfg(feature = "stdio")]
mod agent_events;
mod agent_slot;
mod approver;
mod authorize;
mod batch_facts;
mod below;
mod classifier;
mod command_source;
mod commit;
mod commit_handle;
mod commit_queue;
mod declarations;
mod dry_run;
mod end_outside;
mod error;
mod events;
mod fanout;
mod files;
mod fresh;
mod hooks;
mod inbox;
mod initial_grants;
mod input;
mod lines;
mod link;
mod modes;
mod obeyed;
mod outside;
mod pin;
mod plain_action;
#[cfg(feature = "config")]
mod policy_text;
#[cfg(feature = "config")]
mod policy_texts;
mod presence;
#[cfg(feature = "stdio")]
pub(crate) mod process_order;
mod processes;
mod program;
mod publish;
mod queries;
mod registered_hook;
mod resolve_action;
mod resolved_path;
mod restore;
mod runs;
mod serve;
mod shared;
mod states;
mod subscription;
mod surface;
mod ticket;
mod timer;
mod tool_call;
mod tool_policy;
mod user_channel;

use std::{fmt, sync::Arc};

use crate::{
    kernel::{Check, Command, NewAgent, Person, Refusal, Start, State},
    model::{
        Actor, AgentId, ApproverId, CredentialChange, Envelope, GrantId, Hold, HookName, KeyedWrite, Means, OrText,
        OwnerId, Permission, PermissionRef, Policy, Profile, Reason, Recorded, SanitizedPath, SavedDecisionId,
        Settings, Tools, WriteKey,
    },
    ports::{Clock, DiskPaths, Hook, Paths, SystemClock},
};

pub use self::{
    agent::Agent,
    approver::Approver,
    authorize::{Authorization, Confinement},
    dry_run::DryRun,
    error::{Error, FileFailure},
    files::Files,
    inbox::{Inbox, Notification},
    initial_grants::InitialGrants,
    resolved_path::Resolved,
    subscription::{NoEvent, Subscription},
    surface::{Delivery, Prompt},
    ticket::Ticket,
    user_channel::{ApproverSession, Connection},
};
use self::{
    classifier::classifier_for,
    commit_queue::CommitQueue,
    fresh::{fresh_run, seed},
    link::EngineLink,
    shared::Shared,
};
#[cfg(feature = "stdio")]
pub(crate) use agent_events::AgentEvents;
#[cfg(feature = "config")]
pub(crate) use dry_run::Examples;
#[cfg(feature = "sandbox")]
pub(crate) use outside::Outside;
#[cfg(feature = "sandbox")]
pub(crate) use processes::{Standing, WeakAgent};

/// The operator's handle of a running engine. Clones share the engine. When the last handle of any kind is dropped,
/// every waiting request ends.
///
/// ```
/// use bestow::{Engine, InitialGrants, Kind, Permission, Profile, Settings, grant::PermissionRef};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let engine = Engine::new(Settings::default())?;
/// let worker = Profile::new("worker".parse()?, "you".parse()?, Kind::Subagent, "/work".parse()?);
/// engine.register(worker, InitialGrants::of([Permission::Network])).await?;
/// assert!(engine.agent("worker")?.check(PermissionRef::Network).is_held());
/// # Ok(()) })
/// # }
/// ```
///
/// # Authority
///
/// The holder of this handle can do everything: add agents with any permissions, act as any agent, answer for any
/// owner.
#[derive(Clone)]
pub struct Engine {
    shared: EngineLink,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({}, {})", self.shared.runtime, if self.shared.is_open() { "open" } else { "closed" })
    }
}

impl Engine {
    /// Creates an engine without agents, with the clock and the disk of this machine, in the current Tokio runtime.
    ///
    /// # Errors
    ///
    /// [`Error::NoRuntime`] outside a runtime.
    pub fn new(settings: Settings) -> Result<Engine, Error> {
        Engine::on(settings, Arc::new(SystemClock::new()), Arc::new(DiskPaths))
    }

    /// Creates an engine with the given clock and path resolver.
    ///
    /// # Errors
    ///
    /// [`Error::NoRuntime`] outside a runtime, [`Error::Commands`] if rules about commands contradict their examples.
    pub fn on(settings: Settings, clock: Arc<dyn Clock>, paths: Arc<dyn Paths>) -> Result<Engine, Error> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| Error::NoRuntime)?;
        let classifier = classifier_for(&settings)?;
        let queue = CommitQueue::in_memory(State::new(settings).on(paths.floor()));
        let shared = Arc::new(Shared::new(queue, classifier, clock, paths, seed()));
        timer::start(&shared, &runtime);
        Ok(Engine { shared: shared.into() })
    }

    /// Adds an agent with its initial permissions. Paths are resolved to their real location.
    ///
    /// # Authority
    ///
    /// This is a root of authority: no agent has to hold the permissions that are given here.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the id is taken, or a permission is protected; [`Error::Path`] if a path cannot be
    /// followed.
    pub async fn register(&self, profile: Profile, holding: InitialGrants) -> Result<Agent, Error> {
        self.register_via(profile, holding, None).await
    }

    /// Adds an agent for a sender who acts by these means.
    pub(crate) async fn register_via(
        &self,
        profile: Profile,
        holding: InitialGrants,
        via: Option<&Means>,
    ) -> Result<Agent, Error> {
        let (id, permissions) = (profile.id.clone(), self.starts(&holding)?);
        let run = fresh_run();
        self.shared.execute_via(Command::Register { profile, run, permissions }, via).acknowledged().await?;
        self.agent(&id)
    }

    /// Adds several agents in one step, all of them or none. For many agents this is faster than one
    /// [`Engine::register`] for each, above all if events are stored.
    ///
    /// # Authority
    ///
    /// This is a root of authority, like [`Engine::register`].
    ///
    /// # Errors
    ///
    /// The errors of [`Engine::register`], for the first agent that has one.
    pub async fn register_all(
        &self,
        agents: impl IntoIterator<Item = (Profile, InitialGrants)>,
    ) -> Result<Vec<Agent>, Error> {
        let new = |(profile, holding): (Profile, InitialGrants)| {
            Ok(NewAgent { profile, run: fresh_run(), permissions: self.starts(&holding)? })
        };
        let agents = agents.into_iter().map(new).collect::<Result<Vec<_>, Error>>()?;
        let ids: Vec<_> = agents.iter().map(|agent| agent.profile.id.clone()).collect();
        self.shared.execute(Command::RegisterAll { agents }).acknowledged().await?;
        ids.into_iter().map(|id| self.agent(id)).collect()
    }

    fn starts(&self, holding: &InitialGrants) -> Result<Vec<Start>, Error> {
        let start =
            |(permission, hold): &(Permission, Hold)| Ok(Start { pinned: self.shared.pin(permission)?, hold: *hold });
        holding.permissions.iter().map(start).collect()
    }

    /// Retires an agent. The grants that it held or gave and its waiting requests end with it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub async fn retire(&self, agent: impl OrText<AgentId>) -> Result<(), Error> {
        self.retire_via(agent.value()?, None).await
    }

    /// Retires an agent for a sender who acts by these means.
    pub(crate) async fn retire_via(&self, agent: AgentId, via: Option<&Means>) -> Result<(), Error> {
        self.shared.execute_via(Command::Retire { agent }, via).acknowledged().await.map(drop)
    }

    /// Returns the handle of one agent.
    ///
    /// # Authority
    ///
    /// The holder of the result can act as `id`.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, [`Error::Text`] if `id` is not a name.
    pub fn agent(&self, id: impl OrText<AgentId>) -> Result<Agent, Error> {
        let id = id.value()?;
        let unknown = || Error::Refused(Refusal::UnknownAgent(id.clone()));
        let cell = self.shared.cell(&id).ok_or_else(unknown)?;
        Ok(Agent { shared: self.shared.clone(), id, cell, via: None })
    }

    /// Creates a handle that answers for one owner, as `by`, through `means` (`terminal`, `dashboard`, …). Both are
    /// recorded with every decision.
    ///
    /// # Authority
    ///
    /// The holder of the result can grant agents of `owner` any permission that is not protected.
    ///
    /// If `owner` or `by` is a text that is not a name, every call of the handle fails with [`Error::Text`].
    ///
    /// ```
    /// # async fn example(engine: bestow::Engine, question: bestow::request::RequestId) -> Result<(), bestow::Error> {
    /// let you = engine.approver("you", "ann", "terminal");
    /// you.answer(question, bestow::Answer::deny()).await?;
    /// # Ok(()) }
    /// ```
    pub fn approver(
        &self,
        owner: impl OrText<OwnerId>,
        by: impl OrText<ApproverId>,
        means: impl Into<Means>,
    ) -> Approver {
        let person = owner.value().and_then(|owner| Ok(Person { owner, by: by.value()?, means: means.into() }));
        Approver { shared: self.shared.clone(), person }
    }

    /// Checks if `agent`, an id or its text, holds `want` now. An unregistered agent holds no permission, and neither
    /// does a text that is no id. Like [`Agent::check`], this does not wait or allocate. A caller that checks often
    /// should keep an [`Agent`].
    ///
    /// ```
    /// # use bestow::{AgentId, Engine, grant::PermissionRef};
    /// # fn example(engine: &Engine, id: &AgentId) {
    /// engine.check(id, PermissionRef::Network);
    /// engine.check("worker", PermissionRef::Network);
    /// # }
    /// ```
    pub fn check<'w>(&self, agent: &(impl AsRef<str> + ?Sized), want: impl Into<PermissionRef<'w>>) -> Check {
        if !self.shared.is_open() {
            return Check::NotHeld;
        }
        let cell = self.shared.cell(agent.as_ref());
        cell.map_or(Check::NotHeld, |cell| cell.check(want.into(), || self.shared.clock.now().ok()))
    }

    /// Returns every protected path: the built-in ones and those that the settings in force add. A protected path is
    /// accessible only by a line of a policy file that names exactly it. Below `/proc`, and for disks below `/dev`, the
    /// name alone leads to a denial.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn protected(&self) -> Result<Vec<SanitizedPath>, Error> {
        self.shared.look(|state, _| state.protected_paths())
    }

    /// Opens the connection to the user of a foreground agent. An earlier connection of the same agent closes.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, or it is not a foreground agent. [`Error::Store`] if the store is
    /// broken.
    pub fn connect(&self, agent: impl OrText<AgentId>) -> Result<Connection, Error> {
        let agent = agent.value()?;
        let (generation, receiver) = self.shared.connect(&agent)?;
        Ok(Connection { shared: Arc::downgrade(&self.shared), agent, generation, receiver })
    }

    /// Records that a user was active through a foreground agent. The next request of a background agent is shown
    /// there.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent, or it is not a foreground agent.
    pub async fn user_active(&self, agent: impl OrText<AgentId>) -> Result<(), Error> {
        self.shared.execute(Command::UserActive { agent: agent.value()? }).acknowledged().await.map(drop)
    }

    /// Puts a message into an agent's mailbox; from its user, if `from` is none. No message carries a permission.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such agent.
    pub async fn message(&self, to: &AgentId, from: Option<&AgentId>, text: &str) -> Result<(), Error> {
        let cell = self.shared.cell(to).ok_or_else(|| Refusal::UnknownAgent(to.clone()))?;
        // The message is posted under the lock, so that it cannot reach a later agent of the same name.
        self.shared.look_as(to, &cell, |_, _, _| {
            cell.mail().post(Notification::Message { from: from.cloned(), text: text.into() });
        })
    }

    /// Revokes a grant, with every grant that depends on it alone. A check that starts after this returns does not see
    /// them.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the grant does not exist, or comes from a policy file.
    pub async fn revoke(&self, grant: GrantId, reason: Option<Reason>) -> Result<(), Error> {
        self.shared
            .execute(Command::Revoke { grant, by: Actor::Operator, owner: None, reason })
            .acknowledged()
            .await
            .map(drop)
    }

    /// Applies a policy that was read from a file.
    ///
    /// # Authority
    ///
    /// The grants of the policy take effect. If the settings in force require it, changes that give more than now are
    /// held back.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the policy cannot be applied as a whole, [`Error::Commands`] if rules about commands
    /// contradict their examples; then no part of it is applied. [`Error::Store`] if it cannot be stored; then its
    /// restrictive part is in force, and the rest is not.
    pub async fn configure(&self, policy: Policy) -> Result<(), Error> {
        classifier_for(&policy.settings)?;
        let run = fresh_run();
        self.shared.execute(Command::Configure { policy: Arc::new(policy), run }).acknowledged().await.map(drop)
    }

    /// Records that a policy file was rejected, and that the last valid one stays in force.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub async fn reject_config(&self, why: &str) -> Result<(), Error> {
        self.shared.execute(Command::RejectConfig { why: why.into() }).acknowledged().await.map(drop)
    }

    /// Records that a policy file cannot be watched, and is polled instead.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub async fn poll_config(&self, why: &str) -> Result<(), Error> {
        self.shared.execute(Command::PollConfig { why: why.into() }).acknowledged().await.map(drop)
    }

    /// Accepts change number `change` of the policy file, which [`Event::ConfigHeldBack`](crate::Event::ConfigHeldBack)
    /// reported.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if no change is held back, or another change is by now.
    pub async fn agree_to_widening(&self, change: u64) -> Result<(), Error> {
        self.agree_as(Actor::Operator, change).await
    }

    /// Accepts a held-back change as `by`, who acts for every owner.
    pub(crate) async fn agree_as(&self, by: Actor, change: u64) -> Result<(), Error> {
        let command = Command::AgreeToWidening { by, owner: None, change, run: fresh_run() };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// Returns the clock of this engine, for tasks that wait on its time.
    #[cfg(feature = "schedule")]
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.shared.clock)
    }

    /// Records an event of a scheduled task.
    #[cfg(feature = "schedule")]
    pub(crate) fn tell_task(&self, event: crate::model::TaskEvent) -> Result<(), Error> {
        self.shared.execute(Command::Task(event)).at_once().map(drop)
    }

    /// Returns the write permissions that have ended so far.
    #[cfg(feature = "schedule")]
    pub(crate) fn write_ends(&self) -> Result<crate::kernel::WriteEnds, Error> {
        self.shared.look(|state, _| state.write_ends())
    }

    /// Returns true if the file of `task`, with these `paths`, may come from an agent that could write it before.
    #[cfg(feature = "schedule")]
    pub(crate) fn may_be_an_agents(
        &self,
        task: &crate::model::TaskId,
        paths: &[crate::model::SanitizedPath],
        version: crate::model::FileVersion,
    ) -> Result<bool, Error> {
        self.shared.look(|state, _| state.may_be_an_agents(task, paths, version))
    }

    /// Records if the file of a task counts as a person's file, although an agent could write it before.
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

    /// Records that a credential of a server changed. The engine keeps no credentials: this is for the audit trail.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] if it cannot be stored, [`Error::Closed`].
    pub async fn record_credential(&self, change: CredentialChange) -> Result<(), Error> {
        let change = Arc::new(change);
        self.shared.execute(Command::CredentialChanged { change }).acknowledged().await.map(drop)
    }

    /// Records that a process at the control socket was refused.
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

    /// Returns this engine for one write with a key. Every command that is given through the result, or through a
    /// handle that it makes, is a step of that write: its key is stored in the same step as its effect, and after a
    /// crash either both are there or none. A command of a write that was carried out before is refused
    /// ([`Refusal::WrittenBefore`]).
    ///
    /// `before` are the steps of an earlier call with this key ([`Engine::written`]) that this call continues.
    #[must_use]
    pub fn writing(&self, key: WriteKey, before: &[Arc<KeyedWrite>]) -> Engine {
        Engine { shared: self.shared.for_write(key, before.first().map(|first| first.first)) }
    }

    /// Returns the steps of the write with this key that are stored, oldest first. They are remembered for 10 minutes
    /// by the times of the records, and at most 256 for each caller. The trail has their events
    /// ([`KeyedWrite::first`]). A step may belong to another request that had the same key
    /// ([`KeyedWrite::is_of`]).
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn written(&self, key: &WriteKey) -> Result<Vec<Arc<KeyedWrite>>, Error> {
        self.shared.look(|state, now| state.keyed_steps(key, now))
    }

    /// Subscribes to every event from now on.
    pub fn subscribe(&self) -> Subscription {
        self.shared.subscribe()
    }

    /// Converts `recorded` to the form that other programs read.
    pub fn envelope(&self, recorded: &Recorded) -> Envelope {
        Envelope::of(recorded, &self.shared.runtime)
    }

    /// Registers `hook` to be asked about every action from now on, before the action is decided. The name is recorded
    /// with its answers.
    ///
    /// # Authority
    ///
    /// A hook can deny any action of any agent, and sees the actions of all agents. It cannot grant a permission.
    ///
    /// # Errors
    ///
    /// [`Error::HookExists`] if there is a hook of that name: a hook cannot be replaced.
    pub fn add_hook(&self, name: HookName, hook: Arc<dyn Hook>) -> Result<(), Error> {
        self.shared.add_hook(name, hook)
    }

    /// Declares the tools of the host program. They replace those that it declared before. A tool of the settings takes
    /// precedence over one of the same name declared here, and this one over a built-in one. The declarations hold for
    /// this engine and are not stored.
    ///
    /// ```
    /// # use bestow::{Engine, action::Operation, tool::{Tool, Tools}};
    /// # async fn example(engine: Engine) -> Result<(), Box<dyn std::error::Error>> {
    /// let save = Tool::new("save_page".parse()?, Operation::Write).path("page.path".parse()?);
    /// engine.declare_tools(Tools::new([save])?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Authority
    ///
    /// A declaration grants no permission. It states the effects of a call, so a wrong declaration may allow more than
    /// a correct one.
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn declare_tools(&self, tools: Tools) -> Result<(), Error> {
        self.shared.declare_tools(tools)
    }

    /// Returns the tools that the settings and the host program declare.
    pub fn tools(&self) -> Tools {
        self.shared.classifier.load().tools().clone()
    }

    /// Revokes the saved decision of a person about an action.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such saved decision.
    pub async fn revoke_ruling(&self, ruling: SavedDecisionId, reason: Option<Reason>) -> Result<(), Error> {
        let command = Command::RevokeRuling { ruling, by: Actor::Operator, owner: None, reason };
        self.shared.execute(command).acknowledged().await.map(drop)
    }

    /// Ends the engine: every waiting request is cancelled, and from then on every call is refused.
    ///
    /// If events are stored, all decisions are stored first, and waiting requests stay open for the next engine. When
    /// this returns, another engine can be opened on the same directory.
    pub async fn shutdown(&self) {
        self.shared.finish().await;
    }

    /// Returns true until the engine has ended.
    #[cfg(feature = "journal")]
    pub(crate) fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// Returns the host program's processes that a person uses: the process number and its start time.
    #[cfg(feature = "journal")]
    pub(crate) fn surface_processes(&self) -> Arc<std::sync::Mutex<Vec<(u32, u64)>>> {
        Arc::clone(&self.shared.surfaces)
    }

    /// Creates a handle that does not keep the engine alive.
    #[cfg(any(feature = "config", feature = "journal"))]
    pub(crate) fn downgrade(&self) -> WeakEngine {
        WeakEngine { shared: Arc::downgrade(&self.shared) }
    }
}

#[cfg(feature = "stdio")]
impl Agent {
    /// Returns the engine of this agent, for an adapter that acts as this agent.
    pub(crate) fn engine(&self) -> Engine {
        Engine { shared: self.shared.clone() }
    }

    /// Subscribes to the events about the permissions and processes of this agent, and its retirement.
    pub(crate) fn events(&self) -> AgentEvents {
        self.shared.listen_to(&self.id, &self.cell)
    }
}

/// A handle for tasks that serve an engine and must not keep it alive.
#[cfg(any(feature = "config", feature = "journal"))]
#[derive(Debug)]
pub(crate) struct WeakEngine {
    shared: std::sync::Weak<Shared>,
}

#[cfg(any(feature = "config", feature = "journal"))]
impl WeakEngine {
    /// Returns the engine, unless its last handle is gone.
    pub(crate) fn upgrade(&self) -> Option<Engine> {
        self.shared.upgrade().map(|shared| Engine { shared: shared.into() })
    }
}
