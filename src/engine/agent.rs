//! The handle of one agent.

use std::{fmt, sync::Arc};

use crate::{
    kernel::{Check, Command, ExecScope, Known, ProvenanceStep, Refusal, State, lasting},
    model::{
        Access, Actor, AgentId, Grant, GrantId, Means, OrText, Permission, PermissionRef, PermissionRequest,
        PermissionSet, Permissions, PinnedPermission, Profile, Reason, RequestId, Scope, Timestamp,
    },
};

use super::{
    Delivery, Error, Inbox, Notification, Resolved, Ticket, agent_slot::AgentSlot, commit_handle::CommitHandle,
    fresh::fresh_run, link::EngineLink, shared::granted,
};

/// The handle of one agent. It can check, request, grant, use and give up permissions. It cannot answer a request.
///
/// A handle belongs to the agent that it was made for. If that agent is retired, the handle holds no permission ever
/// again, even if another agent gets the same id.
///
/// ```
/// # use bestow::{Agent, Error, Permission, PermissionRequest, grant::PermissionRef};
/// async fn read_the_docs(worker: &Agent) -> Result<bool, Error> {
///     if !worker.check(PermissionRef::Network).is_held() {
///         let ticket = worker.request(PermissionRequest::new(Permission::Network, "to read the latest docs")).await?;
///         println!("{}", ticket.resolution().await);
///     }
///     Ok(worker.check(PermissionRef::Network).is_held())
/// }
/// ```
///
/// An agent cannot remove what restricts it. The operator and the approvers begin and end its runs, and revoke saved
/// decisions.
///
/// ```compile_fail,E0599
/// async fn get_rid_of_a_no(agent: bestow::Agent, run: bestow::agent::RunId) {
///     agent.begin_run(run).await;
/// }
/// ```
///
/// ```compile_fail,E0599
/// async fn take_back_a_no(agent: bestow::Agent, no: bestow::decision::SavedDecisionId) {
///     agent.revoke_ruling(no, None).await;
/// }
/// ```
///
/// ```compile_fail,E0599
/// async fn answer_oneself(agent: bestow::Agent, question: bestow::request::RequestId) {
///     agent.answer(question, bestow::Answer::allow()).await;
/// }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(super) shared: EngineLink,
    pub(super) id: AgentId,
    pub(super) cell: Arc<AgentSlot>,
    /// The means by which the holder of this handle acts, for the records.
    pub(super) via: Option<Means>,
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agent({})", self.id)
    }
}

impl Agent {
    /// Returns the id of this agent.
    pub fn id(&self) -> &AgentId {
        &self.id
    }

    /// Returns this handle for a holder who acts by these means, such as a credential of a server. Every event that the
    /// handle causes names them ([`Recorded::via`](crate::event::Recorded::via)). Agents that it creates have the same
    /// means.
    ///
    /// ```
    /// # use bestow::{Agent, Error, Permission};
    /// async fn use_network(worker: Agent) -> Result<(), Error> {
    ///     worker.through("http, credential 0a1b2c3d4e5f").spend(&Permission::Network).await
    /// }
    /// ```
    #[must_use]
    pub fn through(self, means: impl Into<Means>) -> Agent {
        Agent { via: Some(means.into()), ..self }
    }

