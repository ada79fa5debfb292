//! Acts as one agent and no other.

use std::{fmt, sync::Arc};

use crate::{
    kernel::{Check, Command, ExecScope, Known, Refusal, State, Support, lasting},
    model::{
        Access, Actor, AgentId, Ask, Grant, GrantId, Permission, PermissionSet, Permissions, Profile, Reason,
        RequestId, Scope, Timestamp, Want,
    },
};

use super::{
    Error, Heard, Mailbox, Resolved, Ticket,
    cell::Cell,
    fresh_request, fresh_run,
    keep::Done,
    permissions_of,
    shared::{Shared, granted},
};

/// Acts as one agent and no other: it can check, ask, pass on, use and give up. It cannot answer anything.
///
/// A handle belongs to the agent it was made for. If that agent is retired, the handle holds nothing for ever, even
/// if another agent gets the same id.
///
/// What binds it, it does not loosen: the operator and approvers begin and end its runs, and take back what people said.
///
/// ```compile_fail,E0599
/// async fn get_rid_of_a_no(agent: bestow::Agent, run: bestow::RunId) {
///     agent.begin_run(run).await;
/// }
/// ```
///
/// ```compile_fail,E0599
/// async fn take_back_a_no(agent: bestow::Agent, no: bestow::RulingId) {
///     agent.revoke_ruling(no, None).await;
/// }
/// ```
///
/// ```compile_fail,E0599
/// async fn answer_oneself(agent: bestow::Agent, question: bestow::RequestId) {
///     agent.answer(question, bestow::Answer::allow()).await;
/// }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(super) shared: Arc<Shared>,
    pub(super) id: AgentId,
    pub(super) cell: Arc<Cell>,
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agent({})", self.id)
    }
}

impl Agent {
    /// Who this is.
    pub fn id(&self) -> &AgentId {
        &self.id
    }

