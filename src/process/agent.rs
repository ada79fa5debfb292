//! The operations of an agent on its processes.

use std::{io, sync::Arc, time::Duration};

use super::{
    Chunk, OutputStream, ProcessOptions, ProcessStatus,
    entry::{Entry, Plan},
    registry::Registry,
    supervise::Start,
};
use crate::{
    engine::{Agent, Error},
    kernel::{Refusal, Starting},
    model::{Action, Actor, Cause, Permission, ProcessExit, ProcessId, Reason},
    sandbox::{Command, ExecError, Limits, Profile, Sandbox, SandboxError},
};

/// The maximum number of bytes that one read returns.
const MOST_READ: usize = 1 << 20;

/// The time that a running process has to end before it is restarted.
const TO_END: Duration = Duration::from_secs(5);

impl Profile {
    /// Returns the action of starting `command` as a process under this profile, for a decision. It differs from the
    /// action of running the command to its end, since the input of a process can be written later.
    ///
    /// # Errors
    ///
    /// The errors of [`Profile::action`].
    pub fn process_action(&self, command: &Command) -> Result<Action, SandboxError> {
        for_ever(self.clone()).action(&command.clone().held())
    }
}

/// Returns the profile without a time limit.
fn for_ever(profile: Profile) -> Profile {
    let limits = Limits { time: Some(Limits::FOREVER), ..profile.limits().clone() };
    profile.limited(limits)
}

impl Agent {
    /// Starts `command` as a long-running process, confined by `sandbox`. The process gets this agent's working
    /// directory and the permissions in `named`, and nothing else (`process_start` of `sources/004`).
    ///
    /// The start is decided as in [`Agent::exec`]. The restrictions in force are recorded (`sandbox.applied`,
    /// `process.started`) before the process runs. Its profile is fixed at the start. So the process is ended, at once
    /// and with the reason, in these cases: a permission in `named` is revoked or expires; a new rule, policy or mode
    /// denies the process; the agent's run ends; the agent is retired; the engine ends. Only the latest output is kept,
    /// in memory.
    ///
    /// # Errors
    ///
    /// The process does not run after an error. The errors of [`Agent::exec`], and [`Refusal::TooManyProcesses`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future keeps the process from starting, or ends it.
    pub async fn process_start(
        &self,
        sandbox: &Sandbox,
        command: Command,
        named: &[Permission],
        options: ProcessOptions,
    ) -> Result<ProcessId, ExecError> {
        let (agent, named) = (self.clone(), named.to_vec());
        // This looks at every protected path, and a disk may be slow.
        let profile = tokio::task::spawn_blocking(move || agent.sandbox_profile(&named)).await;
        let profile = profile.map_err(|why| SandboxError::Io(io::Error::other(why)))?;
        self.process_start_under(sandbox, profile?, command, options).await
    }

    /// Starts a process with a changed profile of this agent, for example with other limits or hosts. The time limit of
    /// the profile is ignored.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::process_start`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future has the effect described at [`Agent::process_start`].
    pub async fn process_start_under(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
        options: ProcessOptions,
    ) -> Result<ProcessId, ExecError> {
        let plan = self.process_plan(sandbox, profile, command, options);
        self.start_as_planned(Arc::new(Entry::new(plan)), Actor::Agent(self.id().clone())).await
    }

    fn process_plan(&self, sandbox: &Sandbox, profile: Profile, command: Command, options: ProcessOptions) -> Plan {
        Plan { sandbox: sandbox.clone(), profile: for_ever(profile), command: command.held(), options }
    }

    /// Gets the decision, and starts the process, for the first time or again.
    async fn start_as_planned(&self, entry: Arc<Entry>, by: Actor) -> Result<ProcessId, ExecError> {
        let action = entry.plan.profile.action(&entry.plan.command)?;
        let generation = self.outside::<Registry>()?.generation();
        let cause = self.go_ahead(action.clone()).await?;
        self.start_decided(entry, by, action, generation, cause).await
    }

    /// Starts a process for the host program, which decided to start it and confines it. An approval that only the tier
    /// of the command would need is skipped.
    pub(super) async fn process_start_confined(
        &self,
        sandbox: &Sandbox,
        profile: Profile,
        command: Command,
        options: ProcessOptions,
    ) -> Result<ProcessId, ExecError> {
        let entry = Arc::new(Entry::new(self.process_plan(sandbox, profile, command, options)));
        let action = entry.plan.profile.action(&entry.plan.command)?;
        let generation = self.outside::<Registry>()?.generation();
        let cause = self.go_ahead_confined(action.clone()).await?;
        self.start_decided(entry, Actor::Operator, action, generation, cause).await
    }