    /// Checks if this agent holds `want` now. The check reads a snapshot: it does not wait, allocate or ask the disk.
    ///
    /// The path is taken as written. A caller that is about to open a file uses [`Agent::resolve`], which asks the
    /// disk.
    pub fn check<'w>(&self, want: impl Into<PermissionRef<'w>>) -> Check {
        if !self.shared.is_open() {
            return Check::NotHeld;
        }
        self.cell.check(want.into(), || self.shared.clock.now().ok())
    }

    /// Requests permissions that this agent lacks (`request_permission`), and returns at once with a ticket.
    ///
    /// The engine does not ask for permissions that the agent already holds. If it holds all of them, the ticket is
    /// granted at once. A request that equals a waiting request joins it. A request that was denied a moment ago is
    /// denied again. Work that does not need the permission should go on meanwhile. A request of a background agent is
    /// shown under its own name through the foreground agent of the same owner whose user was active last
    /// (`sources/004`, "Permission requests").
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if a permission is protected, the scope is over, or too many requests wait. A missing user is
    /// no error: the request ends with that outcome. [`Error::Path`] if a path cannot be followed.
    ///
    /// # Cancellation
    ///
    /// Dropping the ticket leaves the request open.
    pub async fn request(&self, ask: PermissionRequest) -> Result<Ticket, Error> {
        let (permissions, reason) = (ask.permissions?, ask.reason?);
        let permissions = self.shared.pin_all(&permissions)?;
        let broken = self.shared.broken(&self.id, permissions_of(&permissions))?;
        let (id, from) = (self.shared.fresh_request(), self.id.clone());
        let command = Command::Request { id, from, permissions, reason, scope: ask.scope, broken };
        let events = self.execute(command).await?;
        // The command opened a request or joined an existing one.
        let id = events.iter().find_map(crate::model::Event::opened).unwrap_or(id);
        self.ticket(id)
    }

    /// Returns the ticket of a request of this agent, for a caller that lost its ticket.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the request does not exist, is forgotten, or belongs to another agent.
    pub fn ticket(&self, id: RequestId) -> Result<Ticket, Error> {
        let ticket = self.shared.ticket(&self.id, &self.cell, id)?.ok_or(Refusal::UnknownRequest(id))?;
        if *ticket.asker() == self.id { Ok(ticket) } else { Err(Refusal::NotYours(id).into()) }
    }

    /// Cancels a request.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the request is over, or belongs to another agent.
    pub async fn cancel(&self, request: RequestId) -> Result<(), Error> {
        self.execute(Command::Cancel { request, by: self.id.clone() }).await.map(drop)
    }

    /// Grants permissions that this agent holds now to another agent, until this agent no longer holds them
    /// (`grant_permission`).
    ///
    /// All of them are granted, or none. The receiver is notified, with the reason.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the facts: a permission is not held, or held for one use only; the receiver belongs to
    /// another owner, or is this agent; or the permission was passed on too often. [`Error::Replaced`] if another
    /// object is now at the path of a permission that this agent holds.
    pub async fn grant(
        &self,
        to: impl OrText<AgentId>,
        permissions: impl OrText<Permissions>,
        reason: impl OrText<Reason>,
    ) -> Result<Vec<GrantId>, Error> {
        self.grant_for(to, permissions, Scope::Always, reason).await
    }

    /// Grants permissions like [`Agent::grant`], for a narrower scope.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::grant`]; and [`Error::Refused`] if the scope is over already.
    pub async fn grant_for(
        &self,
        to: impl OrText<AgentId>,
        permissions: impl OrText<Permissions>,
        scope: Scope,
        reason: impl OrText<Reason>,
    ) -> Result<Vec<GrantId>, Error> {
        let (to, reason) = (to.value()?, reason.value()?);
        let permissions = self.shared.pin_all(&permissions.value()?)?;
        let broken = self.shared.broken(&self.id, permissions_of(&permissions))?;
        let (from, replaced) = (self.id.clone(), !broken.is_empty());
        let done = self.execute(Command::Grant { from, to, permissions, reason, scope, broken }).await;
        done.map(|events| granted(&events)).map_err(|why| if replaced { or_replaced(why) } else { why })
    }

    /// Revokes a grant that this agent gave, or gives up one that it holds.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the grant does not exist, if this agent neither gave nor holds it, or if it comes from a
    /// policy file.
    pub async fn revoke(&self, grant: GrantId, reason: Option<Reason>) -> Result<(), Error> {
        let by = Actor::Agent(self.id.clone());
        self.execute(Command::Revoke { grant, by, owner: None, reason }).await.map(drop)
    }

    /// Uses a permission now. A lasting permission stays. A one-time permission is consumed; of two uses at the same
    /// time, one is refused. Every use is evaluated as an action: a path as a read or a write of it, `@network` as
    /// reaching any host, `@events` as the operation `events`. Rules, policies, the mode and hooks apply, and the
    /// evaluation is recorded (`permission.evaluated`).
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the permission is not held, or if the use needs an approval.
    pub async fn spend(&self, permission: &Permission) -> Result<(), Error> {
        let using = match permission {
            Permission::Path(access, path) => {
                let heard = self.heard_of_path(*access, path.as_str()).await?;
                self.use_path(*access, path, heard)?
            }
            Permission::Network | Permission::Events | Permission::Tool(_) => self.use_permission(permission).await?,
        };
        using.acknowledged().await
    }

    /// Resolves `path` to the object that it names, if this agent may use it so. The result is ready to be opened.
    ///
    /// Hooks are asked first. Links are followed, and the permission is looked up for the path they lead to. The object
    /// that the permission was given for must still be there. A one-time permission is consumed. Writing a sensitive
    /// file needs a permission that names it.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the permission is not held there, [`Error::Replaced`] if another object is there now,
    /// [`Error::Path`] if the path cannot be followed.
    pub async fn resolve(&self, access: Access, path: &str) -> Result<Resolved, Error> {
        let heard = self.heard_of_path(access, path).await?;
        let found = self.found_away(access, path, heard).await?;
        Ok(Resolved { access, contained: found.contained })
    }

    /// Creates an agent that works for this one, with only those of its permissions that are named here.
    ///
    /// `profile` names the same owner; the new agent becomes a child of this agent. All of `permissions` are checked
    /// before the agent is created.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if a permission is not held, the id is taken, the profile names another owner, or it is a
    /// foreground agent.
    pub async fn create(
        &self,
        profile: Profile,
        permissions: &[Permission],
        reason: impl OrText<Reason>,
    ) -> Result<Agent, Error> {
        let reason = reason.value()?;
        let permissions = self.shared.pin_all(permissions)?;
        let broken = self.shared.broken(&self.id, permissions_of(&permissions))?;
        let (id, creator, run) = (profile.id.clone(), self.id.clone(), fresh_run());
        self.execute(Command::Create { creator, profile, run, permissions, reason, broken }).await?;
        let cell = self.shared.cell(&id).ok_or_else(|| Refusal::UnknownAgent(id.clone()))?;
        Ok(Agent { shared: self.shared.clone(), id, cell, via: self.via.clone() })
    }

    /// Sends a message to this agent's own user, if a connection is open. A message carries no permission.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub async fn say(&self, text: &str) -> Result<Delivery, Error> {
        self.shared.say(&self.id, &self.cell, text)
    }

    /// Sends a message to another agent of the same owner. A message carries no permission.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`]: the agent `to` does not exist, or belongs to another owner; or this agent is gone. Neither
    /// permissions nor text cross owners.
    pub async fn message(&self, to: &AgentId, text: &str) -> Result<(), Error> {
        let owner = &self.profile()?.owner;
        let cell = self.shared.cell(to).ok_or_else(|| Refusal::UnknownAgent(to.clone()))?;
        let posted = self.shared.look_as(to, &cell, |_, receiver, _| {
            if receiver.profile.owner != *owner {
                return Err(Refusal::OtherOwner { agent: to.clone(), owner: owner.clone() });
            }
            cell.mail().post(Notification::Message { from: Some(self.id.clone()), text: text.into() });
            Ok(())
        })?;
        Ok(posted?)
    }

    /// Returns every grant that this agent holds now, with its origin.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn grants(&self) -> Result<Vec<Arc<Grant>>, Error> {
        self.look(|_, agent, now| {
            agent.held.iter().filter(|grant| grant.is_live(now)).map(|grant| grant.whole()).collect()
        })
    }

    /// Returns the permissions that this agent may use now, as plain values. One-time permissions are not included.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn permissions(&self) -> Result<PermissionSet, Error> {
        self.look(|_, agent, now| set_of(agent, now))
    }

    /// Returns the provenance of `permission`: this agent's own grant first, the root last. The result is empty if the
    /// agent does not hold the permission. If only a chain with a replaced object is left, the result contains a
    /// [`ProvenanceStep::Replaced`] link, and that chain gives no permission.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn why(&self, permission: &Permission) -> Result<Vec<ProvenanceStep>, Error> {
        let broken = self.shared.broken(&self.id, std::iter::once(permission))?;
        self.look(|state, _, now| state.why(&self.id, permission, &broken, now))
    }

    /// Returns the permissions of a command of this agent that needs `named` (`sources/004`, "Exec/process scoped
    /// permissions").
    ///
    /// Reads are not scoped: `@read` in `named` is skipped, held or not, and the result says nothing about reading.
    /// Protected paths are hidden from commands, so `@read` of such a path must be held like any other permission.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for the first of `named` that is not held, except `@read` of an unprotected path.
    pub fn exec_scope(&self, named: &[Permission]) -> Result<ExecScope, Error> {
        let permissions = self.shared.pin_all(named)?;
        let broken = self.shared.broken(&self.id, permissions_of(&permissions))?;
        let scope = self.look(|state, agent, now| {
            // Reads are not scoped, so they need not be held. Protected paths are still not readable.
            let is_free = |named: &Permission| match named {
                Permission::Path(Access::Read, _) => !state.is_protected(named),
                Permission::Path(Access::Write, _) | Permission::Network | Permission::Events | Permission::Tool(_) => {
                    false
                }
            };
            let needed = permissions_of(&permissions).filter(|named| !is_free(named));
            match needed.into_iter().find(|named| !state.uses(agent, named, now, &broken)) {
                Some(missing) => Err(missing),
                None => ExecScope::of(&set_of(agent, now), permissions_of(&permissions)),
            }
            .map_err(|missing| match missing {
                Permission::Path(Access::Read, _) => Refusal::Protected(missing.clone()),
                Permission::Path(Access::Write, _) | Permission::Network | Permission::Events | Permission::Tool(_) => {
                    state.not_held(agent, missing, now)
                }
            })
        })?;
        let is_replaced = !broken.is_empty();
        scope.map_err(|why| if is_replaced { or_replaced(why.into()) } else { why.into() })
    }

    /// Returns the paths that the commands of this agent must not use, for the sandbox. Restrictions that are decided
    /// and not stored yet are included.
    #[cfg(feature = "sandbox")]
    pub(crate) fn kept_from_commands(&self) -> Result<crate::kernel::SandboxDenials, Error> {
        // First the state ahead: a step that is stored in between is in the published state.
        let ahead = self.shared.look_ahead(&self.id, |state, agent, now| state.kept_from_commands(agent, now))?;
        let mut kept = self.look(|state, agent, now| state.kept_from_commands(agent, now))?;
        ahead.into_iter().for_each(|ahead| kept.add(ahead));
        Ok(kept)
    }

    /// Returns the limits that the settings in force put on the commands of this agent.
    #[cfg(feature = "sandbox")]
    pub(crate) fn limits_of_commands(&self) -> Result<crate::model::Limits, Error> {
        self.shared.locked(|shared, writer, _| {
            shared.refuse_stranger(&self.id, &self.cell)?;
            Ok(writer.queue.settings_in_force().limits.clone())
        })?
    }

    /// Records that a process runs in a sandbox, with the facts of that sandbox.
    #[cfg(feature = "sandbox")]
    pub(crate) fn tell_sandbox(
        &self,
        facts: crate::model::SandboxFacts,
        cause: Option<Arc<crate::model::Cause>>,
    ) -> Result<(), Error> {
        let (agent, facts) = (self.id.clone(), Arc::new(facts));
        self.carry_out(Command::Sandboxed { agent, facts, cause, has_end: false }).at_once().map(drop)
    }

    /// Records that a command runs in a sandbox, with the facts of that sandbox, and waits until that is stored.
    /// Without the wait, an engine that is killed leaves a command without a trace. Returns the id with which
    /// [`Agent::tell_end`] records its end. The thread must be one that may block.
    #[cfg(feature = "sandbox")]
    pub(crate) fn tell_begin(
        &self,
        facts: crate::model::SandboxFacts,
        cause: Option<Arc<crate::model::Cause>>,
    ) -> Result<Option<crate::model::CommandId>, Error> {
        let (agent, facts) = (self.id.clone(), Arc::new(facts));
        let events = self.carry_out(Command::Sandboxed { agent, facts, cause, has_end: true }).wait()?;
        Ok(events.iter().find_map(crate::model::Event::begun_command))
    }

    /// Records the end of a command. If the engine is gone, the next one on its store records it.
    #[cfg(feature = "sandbox")]
    pub(crate) fn tell_end(&self, command: crate::model::CommandId, exit: crate::model::ProcessExit) {
        let agent = self.id.clone();
        drop(self.carry_out(Command::SandboxEnded { agent, command, exit }).at_once());
    }

    /// Records what a sandbox denied to a command.
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

    /// Returns the profile of this agent.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn profile(&self) -> Result<Arc<Profile>, Error> {
        self.look(|_, agent, _| Arc::clone(&agent.profile))
    }

    /// Returns the mailbox with the notifications and messages for this agent.
    pub fn mailbox(&self) -> Inbox {
        Inbox(Arc::clone(self.cell.mail()))
    }

    /// Returns true if the agent that created this one is gone but still restricts it.
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

    pub(super) fn carry_out(&self, command: Command) -> CommitHandle {
        self.shared.execute_as(&self.id, &self.cell, self.via.as_ref(), command)
    }
}

/// Returns the permissions that an agent may use at `now`, without one-time permissions.
fn set_of(agent: &Known, now: Timestamp) -> PermissionSet {
    let mut set = PermissionSet::empty(agent.profile.working_dir.clone());
    lasting(agent, now).for_each(|grant| set.insert(grant.pinned.permission.clone()));
    set
}

/// Turns the error for a missing permission into [`Error::Replaced`], for a permission whose object was replaced.
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

/// Returns the permissions without the objects at their paths.
fn permissions_of(pinned: &[PinnedPermission]) -> impl Iterator<Item = &Permission> + Clone {
    pinned.iter().map(|pinned| &pinned.permission)
}