    /// Whether this agent holds `want` now: from a snapshot, without waiting, allocating or asking the disk.
    ///
    /// A path is taken as written. Who is about to open one uses [`Agent::resolve`], which asks the disk what it is.
    pub fn check<'w>(&self, want: impl Into<Want<'w>>) -> Check {
        if !self.shared.is_open() {
            return Check::NotHeld;
        }
        self.cell.check(want.into(), || self.shared.clock.now().ok())
    }

    /// Asks for what this agent lacks (`request_permission`), and returns at once with a ticket.
    ///
    /// What it holds already is not asked; if that is everything, the ticket is granted. The same question as one
    /// that waits joins it; what was refused a moment ago is refused again. Work that does not need the permission
    /// should go on meanwhile. A background agent's question is carried by the foreground agent of the same owner
    /// whose user was active last, under the asker's own name (`sources/004`, "Permission requests").
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if something is protected, the scope is over, or too many questions wait. That nobody is
    /// there to ask is no error: it is how the request ends. [`Error::Path`] if a path cannot be followed.
    ///
    /// # Cancellation
    ///
    /// Dropping the ticket leaves the question standing.
    pub async fn request(&self, ask: Ask) -> Result<Ticket, Error> {
        let rights = self.shared.pin_all(&ask.permissions)?;
        let broken = self.shared.broken(&self.id, permissions_of(&rights))?;
        let (id, from) = (fresh_request(), self.id.clone());
        let command = Command::Request { id, from, rights, reason: ask.reason, scope: ask.scope, broken };
        let events = self.execute(command).await?;
        // A request that was carried out was opened, or joined another one.
        let id = events.iter().find_map(crate::model::Event::opened).unwrap_or(id);
        self.ticket(id)
    }

    /// The ticket of a request of this agent, however it was lost.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none, it is forgotten, or another agent's.
    pub fn ticket(&self, id: RequestId) -> Result<Ticket, Error> {
        let ticket = self.shared.ticket(&self.id, &self.cell, id)?.ok_or(Refusal::UnknownRequest(id))?;
        if *ticket.asker() == self.id { Ok(ticket) } else { Err(Refusal::NotYours(id).into()) }
    }

    /// Takes a question back.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is over, or another agent's.
    pub async fn cancel(&self, request: RequestId) -> Result<(), Error> {
        self.execute(Command::Cancel { request, by: self.id.clone() }).await.map(drop)
    }

    /// Passes on what this agent holds now, until it no longer holds it (`grant_permission`).
    ///
    /// A list as a whole or not at all. The receiver is told, with the reason.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the facts: not held, held for one use, another owner's agent, itself, passed on too often.
    /// [`Error::Replaced`] if something else stands where it held a right.
    pub async fn grant(
        &self,
        to: &AgentId,
        permissions: impl Into<Permissions>,
        reason: Reason,
    ) -> Result<Vec<GrantId>, Error> {
        self.grant_for(to, permissions, Scope::Always, reason).await
    }

    /// The same for a narrower scope.
    ///
    /// # Errors
    ///
    /// As [`Agent::grant`]; and if the scope is over already.
    pub async fn grant_for(
        &self,
        to: &AgentId,
        permissions: impl Into<Permissions>,
        scope: Scope,
        reason: Reason,
    ) -> Result<Vec<GrantId>, Error> {
        let rights = self.shared.pin_all(&permissions.into())?;
        let broken = self.shared.broken(&self.id, permissions_of(&rights))?;
        let (from, to, replaced) = (self.id.clone(), to.clone(), !broken.is_empty());
        let done = self.execute(Command::Grant { from, to, rights, reason, scope, broken }).await;
        done.map(|events| granted(&events)).map_err(|why| if replaced { or_replaced(why) } else { why })
    }

    /// Takes back what this agent gave, or gives up what it holds.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no such grant, it is neither, or it stands in a file.
    pub async fn revoke(&self, grant: GrantId, reason: Option<Reason>) -> Result<(), Error> {
        let by = Actor::Agent(self.id.clone());
        self.execute(Command::Revoke { grant, by, owner: None, reason }).await.map(drop)
    }

    /// Uses a right now. What is held for good costs nothing; a one-shot right is gone afterwards, and of two uses at
    /// the same time one is refused. Every use is an action and judged as one: a path as reading or writing it,
    /// `@network` as reaching any host, `@events` as the operation `events`. Rules, policies, the mode and hooks have their
    /// say, and the record (`permission.evaluated`) is left.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is not held, or may not happen without a question.
    pub async fn spend(&self, permission: &Permission) -> Result<(), Error> {
        let using = match permission {
            Permission::Path(access, path) => {
                let heard = self.heard_of_path(*access, path.as_str()).await?;
                self.use_path(*access, path, heard)?
            }
            Permission::Network | Permission::Events | Permission::Tool(_) => self.use_right(permission).await?,
        };
        using.acknowledged().await
    }

    /// What `path` really names, if this agent may use it so: ready to be opened, and nothing else.
    ///
    /// Hooks are heard. Links are followed, the right is looked up for where they lead, and the object that the right was given for
    /// must still stand there. A one-shot right is used up. To write a sensitive file takes a right that names it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is not held there, [`Error::Replaced`] if something else stands there now,
    /// [`Error::Path`] if it cannot be followed.
    pub async fn resolve(&self, access: Access, path: &str) -> Result<Resolved, Error> {
        let heard = self.heard_of_path(access, path).await?;
        let found = self.found_away(access, path, heard).await?;
        Ok(Resolved { access, contained: found.contained })
    }

    /// Creates an agent that works for this one, with part of what this one holds and nothing else.
    ///
    /// `profile` names the same owner; it becomes a child of this agent. All of `permissions` are checked before
    /// anything is created.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: not held, the id is taken, another owner, a foreground agent.
    pub async fn create(&self, profile: Profile, permissions: &[Permission], reason: Reason) -> Result<Agent, Error> {
        let rights = self.shared.pin_all(permissions)?;
        let broken = self.shared.broken(&self.id, permissions_of(&rights))?;
        let (id, creator, run) = (profile.id.clone(), self.id.clone(), fresh_run());
        self.execute(Command::Create { creator, profile, run, rights, reason, broken }).await?;
        let cell = self.shared.cell(&id).ok_or_else(|| Refusal::UnknownAgent(id.clone()))?;
        Ok(Agent { shared: Arc::clone(&self.shared), id, cell })
    }

    /// Says something to this agent's own user, if a connector is there. Words carry no right.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub async fn say(&self, text: &str) -> Result<Heard, Error> {
        self.shared.say(&self.id, &self.cell, text)
    }

    /// Everything this agent holds now, with where it comes from.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn grants(&self) -> Result<Vec<Arc<Grant>>, Error> {
        self.look(|_, agent, now| agent.held.iter().filter(|grant| grant.is_live(now)).cloned().collect())
    }

    /// What this agent may use now, as plain values; one-shot rights are not in it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn permissions(&self) -> Result<PermissionSet, Error> {
        self.look(|_, agent, now| set_of(agent, now))
    }

    /// Why this agent holds `permission`: its own grant first, the root last. Empty if it does not hold it;
    /// with a link that is [`Support::Replaced`], if only such a chain is left, which counts for nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn why(&self, permission: &Permission) -> Result<Vec<Support>, Error> {
        let broken = self.shared.broken(&self.id, std::iter::once(permission))?;
        self.look(|state, _, now| state.why(&self.id, permission, &broken, now))
    }

    /// What a command of this agent runs with when it needs `named` (`sources/004`, "Exec/process scoped permissions").
    ///
    /// Reads are not scoped: `@read` in `named` is passed over, held or not, and nothing about reading is in the result.
    /// What is protected is hidden from commands, so `@read` of such a path must be held as any other right.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for the first of `named` that is not held, other than `@read` of what is not protected.
    pub fn exec_scope(&self, named: &[Permission]) -> Result<ExecScope, Error> {
        let rights = self.shared.pin_all(named)?;
        let broken = self.shared.broken(&self.id, permissions_of(&rights))?;
        let scope = self.look(|state, agent, now| {
            // Reads are not scoped, so they need not be held; what is protected is not read all the same.
            let is_free = |named: &Permission| match named {
                Permission::Path(Access::Read, _) => !state.is_protected(named),
                Permission::Path(Access::Write, _) | Permission::Network | Permission::Events | Permission::Tool(_) => {
                    false
                }
            };
            let needed = permissions_of(&rights).filter(|named| !is_free(named));
            match needed.into_iter().find(|named| !state.uses(agent, named, now, &broken)) {
                Some(missing) => Err(missing),
                None => ExecScope::of(&set_of(agent, now), permissions_of(&rights)),
            }
            .map_err(|missing| match missing {
                Permission::Path(Access::Read, _) => Refusal::Protected(missing.clone()),
                Permission::Path(Access::Write, _) | Permission::Network | Permission::Events | Permission::Tool(_) => {
                    state.not_held(agent, missing, now)
                }
            })
        })?;
        Ok(scope?)
    }

    /// The engine it belongs to, for an edge that acts as this agent.
    #[cfg(feature = "stdio")]
    pub(crate) fn engine(&self) -> super::Engine {
        super::Engine { shared: Arc::clone(&self.shared) }
    }

    /// What this agent's commands are kept from, for whoever confines one.
    #[cfg(feature = "sandbox")]
    pub(crate) fn kept_from_commands(&self) -> Result<crate::kernel::KeptFrom, Error> {
        self.look(|state, agent, now| state.kept_from_commands(agent, now))
    }

    /// The limits that the settings put on its commands.
    #[cfg(feature = "sandbox")]
    pub(crate) fn limits_of_commands(&self) -> Result<crate::model::Limits, Error> {
        self.look(|state, _, _| state.settings.limits.clone())
    }

    /// Leaves the fact that a command is confined, and how.
    #[cfg(feature = "sandbox")]
    pub(crate) fn tell_sandbox(
        &self,
        facts: crate::model::SandboxFacts,
        cause: Option<Arc<crate::model::Cause>>,
    ) -> Result<(), Error> {
        let command = Command::Sandboxed { agent: self.id.clone(), facts: Arc::new(facts), cause };
        self.carry_out(command).at_once().map(drop)
    }

    /// Leaves the facts of what a command was kept from.
    #[cfg(feature = "sandbox")]
    pub(crate) fn tell_violations(
        &self,
        violations: Vec<crate::model::SandboxViolation>,
        cause: Option<&Arc<crate::model::Cause>>,
    ) -> Result<(), Error> {
        violations.into_iter().try_for_each(|violation| {
            let (agent, violation, cause) = (self.id.clone(), Arc::new(violation), cause.cloned());
            self.carry_out(Command::Violated { agent, violation, cause }).at_once().map(drop)
        })
    }

    /// Who this is, as it is known.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn profile(&self) -> Result<Arc<Profile>, Error> {
        self.look(|_, agent, _| Arc::clone(&agent.profile))
    }

    /// What reaches this agent by itself.
    pub fn mailbox(&self) -> Mailbox {
        Mailbox(Arc::clone(self.cell.mail()))
    }

    /// Whether it is bound by somebody who created it and is gone.
    #[cfg(feature = "schedule")]
    pub(crate) fn has_outlived_its_creator(&self) -> Result<bool, Error> {
        self.look(|_, agent, _| agent.has_outlived_its_creator())
    }

    pub(super) fn look<T>(&self, look: impl FnOnce(&State, &Known, Timestamp) -> T) -> Result<T, Error> {
        self.shared.look_as(&self.id, &self.cell, look)
    }

    pub(super) async fn execute(&self, command: Command) -> Result<Vec<crate::model::Event>, Error> {
        self.carry_out(command).acknowledged().await
    }

    pub(super) fn carry_out(&self, command: Command) -> Done {
        self.shared.execute_as(&self.id, &self.cell, command)
    }
}

/// What an agent may use at `now`; one-shot rights are not in it.
fn set_of(agent: &Known, now: Timestamp) -> PermissionSet {
    let mut set = PermissionSet::empty(agent.profile.working_dir.clone());
    lasting(agent, now).for_each(|grant| set.insert(grant.right.permission.clone()));
    set
}

/// A right whose object is no longer there is told as such, and not as one that was never held.
pub(super) fn or_replaced(why: Error) -> Error {
    let lacked = if let Error::Refused(Refusal::NotHeld { permission, .. } | Refusal::Protected(permission)) = &why {
        Some(permission)
    } else if let Error::Refused(Refusal::NotAllowed(decision)) = &why {
        decision.missing.first()
    } else {
        None
    };
    match lacked.and_then(|permission| Some((permission, permission.path()?))) {
        Some((permission, path)) => Error::Replaced { permission: permission.clone(), path: path.clone() },
        None => why,
    }
}