    async fn start_decided(
        &self,
        entry: Arc<Entry>,
        by: Actor,
        action: Action,
        generation: u64,
        cause: Option<Arc<Cause>>,
    ) -> Result<ProcessId, ExecError> {
        let registry = self.outside::<Registry>()?;
        let again = entry.process();
        if let (Some(before), None) = (&again, entry.exit()) {
            self.order_stop(by.clone(), before.id, TO_END, Some(again_reason()?)).await?;
            entry.when(|entry| entry.exit().is_some()).await;
        }
        let command = crate::model::redacted(&entry.plan.command.shown());
        let (agent, permissions) = (self.id().clone(), action.needs.clone());
        let starting = Starting { agent, command, permissions, cause, again, by };
        Start { agent: self.clone(), registry, entry, starting, action, generation }.start().await
    }

    /// Returns the processes of this agent: the running ones, and the latest ones that ended.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the agent is gone.
    pub fn process_list(&self) -> Result<Vec<ProcessStatus>, Error> {
        let entries = self.outside::<Registry>()?.of(self.id());
        let status = |entry: &Arc<Entry>| Some(ProcessStatus { process: entry.process()?, exit: entry.exit() });
        Ok(entries.iter().filter_map(status).collect())
    }

    /// Returns at most `most` bytes of the output of a process of this agent, from byte `from` on, and at most 1 MiB.
    /// The result counts the bytes that are no longer kept.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has no process with that id.
    pub fn process_read(
        &self,
        process: ProcessId,
        stream: OutputStream,
        from: u64,
        most: usize,
    ) -> Result<Chunk, Error> {
        Ok(self.entry(process)?.read(stream, from, most.min(MOST_READ)))
    }

    /// Waits until there is output from byte `from` on, or the process has ended.
    ///
    /// # Errors
    ///
    /// The errors of [`Agent::process_read`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future only stops the waiting.
    pub async fn process_output(&self, process: ProcessId, stream: OutputStream, from: u64) -> Result<(), Error> {
        let entry = self.entry(process)?;
        entry.when(|entry| entry.has_output(stream, from)).await;
        Ok(())
    }

    /// Writes as many of `bytes` as there is room for to the standard input of a process of this agent. Returns their
    /// number.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has no process with that id; [`Refusal::ProcessEnded`] if it has ended
    /// or its input is closed.
    pub async fn process_write(&self, process: ProcessId, bytes: &[u8]) -> Result<usize, ExecError> {
        let written = self.entry(process)?.write(bytes).map_err(SandboxError::from)?;
        Ok(written.ok_or_else(|| Error::from(Refusal::ProcessEnded(process)))?)
    }

    /// Closes the standard input of a process of this agent.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has no process with that id.
    pub fn process_close_input(&self, process: ProcessId) -> Result<(), Error> {
        self.entry(process)?.close_input();
        Ok(())
    }

    /// Stops a process of this agent, or of an agent that it created: TERM to its process group, and KILL after
    /// `grace`. Everything that the process started ends with it. [`Agent::process_wait`] returns its exit.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if there is no running process with that id.
    pub async fn process_stop(&self, process: ProcessId, grace: Duration) -> Result<(), Error> {
        self.order_stop(Actor::Agent(self.id().clone()), process, grace, None).await
    }

    /// Waits for the end of a process of this agent.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has no process with that id.
    ///
    /// # Cancellation
    ///
    /// Dropping the future only stops the waiting.
    pub async fn process_wait(&self, process: ProcessId) -> Result<ProcessExit, Error> {
        let entry = self.entry(process)?;
        entry.when(|entry| entry.exit().is_some()).await;
        entry.exit().ok_or_else(|| Agent::no_process(process))
    }

    /// Restarts a process of this agent, under its id and with the profile of its first start. A running process is
    /// stopped first. The restart is a new action with a new decision: a permission that was lost since then is
    /// missing.
    ///
    /// # Errors
    ///
    /// A running process continues after an error. The errors of [`Agent::process_start_under`], and
    /// [`Refusal::UnknownProcess`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future keeps the process from restarting, or ends it.
    pub async fn process_restart(&self, process: ProcessId) -> Result<(), ExecError> {
        self.restart_as(process, Actor::Agent(self.id().clone())).await
    }

    /// Restarts a process by order of `by`, who acts as this agent.
    pub(crate) async fn restart_as(&self, process: ProcessId, by: Actor) -> Result<(), ExecError> {
        let entry = self.entry(process)?;
        self.start_as_planned(entry, by).await.map(drop)
    }

    /// Returns the action of restarting a process of this agent, for a decision.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownProcess`] if this agent has no process with that id.
    pub fn process_restart_action(&self, process: ProcessId) -> Result<Action, ExecError> {
        let entry = self.entry(process)?;
        Ok(entry.plan.profile.action(&entry.plan.command)?)
    }

    fn entry(&self, process: ProcessId) -> Result<Arc<Entry>, Error> {
        let registry = self.outside::<Registry>()?;
        registry.get(process, self.id()).ok_or_else(|| Agent::no_process(process))
    }
}

fn again_reason() -> Result<Reason, ExecError> {
    "it restarts".parse().map_err(|_| Error::Closed.into())
}
